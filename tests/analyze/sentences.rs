//! Every sentence of causes and warnings: its template is listed here, and each of its numbers stands in
//! `summary.json`, rounded as the sentence rounds it.

use serde_json::Value;
use stapo_analyze::analyze::RunAnalysis;

use super::apart::{is_rounded, numbers_of, taken_apart};
use super::support::sample;
use super::{analyzed, pathologies, preset};
use stapo_analyze::framework::s2t::S2tSettings;

/// What may be said, by code: `#` is a number, `…` a string of the log.
const TEMPLATES: &[(&str, &str)] = &[
    (
        "advantage_contradicts_reward",
        "in # % of the groups (# of #) the better answers have the lower advantage, as in group # of step #, group # of step # and group # of step #: the update pushes against the reward",
    ),
    (
        "advantage_contradicts_reward",
        "in # of # groups with right and wrong answers from step # on the right ones (answer) have the lower advantage: the reward pays for wrong answers",
    ),
    (
        "dead_batches",
        "# of # batches have no advantage at all, the last one too; every answer in them has the run's best reward",
    ),
    (
        "dead_batches",
        "# of # batches have no advantage at all, the last one too; every answer of a group has the same reward",
    ),
    (
        "dead_batches",
        "# of # batches have no advantage at all; every answer in them has the run's best reward",
    ),
    (
        "dead_batches",
        "# of # batches have no advantage at all; every answer in them has the run's lowest reward",
    ),
    (
        "dead_groups",
        "# % of the groups in the last third of the steps give no signal (# % over the run); most of them have the best reward throughout: solved",
    ),
    (
        "dead_groups",
        "# % of the groups in the last third of the steps give no signal (# % over the run); the answers of a group have the same reward",
    ),
    (
        "energy_spike",
        "step # has # times the usual gradient energy a token; largest: … (p #, A -#), … (p #, A -#), … (p #, A -#)",
    ),
    ("entropy_of_another_policy", "# % of the tokens have a p and an H that no distribution has"),
    (
        "entropy_of_another_policy",
        "tokens are # times as surprising as their entropy says, in states of few choices as in those of many: the entropy is in bits, not in nats (ln # = #)",
    ),
    ("infeasible", "# % of the tokens have a p and an H that cannot be of one distribution"),
    (
        "large_updates",
        "within a step the policy moves by up to # nats a token (update k3); the edge of the clip is #, exceeded in # of # logged steps",
    ),
    (
        "low_effective_share",
        "weighted by the ratio of the policies, # % of the tokens count at step # (by the updates within the step # %, by the sampler # %); below # % in # of # steps, first at step #",
    ),
    (
        "mask_too_wide",
        "the mask takes # % of the tokens, more than # %; the paper reports mostly below # %; in a vocabulary of # a token that is less likely than chance is below τ_p already",
    ),
    (
        "mask_too_wide",
        "the mask takes # % of the tokens, more than # %; the paper reports mostly below # %; the sampler differs from the trainer (k3 #) and draws tokens that the trainer finds rare",
    ),
    (
        "misaligned_log",
        "entropy fits the log-probability of the token after it better (# against #): columns are shifted by one",
    ),
    (
        "no_negative_signal",
        "in # of # groups with different rewards no response is pushed down (none has A < #)",
    ),
    (
        "no_positive_signal",
        "in # of # groups with different rewards no response is pushed up (none has A > #)",
    ),
    ("no_token_text", "token texts are not known: ids are shown"),
    (
        "observation_trained",
        "the first trained tokens of later turns surprise the policy by # nats beyond its entropy (# elsewhere): it did not write them",
    ),
    (
        "phantom_advantage",
        "# % of the groups that teach have no right answer (answer): their advantages come from the other parts of the reward alone",
    ),
    ("policy_mismatch", "trainer and inference engine disagree: KL # nats a token at step #"),
    (
        "precision_gap",
        "trainer and sampler disagree with the same weights: engine k3 #, which no temperature and no truncation explains",
    ),
    ("reward_collapse", "the reward fell: from # to #, beginning at step #"),
    ("reward_collapse", "the reward fell: from # to -#, beginning at step #"),
    ("reward_hacking", "reward/… fell # → # while the reward stood still"),
    (
        "reward_hacking",
        "the reward rose # → # while reward/… fell # → #; length alone explains # % of the advantage",
    ),
    (
        "reward_hacking",
        "where answers differ, length explains # % of the advantage and what is right (answer) # %: the update pays for something else",
    ),
    (
        "reward_parts_diverge",
        "reward/… rose from # to # while reward/… fell from # to #: a suspicion of reward hacking",
    ),
    (
        "sampler_temperature",
        "the sampler is flatter than the trainer with the same weights: a temperature of # (estimated) explains # % of the gap, engine k3 #",
    ),
    (
        "sampler_temperature",
        "the sampler is sharper than the trainer with the same weights: a temperature of # (estimated) explains # % of the gap, engine k3 #",
    ),
    (
        "sampler_truncation",
        "the sampler's log-probabilities lie above the trainer's, never below: on average by # nats, as if it kept # % of the mass (estimated)",
    ),
    ("spurious_tokens", "# % of the tokens, spurious ones, carry # % of the gradient energy"),
    (
        "stale_sampler",
        "the gap between trainer and sampler grows with the age of the sampler's weights: engine k3 # at lag #, # at lag # (# times)",
    ),
    (
        "stale_sampler",
        "the gap between trainer and sampler is larger with old weights of the sampler: engine k3 # at lag #, # at lag #, at most # at lag # (# times)",
    ),
    (
        "truncation",
        "# % of the responses are cut from the start; cut responses carry # % of the gradient energy",
    ),
    (
        "unbounded_ratio",
        "# token with A < # and a ratio above # (up to #), which the clip leaves open, carries # % of the gradient energy; the run's energy is that of # tokens; a dual clip of # would keep # %",
    ),
    (
        "unbounded_ratio",
        "# tokens with A < # and a ratio above # (up to #), which the clip leaves open, carry # % of the gradient energy; the run's energy is that of # tokens; a dual clip of # would keep # %",
    ),
    (
        "uninformative_reward",
        "parts, length and entropy of a response explain at most # % of how its reward differs from its siblings': the reward looks like chance",
    ),
    (
        "uninformative_reward",
        "the reward is reward/… alone; the other parts, length and entropy of a response explain at most # % of how its reward differs from its siblings': the reward looks like chance",
    ),
];

