//! A run with everything in it (masks, gaps, long responses, token-level advantages of both signs,
//! ratios beyond the clip, mini-batches) against a plain loop over its tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{ArrayRef, ListArray};
use stapo_analyze::analyze::result::NormSource;
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis};
use stapo_analyze::framework::collision_table::CollisionTable;
use stapo_analyze::framework::feasible::ConditionalState;
use stapo_analyze::framework::norm::SquaredNorm;
use stapo_analyze::framework::s2t::{EntropyCut, Population, S2tSettings};
use stapo_analyze::framework::token::{ClipRange, weight};
use stapo_analyze::ingest::{IngestSettings, Run, Silent};

use super::support::{Numbers, floats, ints, write_parquet};

const VOCABULARY: u32 = 1000;
const CLIP: ClipRange = ClipRange { low: 0.1, high: 0.15 };

#[derive(Clone)]
struct Token {
    id: i32,
    trained: bool,
    logprob: Option<f32>,
    entropy: Option<f32>,
    advantage: Option<f32>,
    logprob_new: Option<f32>,
    grad_norm: Option<f32>,
}

struct Response {
    step: i64,
    update: i64,
    reward: f32,
    tokens: Vec<Token>,
}

fn token(random: &mut Numbers, sign: f32) -> Token {
    let entropy = 4.0 * random.next().powi(3);
    let rare = random.next() < 0.02;
    let logprob = if rare { -7.0 - 3.0 * random.next() } else { -entropy * random.next() };
    let missing = |random: &mut Numbers| random.next() < 0.01;
    let advantage = if random.next() < 0.1 { -sign } else { sign } * (random.next() - 0.1);
    Token {
        id: random.below(900) as i32,
        trained: random.next() < 0.9,
        logprob: (!missing(random)).then_some(logprob),
        entropy: (!missing(random)).then_some(entropy),
        advantage: (!missing(random)).then_some(advantage),
        logprob_new: (random.next() < 0.95).then(|| (logprob + 0.4 * (random.next() - 0.5)).min(0.0)),
        grad_norm: (random.next() < 0.3).then(|| random.next()),
    }
}

fn responses() -> Vec<Response> {
    let mut random = Numbers(42);
    (0..240)
        .map(|i| {
            let length = [0, 1, 15, 16, 17, 255, 256, 257, 700][i % 9];
            let sign = [1.0, -1.0, 0.0][random.below(3)];
            let mut tokens: Vec<Token> = (0..length).map(|_| token(&mut random, sign)).collect();
            // What is not trained at either end would be taken for padding.
            tokens.first_mut().into_iter().for_each(|t| t.trained = true);
            tokens.last_mut().into_iter().for_each(|t| t.trained = true);
            Response { step: (i / 60) as i64, update: (i % 2) as i64, reward: random.next(), tokens }
        })
        .collect()
}

fn float_lists(responses: &[Response], of: fn(&Token) -> Option<f32>) -> ArrayRef {
    let rows = responses.iter().map(|r| Some(r.tokens.iter().map(of).collect::<Vec<_>>()));
    Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows))
}

fn int_lists(responses: &[Response], of: fn(&Token) -> i32) -> ArrayRef {
    let rows = responses.iter().map(|r| Some(r.tokens.iter().map(|t| Some(of(t))).collect::<Vec<_>>()));
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(rows))
}

fn analysis(responses: &[Response], s2t: S2tSettings) -> RunAnalysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    let of = |value: fn(&Response) -> i64| ints(&responses.iter().map(value).collect::<Vec<_>>());
    let columns = vec![
        ("step", of(|r| r.step)),
        ("update", of(|r| r.update)),
        ("reward", floats(&responses.iter().map(|r| r.reward).collect::<Vec<_>>())),
        ("token_ids", int_lists(responses, |t| t.id)),
        ("mask", int_lists(responses, |t| i32::from(t.trained))),
        ("logprob", float_lists(responses, |t| t.logprob)),
        ("entropy", float_lists(responses, |t| t.entropy)),
        ("advantages", float_lists(responses, |t| t.advantage)),
        ("logprob_new", float_lists(responses, |t| t.logprob_new)),
        ("grad_norm", float_lists(responses, |t| t.grad_norm)),
    ];
    write_parquet(&path, columns, 50);
    let run = Run::open(&[path], &IngestSettings::default()).unwrap();
    let settings =
        AnalyzeSettings { s2t, vocab_size: Some(VOCABULARY), clip: Some(CLIP), ..AnalyzeSettings::default() };
    stapo_analyze::analyze::analyze(&run, &settings, &Silent).unwrap()
}

#[derive(Default)]
struct Expected {
    tokens: u64,
    missing: u64,
    signs: [u64; 3],
    clipped: u64,
    entropy: f64,
    energy: [f64; 3],
    positive_energy: f64,
    population: Vec<f32>,
    candidates: Vec<(f32, f64)>,
}

