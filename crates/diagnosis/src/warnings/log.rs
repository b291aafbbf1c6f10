//! What the log leaves open.

use crate::numbers::evidence;
use stapo_base::format::{counted, grouped, words};
use stapo_batch::columns::Column;
use stapo_batch::limits::WARN_SHARE;
use stapo_ingest::Run;
use stapo_result::offpolicy::NothingInCommon;
use stapo_result::{Cause, RunCore, VocabularySource, Warning, WarningCode};

/// A share above this is worth a warning.
const INFEASIBLE_SHARE: f64 = 0.01;

/// Characters of a name in the log's metadata that are repeated.
const NAME: usize = 80;

/// Warnings about the log.
pub fn warnings(run: &Run, analysis: &RunCore) -> Vec<Warning> {
    let mut warnings = missing_values(analysis);
    warnings.extend(repeated_ids(analysis));
    warnings.extend(left_out(analysis));
    warnings.extend(nothing_in_common(analysis));
    warnings.extend(run.notes.iter().map(|note| Warning {
        code: WarningCode::IngestNote,
        message: note.clone(),
        hint: match run.settings.steps {
            Some(steps) if *note == steps.note() => "leave --steps out to have the whole run".into(),
            _ => "if that is wrong, name the column with --map, or the convention with --align".into(),
        },
        evidence: Vec::new(),
    }));
    warnings
}

/// Warnings about p and H together, and about what is computed from both.
pub fn of_entropy(run: &Run, analysis: &RunCore) -> Vec<Warning> {
    let found = [
        infeasible(analysis),
        estimated(analysis),
        vocabulary(analysis),
        ids_beyond_vocabulary(analysis),
        texts(analysis),
    ];
    found.into_iter().flatten().chain(sampling(run)).collect()
}

/// Columns without which a token is left out of everything.
const NEEDED: [Column; 3] = [Column::Logprob, Column::Entropy, Column::Advantage];

fn missing_values(analysis: &RunCore) -> Vec<Warning> {
    let is_needed = |name: &str| NEEDED.iter().any(|column| column.name() == name);
    let missing = analysis.quality.iter().filter(|column| column.missing_share > WARN_SHARE);
    missing
        .map(|column| Warning {
            code: WarningCode::MissingValues,
            message: format!(
                "column `{}`: {:.1} % of {} values are missing or bad; {}",
                column.column,
                100.0 * column.missing_share,
                grouped(column.values),
                match is_needed(&column.column) {
                    true => "such tokens are left out",
                    false => "what needs them is of the others alone",
                }
            ),
            hint: "see `stapo-analyze check` for where they are".into(),
            evidence: vec![evidence(None, &column.column, column.missing_share)],
        })
        .collect()
}

fn repeated_ids(analysis: &RunCore) -> Option<Warning> {
    let responses = analysis.provenance.repeated_ids?;
    Some(Warning {
        code: WarningCode::RepeatedIds,
        message: format!(
            "{} responses have the step, group and sample of another one and other tokens: their groups hold both",
            grouped(responses)
        ),
        hint: "a restart that logged steps again? Keep the later responses of these steps; turns in rows of their own? Log `turn` by token; ids that are not of responses can be dropped (--map sample_id=)".into(),
        evidence: vec![evidence(None, "responses", responses as f64)],
    })
}

fn left_out(analysis: &RunCore) -> Option<Warning> {
    let responses = analysis.provenance.evaluation_responses?;
    Some(Warning {
        code: WarningCode::IngestNote,
        message: format!(
            "left out: {} of evaluation (`split`), from which nothing is learned",
            counted(responses, "response", "responses")
        ),
        hint: "if that is wrong, drop the column: --map split=".into(),
        evidence: vec![evidence(None, "responses of evaluation", responses as f64)],
    })
}

/// Policies with ratios beyond e^20: a mean of such ratios is no measurement, so that no divergence is told.
fn nothing_in_common(analysis: &RunCore) -> Vec<Warning> {
    let Some(ledger) = &analysis.answers.offpolicy else { return Vec::new() };
    let engine = ledger.nothing_in_common(|differences| differences.engine.as_ref());
    let update = ledger.nothing_in_common(|differences| differences.update.as_ref());
    let warning = |(which, apart): (&str, NothingInCommon)| Warning {
        code: WarningCode::NothingInCommon,
        message: format!("{which}: {apart}"),
        hint: "divergences from there on (k3, χ², KL) measure nothing: look at what happened before".into(),
        evidence: vec![evidence(Some(apart.from_step), "share of tokens beyond e^20", apart.share)],
    };
    let found = [("trainer and sampler", engine), ("the policy before and within a step", update)];
    found.into_iter().filter_map(|(which, apart)| Some((which, apart?))).map(warning).collect()
}

