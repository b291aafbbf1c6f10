//! Every objective's loss and gradient: equal to PyTorch's autograd at points where ρ ≠ 1, and to
//! finite differences at random ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use serde_json::Value;
use stapo_analyze::framework::rules::Rule;
use stapo_analyze::framework::s2t::{EntropyCut, S2tSettings};
use stapo_analyze::replay::objective::{MiniBatch, ObjectiveSettings, RandomFrom, build, judge};

/// Computed by `benches/objectives_reference.py`.
const REFERENCE: &str = include_str!("../data/objectives.json");

#[derive(Debug)]
struct Stored {
    bounds: Vec<usize>,
    trained: Vec<bool>,
    logprob: Vec<f32>,
    old: Vec<f32>,
    entropy: Vec<f32>,
    advantage: Vec<f32>,
    rollout: Vec<f32>,
    teacher: Vec<f32>,
    start: Vec<f32>,
    centred_reward: Vec<f32>,
    seed: u64,
}

impl Stored {
    fn read(value: &Value) -> Self {
        let floats = |name: &str| -> Vec<f32> {
            value[name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect()
        };
        Self {
            bounds: value["bounds"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_u64().unwrap() as usize)
                .collect(),
            trained: value["trained"].as_array().unwrap().iter().map(|v| v.as_bool().unwrap()).collect(),
            logprob: floats("logprob"),
            old: floats("old"),
            entropy: floats("entropy"),
            advantage: floats("advantage"),
            rollout: floats("rollout"),
            teacher: floats("teacher"),
            start: floats("start"),
            centred_reward: floats("centred_reward"),
            seed: value["seed"].as_u64().unwrap(),
        }
    }

    fn batch(&self, pass: usize) -> MiniBatch<'_> {
        MiniBatch {
            bounds: &self.bounds,
            trained: &self.trained,
            logprob: &self.logprob,
            old: &self.old,
            entropy: &self.entropy,
            advantage: &self.advantage,
            rollout: Some(&self.rollout),
            teacher: Some(&self.teacher),
            start: Some(&self.start),
            centred_reward: Some(&self.centred_reward),
            pass,
            seed: self.seed,
        }
    }
}

fn settings(tau_p: f64) -> ObjectiveSettings {
    ObjectiveSettings {
        s2t: S2tSettings { tau_p, entropy: EntropyCut::Quantile(0.75), ..S2tSettings::v5() },
        dual_clip: 1.02,
        ratio_cap: 1.1,
        tis_cap: 1.5,
        icepop_bounds: (0.7, 1.6),
        mis_bounds: (0.7, 1.5),
        geometric_bounds: (0.93, 1.08),
        stare_target: 2.0,
        constant_length: 17,
        ..ObjectiveSettings::default()
    }
}

#[test]
fn equal_to_autograd() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    let batches: Vec<Stored> = reference["batches"].as_array().unwrap().iter().map(Stored::read).collect();
    let mut seen = std::collections::BTreeSet::new();
    for case in reference["cases"].as_array().unwrap() {
        let name = case["objective"].as_str().unwrap();
        let rule = Rule::objective(name).unwrap();
        seen.insert(name);
        let mut settings = settings(reference["settings"]["tau_p"].as_f64().unwrap());
        settings.random_from = match case["random_from"].as_str().unwrap() {
            "positive" => RandomFrom::Positive,
            "candidates" => RandomFrom::Candidates,
            _ => RandomFrom::All,
        };
        settings.base = Rule::objective(case["base"].as_str().unwrap()).unwrap();
        let stored = &batches[case["batch"].as_u64().unwrap() as usize];
        let batch = stored.batch(case["pass"].as_u64().unwrap() as usize);
        let judged = judge(&*build(rule, &settings).unwrap(), &batch, case["kl_beta"].as_f64().unwrap());
        let loss = case["loss"].as_f64().unwrap();
        assert!((judged.loss - loss).abs() < 1e-11, "{name}: loss {} instead of {loss}", judged.loss);
        let expected = case["coefficients"].as_array().unwrap();
        assert_eq!(judged.coefficients.len(), expected.len());
        for (t, (found, expected)) in judged.coefficients.iter().zip(expected).enumerate() {
            let expected = expected.as_f64().unwrap();
            assert!((found - expected).abs() < 1e-11, "{name}: token {t}: {found} instead of {expected}");
        }
        let counts = serde_json::to_value(judged.counts).unwrap();
        for (key, expected) in case["counts"].as_object().unwrap() {
            let (found, expected) = (counts[key].as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((found - expected).abs() < 1e-12, "{name}: {key} {found} instead of {expected}");
        }
    }
    assert_eq!(seen.len(), Rule::OBJECTIVES.len(), "every objective has a reference");
}

