//! Objectives against each other: on the same held-out prompts, after the same shuffles.
//!
//! An interval comes from prompts and shuffles ([`crossed`]): another draw of either would have given other numbers. One
//! metric decides ([`Metric::PRIMARY`]); its intervals hold for all its differences together (Bonferroni), so that a
//! finding is nothing but where its interval lies.

use std::collections::BTreeMap;

use super::crossed::crossed;
use stapo_framework::rules::Rule;
use stapo_result::replay::{ArmResult, Difference, FEWEST_PROMPTS, FEWEST_SEEDS, Metric, PromptScores};

/// What may be wrong by chance.
const ALPHA: f64 = 0.05;

/// Each objective minus the random mask, then minus the first objective (the baseline): the objective that S2T is about
/// before others. Without any other objective, the random mask minus the baseline.
pub fn differences(arms: &[ArmResult], prompts: &[PromptScores], objectives: &[Rule]) -> Vec<Difference> {
    let pairs = pairs(objectives);
    let scores = Scores::new(arms, prompts);
    let deciding =
        pairs.iter().filter(|pair| !scores.rows(**pair, Metric::PRIMARY).is_empty()).count().max(1) as f64;
    let of = |metric: Metric| {
        let confidence = 1.0 - if metric == Metric::PRIMARY { ALPHA / deciding } else { ALPHA };
        let scores = &scores;
        pairs.iter().filter_map(move |pair| scores.difference(*pair, metric, confidence))
    };
    Metric::ALL.into_iter().flat_map(of).collect()
}

/// Who is held against whom.
fn pairs(objectives: &[Rule]) -> Vec<(Rule, Rule)> {
    let Some((baseline, others)) = objectives.split_first() else { return Vec::new() };
    let control = others.contains(&Rule::Random).then_some(Rule::Random);
    let mut tried: Vec<Rule> = others.iter().copied().filter(|rule| Some(*rule) != control).collect();
    tried.sort_by_key(|rule| *rule != Rule::Stapo);
    if tried.is_empty() {
        return control.map(|control| (control, *baseline)).into_iter().collect();
    }
    let one = |rule: Rule| control.into_iter().chain([*baseline]).map(move |other| (rule, other));
    tried.into_iter().flat_map(one).collect()
}

/// What each arm that came to its end says of each prompt.
struct Scores<'a>(BTreeMap<(Rule, u64), BTreeMap<u64, &'a PromptScores>>);

impl<'a> Scores<'a> {
    fn new(arms: &[ArmResult], prompts: &'a [PromptScores]) -> Self {
        let mut found: BTreeMap<_, BTreeMap<u64, &PromptScores>> = BTreeMap::new();
        for arm in arms.iter().filter(|arm| arm.stopped.is_none()) {
            found.insert((arm.objective, arm.seed), BTreeMap::new());
        }
        for score in prompts {
            if let Some(arm) = found.get_mut(&(score.objective, score.seed)) {
                arm.insert(score.prompt, score);
            }
        }
        Self(found)
    }

    /// A row a prompt, a column a shuffle: what both arms have of the metric, the one minus the other.
    fn rows(&self, (objective, baseline): (Rule, Rule), metric: Metric) -> Vec<Vec<f64>> {
        let of = |rule: Rule| self.0.range((rule, 0)..=(rule, u64::MAX));
        let both: Vec<_> = of(objective)
            .filter_map(|((_, seed), scores)| Some((scores, self.0.get(&(baseline, *seed))?)))
            .collect();
        let Some((first, _)) = both.first() else { return Vec::new() };
        let value = |arm: &BTreeMap<u64, &PromptScores>, prompt: &u64| {
            metric.of_holdout(&arm.get(prompt)?.metrics).filter(|value| value.is_finite())
        };
        let row = |prompt: &u64| {
            both.iter().map(|(one, other)| Some(value(one, prompt)? - value(other, prompt)?)).collect()
        };
        first.keys().filter_map(row).collect()
    }