fn expected(responses: &[Response], s2t: &S2tSettings) -> BTreeMap<(i64, i64), Expected> {
    let table = CollisionTable::new(VOCABULARY);
    let rule = s2t.rule();
    let mut batches: BTreeMap<(i64, i64), Expected> = BTreeMap::new();
    for response in responses {
        let batch = batches.entry((response.step, response.update)).or_default();
        for token in response.tokens.iter().filter(|t| t.trained) {
            batch.tokens += 1;
            let (Some(logprob), Some(entropy), Some(advantage)) =
                (token.logprob, token.entropy, token.advantage)
            else {
                batch.missing += 1;
                continue;
            };
            batch.signs[if advantage > 0.0 {
                0
            } else if advantage < 0.0 {
                1
            } else {
                2
            }] += 1;
            batch.entropy += f64::from(entropy);
            let ratio = token.logprob_new.map_or(1.0, |new| f64::from(new - logprob).exp());
            let a = f64::from(advantage);
            batch.clipped += u64::from(CLIP.cuts(ratio, a));
            let w = weight(ratio, a, Some(CLIP));
            let state = ConditionalState::new(f64::from(logprob), f64::from(entropy), table.max_entropy());
            let bounds = table.bounds(state.conditional_entropy);
            let norm = match token.grad_norm.filter(|_| advantage != 0.0) {
                Some(norm) => SquaredNorm::measured(f64::from(norm)),
                None => SquaredNorm::estimated(&state, &bounds, w * w),
            };
            batch.energy[0] += norm.low;
            batch.energy[1] += norm.point;
            batch.energy[2] += norm.high;
            batch.positive_energy += if advantage > 0.0 { norm.point } else { 0.0 };
            if rule.in_population(logprob, advantage) {
                batch.population.push(entropy);
            }
            if rule.is_candidate(logprob, advantage) {
                batch.candidates.push((entropy, norm.point));
            }
        }
    }
    batches
}

fn close(what: &str, ours: f64, expected: f64) {
    assert!((ours - expected).abs() <= 2e-6 * expected.abs() + 1e-9, "{what}: {ours} {expected}");
}

fn check(s2t: S2tSettings) {
    let responses = responses();
    let analysis = analysis(&responses, s2t);
    let batches = expected(&responses, &s2t);
    let sum = |of: fn(&Expected) -> u64| batches.values().map(of).sum::<u64>();
    let total = |of: fn(&Expected) -> f64| batches.values().map(of).sum::<f64>();
    let totals = &analysis.totals;
    assert_eq!(totals.responses, 240);
    assert_eq!(totals.tokens, sum(|b| b.tokens));
    assert_eq!(totals.missing, sum(|b| b.missing));
    assert!(totals.missing > 100);
    let all = responses.iter().map(|r| r.tokens.len() as u64).sum::<u64>();
    assert_eq!(totals.masked_out, all - totals.tokens);
    assert_eq!(totals.positive, sum(|b| b.signs[0]));
    assert_eq!(totals.negative, sum(|b| b.signs[1]));
    assert_eq!(totals.zero_advantage, sum(|b| b.signs[2]));
    assert!(totals.positive > 1000 && totals.negative > 1000 && totals.zero_advantage > 1000);
    assert_eq!(totals.clipped, Some(sum(|b| b.clipped)));
    assert_eq!(totals.gradient_source, NormSource::Mixed);
    let complete = (totals.tokens - totals.missing) as f64;
    close("entropy", totals.mean_entropy.unwrap() * complete, total(|b| b.entropy));
    close("energy", totals.gradient_energy, total(|b| b.energy[1]));
    close("low", totals.gradient_energy_low, total(|b| b.energy[0]));
    close("high", totals.gradient_energy_high, total(|b| b.energy[2]));
    close("positive", totals.positive_energy, total(|b| b.positive_energy));
    let (mut silenced, mut silenced_energy) = (0, 0.0);
    for (key, batch) in &batches {
        let tau_h = s2t.threshold(&mut batch.population.clone());
        let step = analysis.steps.iter().find(|s| s.step == key.0).unwrap();
        let ours = step.minibatches.iter().find(|m| m.update == Some(key.1)).unwrap();
        assert_eq!(ours.tau_h, tau_h, "{key:?}");
        assert_eq!(ours.candidates, batch.candidates.len() as u64);
        let below = batch.candidates.iter().filter(|(h, _)| tau_h.is_some_and(|tau| f64::from(*h) < tau));
        assert_eq!(ours.silenced, below.clone().count() as u64);
        silenced += ours.silenced;
        silenced_energy += below.map(|(_, energy)| energy).sum::<f64>();
    }
    assert!(silenced > 10);
    assert_eq!(analysis.s2t.silenced, silenced);
    close("share", analysis.s2t.energy_share.unwrap(), silenced_energy / totals.gradient_energy);
    for flagged in &analysis.cases.top {
        let response = &responses[flagged.row as usize];
        let token = &response.tokens[flagged.position as usize];
        assert_eq!(flagged.token_id, Some(i64::from(token.id)));
        assert_eq!(flagged.logprob, f64::from(token.logprob.unwrap()));
        assert_eq!(flagged.before.len(), 12.min(flagged.position as usize));
        assert_eq!(flagged.after.len(), 12.min(response.tokens.len() - 1 - flagged.position as usize));
    }
    assert_eq!(analysis.cases.top.len() as u64, analysis.s2t.candidates);
}

#[test]
fn the_late_preset_equals_a_plain_loop() {
    check(S2tSettings::v5());
}

#[test]
fn other_populations_equal_a_plain_loop() {
    check(S2tSettings::v1());
    check(S2tSettings { tau_p: 0.3, entropy: EntropyCut::Quantile(0.37), population: Population::Positive });
    check(S2tSettings {
        tau_p: 0.05,
        entropy: EntropyCut::Absolute(0.4),
        population: Population::Candidates,
    });
}