/// Tokens of two groups of two responses, far from every threshold that a small step could cross.
fn batches() -> impl Strategy<Value = Stored> {
    let token = (0.02..6.0_f32, -0.6..0.6_f32, 0.0..3.0_f32, any::<u8>(), -0.8..0.8_f32);
    (prop::collection::vec(token, 8..60), prop::collection::vec(-2.0..2.0_f32, 4), any::<u64>()).prop_map(
        |(tokens, advantages, seed)| {
            let n = tokens.len();
            let bounds = vec![0, n / 4, n / 2, n / 2, n];
            let owner = |t: usize| bounds.windows(2).position(|w| (w[0]..w[1]).contains(&t)).unwrap();
            Stored {
                trained: tokens.iter().map(|t| t.3 % 8 != 0).collect(),
                logprob: tokens.iter().map(|t| -t.0).collect(),
                old: tokens.iter().map(|t| (-t.0 + t.1).min(-1e-3)).collect(),
                entropy: tokens.iter().map(|t| t.2).collect(),
                advantage: (0..n).map(|t| advantages[owner(t)]).collect(),
                rollout: tokens.iter().map(|t| (-t.0 + t.1 - t.4 / 3.0).min(-1e-3)).collect(),
                teacher: tokens.iter().map(|t| -t.0 + t.4).collect(),
                start: tokens.iter().map(|t| -t.0 - t.4).collect(),
                centred_reward: advantages.iter().map(|a| a / 2.0).collect(),
                bounds,
                seed,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]

    /// Moves one ln π; selections and weights are held as the gradient holds them, where the step
    /// does not cross a border of theirs.
    #[test]
    fn coefficients_are_derivatives(stored in batches(), which in 0..Rule::OBJECTIVES.len(), at in 0.0..1.0_f64) {
        let rule = Rule::OBJECTIVES[which];
        let objective = build(rule, &settings(0.05)).unwrap();
        let t = ((stored.logprob.len() as f64) * at) as usize;
        let centre = judge(&*objective, &stored.batch(0), 0.05);
        // f32 inputs: a step of 2^-9 is exact enough to see a slope to three digits.
        let step = 1.0 / 512.0;
        let moved = |sign: f32| {
            let mut moved = stored.logprob.clone();
            moved[t] += sign * step;
            judge(&*objective, &MiniBatch { logprob: &moved, ..stored.batch(0) }, 0.05)
        };
        let (up, down) = (moved(1.0), moved(-1.0));
        let same = |a: &stapo_analyze::replay::objective::Judged| {
            a.kept == centre.kept && a.clipped == centre.clipped && a.counts == centre.counts
        };
        // These weigh with values of the current policy that have no gradient.
        let detached = matches!(
            rule,
            Rule::Gspo
                | Rule::Cispo
                | Rule::Dasd
                | Rule::KlCov
                | Rule::ClipCov
                | Rule::Stare
                | Rule::JustRl
                | Rule::DualClip
                | Rule::RatioCap
        );
        if same(&up) && same(&down) && !detached {
            let slope = (up.loss - down.loss) / f64::from((stored.logprob[t] + step) - (stored.logprob[t] - step));
            prop_assert!((slope - centre.coefficients[t]).abs() < 2e-4 * (1.0 + slope.abs()),
                "{rule}: {} instead of {slope}", centre.coefficients[t]);
        }
    }

    /// What is silenced or not trained has no gradient; every number is finite.
    #[test]
    fn only_kept_tokens_learn(stored in batches(), which in 0..Rule::OBJECTIVES.len(), pass in 0..2_usize) {
        let objective = build(Rule::OBJECTIVES[which], &settings(0.05)).unwrap();
        let judged = judge(&*objective, &stored.batch(pass), 0.0);
        prop_assert!(judged.loss.is_finite());
        for t in 0..stored.logprob.len() {
            prop_assert!(judged.coefficients[t].is_finite());
            prop_assert!(judged.kept[t] || judged.coefficients[t] == 0.0);
            prop_assert!(!judged.kept[t] || stored.trained[t]);
        }
    }
}

/// S2T's mask lies inside of its definition, and the control has its size.
#[test]
fn masks_keep_to_their_definition() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    for stored in reference["batches"].as_array().unwrap().iter().map(Stored::read) {
        let kept = |rule: Rule| judge(&*build(rule, &settings(0.05)).unwrap(), &stored.batch(0), 0.0).kept;
        let (stapo, random, high) = (kept(Rule::Stapo), kept(Rule::Random), kept(Rule::HighEntropy));
        let count = |kept: &[bool]| kept.iter().filter(|k| **k).count();
        assert!(count(&stapo) < count(&stored.trained));
        assert_eq!(count(&stapo), count(&random));
        assert_eq!(count(&stapo), count(&high));
        for t in (0..stapo.len()).filter(|t| stored.trained[*t] && !stapo[*t]) {
            assert!(stored.advantage[t] > 0.0 && stored.logprob[t].exp() < 0.05);
        }
    }
}

/// No candidates, no trained tokens, no responses: a loss of 0 without a gradient.
#[test]
fn empty_batches_have_no_loss() {
    for rule in Rule::OBJECTIVES {
        let objective = build(rule, &settings(0.05)).unwrap();
        let nothing = MiniBatch {
            bounds: &[0, 0, 2],
            trained: &[false, false],
            logprob: &[-1.0, -9.0],
            old: &[-1.0, -9.0],
            entropy: &[0.5, 0.1],
            advantage: &[1.0, 1.0],
            rollout: Some(&[-1.5, -8.0]),
            teacher: None,
            start: None,
            centred_reward: None,
            pass: 0,
            seed: 1,
        };
        let judged = judge(&*objective, &nothing, 0.0);
        assert_eq!((judged.loss, judged.coefficients), (0.0, vec![0.0, 0.0]), "{rule}");
    }
}

/// A correction of nothing is its base: where sampler and trainer agree, and where no ratio is large.
#[test]
fn corrections_without_a_gap_change_nothing() {
    let reference: Value = serde_json::from_str(REFERENCE).unwrap();
    let mut stored = Stored::read(&reference["batches"][0]);
    stored.rollout.clone_from(&stored.old);
    let settings = ObjectiveSettings { ratio_cap: 1e9, dual_clip: 1e9, ..settings(0.05) };
    let of = |rule: Rule| judge(&*build(rule, &settings).unwrap(), &stored.batch(0), 0.0);
    let base = of(Rule::Dapo);
    for rule in Rule::OBJECTIVES.into_iter().filter(|rule| rule.is_wrapper()) {
        let found = of(rule);
        assert_eq!(
            (found.loss, &found.coefficients, &found.kept),
            (base.loss, &base.coefficients, &base.kept)
        );
    }
}

/// Sequence ratios of e^±800 are out of bounds, not a number that is not one.
#[test]
fn sequence_ratios_do_not_overflow() {
    let batch = |gap: f32| {
        let rollout = [-1.0 - gap, -1.0 - gap];
        let objective = build(Rule::MisSequence, &settings(0.05)).unwrap();
        let judged = judge(
            &*objective,
            &MiniBatch {
                bounds: &[0, 2],
                trained: &[true, true],
                logprob: &[-1.0, -1.0],
                old: &[-1.0, -1.0],
                entropy: &[0.5, 0.5],
                advantage: &[1.0, 1.0],
                rollout: Some(&rollout),
                teacher: None,
                start: None,
                centred_reward: None,
                pass: 0,
                seed: 1,
            },
            0.0,
        );
        (judged.loss, judged.kept)
    };
    assert_eq!(batch(400.0), (0.0, vec![false, false]));
    assert_eq!(batch(-400.0), (0.0, vec![false, false]));
    assert_eq!(batch(0.0), (-1.0, vec![true, true]));
}