    fn difference(&self, pair: (Rule, Rule), metric: Metric, confidence: f64) -> Option<Difference> {
        let rows = self.rows(pair, metric);
        let found = crossed(&rows, confidence)?;
        let (prompts, shuffles) = (rows.len() as u64, rows.first().map_or(0, Vec::len) as u64);
        let is_enough = prompts >= FEWEST_PROMPTS && shuffles >= FEWEST_SEEDS;
        let interval = found.half.filter(|_| is_enough).map(|half| (found.mean - half, found.mean + half));
        Some(Difference {
            objective: pair.0,
            baseline: pair.1,
            metric,
            prompts,
            shuffles,
            mean: found.mean,
            interval,
            decides: metric == Metric::PRIMARY,
            finding: Difference::finding(interval),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stapo_base::stats::random::Random;
    use stapo_result::replay::{Finding, HoldoutMetrics};

    fn arm(objective: Rule, seed: u64) -> ArmResult {
        ArmResult {
            objective,
            rule: String::new(),
            seed,
            token_log: String::new(),
            stopped: None,
            updates: Vec::new(),
            steps: Vec::new(),
            holdout: Vec::new(),
        }
    }

    fn metrics(margin: Option<f64>, entropy: f64) -> HoldoutMetrics {
        HoldoutMetrics {
            updates: 1,
            step: None,
            margin,
            correct_logprob: None,
            wrong_logprob: None,
            auc: None,
            entropy,
            kl_to_start: 0.0,
        }
    }

    /// Arms whose objective adds so much to the margin; every second prompt has one.
    fn made(objectives: &[(Rule, f64)], prompts: u64, seeds: u64) -> (Vec<ArmResult>, Vec<PromptScores>) {
        let (mut arms, mut scores) = (Vec::new(), Vec::new());
        for (objective, gain) in objectives {
            for seed in 1..=seeds {
                arms.push(arm(*objective, seed));
                for prompt in 0..prompts {
                    // The same for all arms of a seed and prompt, and a little of an arm's own.
                    let common = Random::new(seed, prompt).normal();
                    let own = 0.01 * Random::new(100 + seed, prompt ^ ((*objective as u64) << 32)).normal();
                    let margin = prompt.is_multiple_of(2).then_some(common + own + gain);
                    let metrics = metrics(margin, common + own);
                    scores.push(PromptScores { objective: *objective, seed, prompt, responses: 8, metrics });
                }
            }
        }
        (arms, scores)
    }

    #[test]
    fn the_mask_comes_first_and_only_one_metric_decides() {
        let objectives = [Rule::Dapo, Rule::Random, Rule::Lopti, Rule::Stapo];
        let (arms, scores) = made(&objectives.map(|rule| (rule, 0.0)), 80, 3);
        let found = differences(&arms, &scores, &objectives);
        let deciding: Vec<_> =
            found.iter().filter(|d| d.decides).map(|d| (d.objective, d.baseline)).collect();
        let expected = [
            (Rule::Stapo, Rule::Random),
            (Rule::Stapo, Rule::Dapo),
            (Rule::Lopti, Rule::Random),
            (Rule::Lopti, Rule::Dapo),
        ];
        assert_eq!(deciding, expected);
        assert!(found.iter().take(4).all(|d| d.decides && d.metric == Metric::Margin && d.prompts == 40));
        assert!(found.iter().skip(4).all(|d| !d.decides && d.metric != Metric::GradNorm));
        assert_eq!(pairs(&[Rule::Dapo, Rule::Random]), [(Rule::Random, Rule::Dapo)]);
        assert_eq!(pairs(&[Rule::Random, Rule::Stapo]), [(Rule::Stapo, Rule::Random)]);
        assert!(pairs(&[Rule::Dapo]).is_empty() && pairs(&[]).is_empty());
    }

    #[test]
    fn what_is_there_is_seen_and_what_is_not_is_not() {
        let objectives = [Rule::Dapo, Rule::Stapo, Rule::Random];
        let of = |gain: f64, prompts: u64, seeds: u64| {
            let gains = [(Rule::Dapo, 0.0), (Rule::Stapo, gain), (Rule::Random, 0.0)];
            let (arms, scores) = made(&gains, prompts, seeds);
            let found = differences(&arms, &scores, &objectives);
            (found[0].finding, found[0].interval, found[0].prompts, found[0].shuffles)
        };
        assert_eq!(of(0.05, 80, 3).0, Finding::Differs);
        assert_eq!(of(0.0, 80, 3).0, Finding::Undecided);
        // However large: 29 prompts, or two shuffles.
        assert_eq!(of(5.0, 58, 3), (Finding::TooLittle, None, 29, 3));
        assert_eq!(of(5.0, 80, 2), (Finding::TooLittle, None, 40, 2));
        assert_eq!(of(5.0, 60, 3).0, Finding::Differs);
    }

    #[test]
    fn shuffles_and_prompts_that_only_one_arm_has_are_left_out() {
        let objectives = [Rule::Dapo, Rule::Stapo];
        let (mut arms, mut scores) = made(&[(Rule::Dapo, 0.0), (Rule::Stapo, 0.0)], 80, 4);
        let stop = stapo_result::replay::Stop {
            reason: String::new(),
            update: 0,
            step: 0,
            minibatch: 0,
            tokens: Vec::new(),
        };
        arms[1].stopped = Some(stop);
        scores.retain(|s| !(s.objective == Rule::Stapo && s.seed == 4 && s.prompt == 10));
        for score in scores.iter_mut().filter(|s| s.objective == Rule::Dapo && s.seed == 3 && s.prompt == 12)
        {
            score.metrics.margin = Some(f64::NAN);
        }
        let found = differences(&arms, &scores, &objectives);
        assert_eq!((found[0].shuffles, found[0].prompts), (3, 38));
    }

    /// Where nothing differs, at most one in twenty says so: of both differences together. The seeds are fixed.
    #[test]
    fn few_false_alarms() {
        let objectives = [Rule::Dapo, Rule::Stapo, Rule::Random];
        let mut wrong = 0;
        for draw in 0..400_u64 {
            let (mut arms, mut scores) = (Vec::new(), Vec::new());
            for objective in objectives {
                for seed in 1..=3 {
                    arms.push(arm(objective, seed));
                    let stream = (draw << 16) | ((objective as u64) << 8) | seed;
                    let shuffle = 0.3 * Random::new(1, stream).normal();
                    let mut own = Random::new(2, stream);
                    for prompt in 0..40 {
                        let margin = Some(shuffle + own.normal());
                        let metrics = metrics(margin, 0.0);
                        scores.push(PromptScores { objective, seed, prompt, responses: 8, metrics });
                    }
                }
            }
            let found = differences(&arms, &scores, &objectives);
            wrong += usize::from(found.iter().any(|d| d.decides && d.finding == Finding::Differs));
        }
        assert!(wrong <= 20, "{wrong} of 400");
    }
}