fn infeasible(analysis: &RunCore) -> Option<Warning> {
    let totals = &analysis.totals;
    let share = totals.infeasible as f64 / totals.tokens.max(1) as f64;
    (share > INFEASIBLE_SHARE).then(|| Warning {
        code: WarningCode::Infeasible,
        message: format!(
            "{:.1} % of the tokens have a p and an H that cannot be of one distribution",
            100.0 * share
        ),
        hint: "log both from the same policy, temperature and precision; if entropies are in bits, say so"
            .into(),
        evidence: vec![evidence(None, "infeasible share", share)],
    })
}

/// Causes that explain a gap between trainer and sampler.
const OF_THE_GAP: [&str; 12] = [
    "trainer_disagrees_with_itself",
    "misaligned_log",
    "other_context",
    "retokenised",
    "sampler_frozen",
    "stale_sampler",
    "sync_corrupts_weights",
    "position_shifted",
    "sampler_truncation",
    "sampler_temperature",
    "precision_gap",
    "observation_trained",
];

/// What to do where a cause says why trainer and sampler disagree.
pub fn gap_explained(causes: &[Cause]) -> Option<String> {
    let cause = causes.iter().find(|cause| cause.is_root() && OF_THE_GAP.contains(&cause.code.name()))?;
    Some(format!("the diagnosis names its cause, {}: {}", words(cause.code.name()), cause.hint))
}

fn estimated(analysis: &RunCore) -> Option<Warning> {
    let totals = &analysis.totals;
    let width = (totals.gradient_energy_high - totals.gradient_energy_low) / totals.gradient_energy;
    (totals.estimated_norms > 0 && totals.gradient_energy > 0.0).then(|| Warning {
        code: WarningCode::EstimatedGradients,
        message: format!(
            "gradient norms are estimated for {} tokens; the energy is known to {:.0} %",
            grouped(totals.estimated_norms),
            100.0 * width
        ),
        hint: "log sum_pi_sq (the sum of squared probabilities) or grad_norm to have them exact".into(),
        evidence: vec![
            evidence(None, "gradient_energy_low", totals.gradient_energy_low),
            evidence(None, "gradient_energy_high", totals.gradient_energy_high),
        ],
    })
}

fn vocabulary(analysis: &RunCore) -> Option<Warning> {
    let provenance = &analysis.provenance;
    (provenance.vocab_source == VocabularySource::Guessed).then(|| Warning {
        code: WarningCode::VocabularyGuessed,
        message: format!("the vocabulary size is a guess: {}", provenance.vocab_size),
        hint: "give it with --vocab-size; only the upper end of estimated norms depends on it, and hardly"
            .into(),
        evidence: vec![evidence(None, "vocab_size", f64::from(provenance.vocab_size))],
    })
}

fn ids_beyond_vocabulary(analysis: &RunCore) -> Option<Warning> {
    let size = i64::from(analysis.provenance.vocab_size);
    let largest = analysis.vocabulary.rows.last()?.token_id;
    (largest >= size).then(|| Warning {
        code: WarningCode::VocabularyTooSmall,
        message: format!(
            "token id {largest} occurs, but the vocabulary is said to have {size} tokens: \
             estimated norms and entropy changes are not bounded rightly"
        ),
        hint: format!("give the model's vocabulary size with --vocab-size (above {largest})"),
        evidence: vec![evidence(None, "largest token id", largest as f64)],
    })
}

fn texts(analysis: &RunCore) -> Option<Warning> {
    let flagged = analysis.s2t.candidates > 0;
    (flagged && analysis.provenance.token_text.is_none()).then(|| Warning {
        code: WarningCode::NoTokenText,
        message: "token texts are not known: ids are shown".into(),
        hint: match analysis.provenance.metadata.get("tokenizer") {
            Some(named) => format!(
                "the log names {}, which is not beside it: give the file with --tokenizer",
                named.chars().take(NAME).collect::<String>()
            ),
            None => "give the model's tokenizer.json with --tokenizer".into(),
        },
        evidence: Vec::new(),
    })
}

fn sampling(run: &Run) -> Vec<Warning> {
    let logged = |key: &str| run.metadata.get(key)?.trim().parse::<f64>().ok().map(|v| (key.to_owned(), v));
    let changed = [logged("temperature"), logged("top_p")].into_iter().flatten().filter(|(_, v)| *v != 1.0);
    changed
        .map(|(key, value)| Warning {
            code: WarningCode::SamplingChanged,
            message: format!("the log states {key} {value}: p may be that of another distribution than H"),
            hint: "log p and H of the same distribution that is trained".into(),
            evidence: vec![evidence(None, &key, value)],
        })
        .collect()
}
