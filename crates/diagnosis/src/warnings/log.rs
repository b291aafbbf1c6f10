//! What the log leaves open.

use crate::evidence::evidence;
use crate::responses::drawn_gap::DrawnGap;
use crate::words::measured;
use stapo_base::format::{counted, grouped, words};
use stapo_batch::columns::Column;
use stapo_batch::limits::WARN_SHARE;
use stapo_collect::collect::questions::difference::far_k3;
use stapo_ingest::Run;
use stapo_result::offpolicy::Difference;
use stapo_result::{Cause, CauseCode, Confidence, RunCore, VocabularySource, Warning, WarningCode};

/// Shares and differences above these are worth a warning.
const INFEASIBLE_SHARE: f64 = 0.01;
const MISMATCH_KL: f64 = 0.01;

/// Characters of a name in the log's metadata that are repeated.
const NAME: usize = 80;

/// Warnings about the log.
pub fn warnings(run: &Run, analysis: &RunCore, drawn: &DrawnGap, causes: &[Cause]) -> Vec<Warning> {
    let mut warnings = missing_values(analysis);
    warnings.extend(repeated_ids(analysis));
    warnings.extend(left_out(analysis));
    warnings.extend(mismatch(analysis, drawn, causes));
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

/// k3 of a step's differences with ratios cut at 10, without what the farthest token can have of it.
fn of_many(engine: &Difference) -> f64 {
    engine.k3_bounded - far_k3(engine.max_abs) / engine.tokens.max(1) as f64
}

fn mismatch(analysis: &RunCore, drawn: &DrawnGap, causes: &[Cause]) -> Option<Warning> {
    let ledger = analysis.answers.offpolicy.as_ref()?;
    // A few tokens that are far out make a mean of any size: they are no disagreement of two engines.
    let is_of_many = |step: i64| {
        let at = ledger.steps.binary_search_by_key(&step, |row| row.step).ok();
        let engine = at.and_then(|at| ledger.steps[at].differences.engine.as_ref());
        engine.is_some_and(|engine| of_many(engine) > MISMATCH_KL)
    };
    let worst = analysis
        .steps
        .iter()
        .filter_map(|row| Some((row.step, row.mismatch.as_ref()?.kl)))
        .filter(|(step, _)| is_of_many(*step) && !drawn.is_within(*step, MISMATCH_KL))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    Some(Warning {
        code: WarningCode::PolicyMismatch,
        message: format!(
            "trainer and sampler disagree: KL {} nats a token at step {}",
            measured(worst.1, 4),
            worst.0
        ),
        hint: gap_explained(causes).unwrap_or_else(|| {
            "correct with importance weights, or bring precision and kernels of both together".into()
        }),
        evidence: vec![evidence(Some(worst.0), "kl", worst.1)],
    })
}

/// What to do where a cause says why trainer and sampler disagree.
pub fn gap_explained(causes: &[Cause]) -> Option<String> {
    let gap = [
        CauseCode::MisalignedLog,
        CauseCode::SamplerTemperature,
        CauseCode::SamplerTruncation,
        CauseCode::StaleSampler,
        CauseCode::ObservationTrained,
    ];
    let explains = |cause: &&Cause| cause.confidence == Confidence::Likely && gap.contains(&cause.code);
    let cause = causes.iter().find(explains)?;
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