/// Numbers that belong to a sentence and not to the run: bounds that it names.
const FIXED: &[(&str, &[f64])] = &[
    ("unbounded_ratio", &[0.0, 3.0, 10.0]),
    ("no_negative_signal", &[0.0]),
    ("no_positive_signal", &[0.0]),
    ("advantage_contradicts_reward", &[0.0]),
    ("entropy_of_another_policy", &[2.0, 0.69]),
    ("dead_groups", &[0.0]),
    ("dead_batches", &[0.0]),
    ("mask_too_wide", &[0.1, 0.01]),
    ("low_effective_share", &[50.0]),
];

/// What a finding tells beside its evidence: parts of the summary, by code.
const BESIDE: &[(&str, &[&str])] = &[
    ("estimated_gradients", &["/totals"]),
    ("mask_too_wide", &["/s2t/fraction", "/provenance/vocab_size", "/offpolicy/run/engine/k3"]),
    ("missing_values", &["/quality"]),
    ("reward_hacking", &["/diagnosis/damage"]),
    ("spurious_tokens", &["/s2t/fraction"]),
    ("vocabulary_guessed", &["/provenance/vocab_size"]),
];

/// Findings that tell how many times one thing is another.
const TIMES: [&str; 1] = ["stale_sampler"];

fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() <= 1e-6 * number.abs().max(1.0)
}

/// The numbers that a finding may name: its own evidence, counts that a share and a count of it give (so many of
/// so many), where it begins, how many steps there are, and what is beside it in the summary.
fn known(summary: &Value, finding: &Value) -> Vec<f64> {
    let code = finding["code"].as_str().unwrap();
    let mut own = Vec::new();
    for evidence in finding["evidence"].as_array().unwrap() {
        numbers_of(evidence, &mut own);
        // Evidence is named after its lag, its rank or its bound.
        own.extend(
            taken_apart(evidence["what"].as_str().unwrap()).1.iter().filter_map(|n| n.parse::<f64>().ok()),
        );
    }
    let (whole, parts): (Vec<f64>, Vec<f64>) = own.iter().partition(|number| is_whole(**number));
    let counts =
        parts.iter().flat_map(|part| whole.iter().flat_map(move |count| [part * count, count / part]));
    let mut all: Vec<f64> = own.iter().copied().chain(counts.filter(|count| is_whole(*count))).collect();
    if TIMES.contains(&code) {
        all.extend(parts.iter().flat_map(|a| parts.iter().map(move |b| a / b)).filter(|times| *times > 1.0));
    }
    match code {
        // The largest of all steps; only the first few are evidence.
        "large_updates" => {
            summary["steps"]
                .as_array()
                .unwrap()
                .iter()
                .for_each(|row| numbers_of(&row["update_k3"], &mut all));
        }
        // A nucleus of this mass raises what it keeps by that.
        "sampler_truncation" => all.extend(own.iter().map(|mean| (-mean).exp())),
        _ => {}
    }
    let beside = BESIDE.iter().find(|(of, _)| *of == code).map_or(&[][..], |(_, beside)| beside);
    for part in beside {
        numbers_of(summary.pointer(part).unwrap_or(&Value::Null), &mut all);
    }
    let shares: Vec<f64> = all.iter().filter(|n| n.abs() <= 1.0).map(|n| 100.0 * n).collect();
    numbers_of(&finding["from_step"], &mut all);
    all.push(summary["steps"].as_array().unwrap().len() as f64);
    [all, shares].concat().into_iter().filter(|n| n.is_finite()).collect()
}

/// A number as it would be written were it half as large again.
fn wrong_number(written: &str) -> String {
    let plain = written.replace(',', "");
    let (mantissa, exponent) = plain.split_once('e').map_or((&plain[..], ""), |(m, e)| (m, e));
    let digits = mantissa.split_once('.').map_or(0, |(_, d)| d.len());
    let wrong = format!("{:.digits$}", 1.5 * mantissa.parse::<f64>().unwrap());
    if exponent.is_empty() { wrong } else { format!("{wrong}e{exponent}") }
}

/// What was looked at.
#[derive(Default)]
struct Seen {
    /// Codes and templates.
    said: Vec<(String, String)>,
    /// Numbers that are made up, and those of them that are found out.
    made_up: usize,
    found_out: usize,
}

/// What is wrong with the sentences of a run.
fn faults(name: &str, analysis: &RunAnalysis, seen: &mut Seen) -> Vec<String> {
    let summary: Value = serde_json::from_str(&analysis.to_json().unwrap()).unwrap();
    let causes = summary.pointer("/diagnosis/causes").and_then(Value::as_array).unwrap();
    let warnings = summary["warnings"].as_array().unwrap();
    let mut wrong = Vec::new();
    for finding in causes.iter().chain(warnings) {
        let (code, message) = (finding["code"].as_str().unwrap(), finding["message"].as_str().unwrap());
        let (template, numbers) = taken_apart(message);
        if !TEMPLATES.contains(&(code, template.as_str())) {
            wrong.push(format!("NEW (\"{code}\", {template:?}),"));
        }
        seen.said.push((code.to_owned(), template));
        let known = known(&summary, finding);
        let fixed = FIXED.iter().find(|(of, _)| *of == code).map_or(&[][..], |(_, fixed)| fixed);
        let is_known = |number: &str| known.iter().chain(fixed).any(|value| is_rounded(number, *value));
        for number in &numbers {
            // 0 and 1 become no other number, and what is always the same is not made up.
            let is_fixed = fixed.iter().any(|value| is_rounded(number, *value));
            if !is_fixed && number.parse::<f64>().is_ok_and(|value| value > 1.0 || value.fract() > 0.0) {
                seen.made_up += 1;
                seen.found_out += usize::from(!is_known(&wrong_number(number)));
            }
            if !is_known(number) {
                wrong.push(format!("{name}: {code}: {number} is not in the summary: {message}"));
            }
        }
    }
    wrong
}

#[test]
fn numbers_in_sentences_are_those_of_the_summary() {
    let (mut wrong, mut seen) = (Vec::new(), Seen::default());
    for name in ["grpo", "stapo", "async"] {
        wrong.extend(faults(
            name,
            &analyzed(&[sample(&format!("{name}.parquet"))], &preset(S2tSettings::v5())),
            &mut seen,
        ));
    }
    for name in ["healthy", "easy", "hot", "flipped", "hacked", "noise", "positive_only", "temperature"] {
        let run = analyzed(&[sample(&format!("ward/{name}.parquet"))], &preset(S2tSettings::v5()));
        wrong.extend(faults(name, &run, &mut seen));
    }
    for (name, analysis) in pathologies::one_of_each() {
        wrong.extend(faults(&name, &analysis, &mut seen));
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unseen =
        TEMPLATES.iter().filter(|(code, text)| !seen.said.iter().any(|(c, t)| c == code && t == text));
    let unseen: Vec<_> = unseen.collect();
    assert!(unseen.is_empty(), "no run here says {unseen:?}");
    // A check that cannot fail is none.
    let Seen { made_up, found_out, .. } = seen;
    assert!(20 * found_out >= 17 * made_up, "{found_out} of {made_up} made-up numbers are found out");
}
