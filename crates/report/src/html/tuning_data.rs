//! What the sliders compute from: the candidates one by one, as exact as the engine has them.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use serde_json::json;

use super::case_rows::Chosen;
use crate::candidates::{Batch, thresholds};
use crate::text::{script_json, token_or_id};
use stapo_framework::s2t::Population;
use stapo_result::CandidatePoint;
use stapo_result::RunAnalysis;
use stapo_result::cases::LARGEST_TAU_P;

/// Bytes of a candidate in the page: three f32 and a u16, in base64.
const POINT_BYTES: usize = 19;
/// Batches that the page handles at most.
const BATCHES: usize = 30_000;
/// Token texts that the page carries at most.
const NAMES: usize = 1_500;
/// Stands for a token id without a text.
const UNNAMED: u16 = u16::MAX;

/// The page's data.
pub struct TuningData {
    /// JSON that cannot end its `<script>` element.
    pub json: String,
    /// τ_p that the slider stops at.
    pub stops: Vec<f64>,
    /// The stop of the run.
    pub start: usize,
    /// Whether τ_h is a quantile of the candidates, so that q can be moved.
    pub by_quantile: bool,
}

/// Collects it; `None` where nothing fits.
pub fn collect(analysis: &RunAnalysis, chosen: &Chosen, budget: usize) -> Option<TuningData> {
    let (points, exact_below) = fitting(analysis, budget);
    let s2t = &analysis.s2t;
    let own = thresholds(analysis);
    let mut batches: BTreeMap<Batch, Vec<CandidatePoint>> = own.keys().map(|b| (*b, Vec::new())).collect();
    for point in points {
        batches.entry((point.step, point.update)).or_default().push(point);
    }
    for row in &chosen.rows {
        batches.entry(batch_of(&own, row.case.step, row.case.update)).or_default();
    }
    if budget == 0 || batches.len() > BATCHES {
        return None;
    }
    let places: HashMap<Batch, u32> = (0_u32..).zip(batches.keys()).map(|(i, b)| (*b, i)).collect();
    for points in batches.values_mut() {
        points.sort_by(|a, b| a.entropy.total_cmp(&b.entropy).then(a.logprob.total_cmp(&b.logprob)));
    }
    let all: Vec<&CandidatePoint> = batches.values().flatten().collect();
    let (names, codes) = names(analysis, &all);
    let by_quantile = s2t.population == Population::Candidates && s2t.entropy_quantile.is_some();
    let stops = stops(s2t.tau_p);
    let start = stops.iter().position(|s| *s == s2t.tau_p).unwrap_or(0);
    let cases: Vec<_> = chosen.rows.iter().map(|r| r.case).collect();
    let value = json!({
        "tauP": s2t.tau_p,
        "q": s2t.entropy_quantile,
        "byQuantile": by_quantile,
        "tokens": analysis.totals.tokens,
        "energy": analysis.totals.gradient_energy,
        "stops": stops,
        "exactBelow": exact_below,
        "tauH": batches.keys().map(|b| own.get(b).copied()).collect::<Vec<_>>(),
        "sizes": batches.values().map(Vec::len).collect::<Vec<_>>(),
        "logprob": packed(all.iter().flat_map(|p| p.logprob.to_le_bytes())),
        "entropy": packed(all.iter().flat_map(|p| p.entropy.to_le_bytes())),
        "norm": packed(all.iter().flat_map(|p| p.grad_norm.to_le_bytes())),
        "name": packed(codes.iter().flat_map(|c| c.to_le_bytes())),
        "names": names,
        "rare": rare_counts(analysis),
        "cases": {
            "batch": cases.iter().map(|c| places.get(&batch_of(&own, c.step, c.update)).copied()).collect::<Vec<_>>(),
            "logprob": packed(cases.iter().flat_map(|c| single(c.logprob).to_le_bytes())),
            "entropy": packed(cases.iter().flat_map(|c| single(c.entropy).to_le_bytes())),
        },
    });
    Some(TuningData { json: script_json(&value.to_string()), stops, start, by_quantile })
}

/// As many candidates as fit, and the τ_p below which that is all of them.
fn fitting(analysis: &RunAnalysis, budget: usize) -> (Vec<CandidatePoint>, f64) {
    let mut points = analysis.candidates.points.clone();
    let complete = analysis.candidates.complete_below;
    let limit = budget / POINT_BYTES;
    if points.len() <= limit {
        return (points, complete);
    }
    let mut logprobs: Vec<f32> = points.iter().map(|p| p.logprob).collect();
    let (_, cut, _) = logprobs.select_nth_unstable_by(limit, f32::total_cmp);
    let cut = *cut;
    points.retain(|p| p.logprob < cut);
    (points, complete.min(f64::from(cut).exp()))
}

/// Mini-batches count as batches only where thresholds are theirs.
fn batch_of(own: &BTreeMap<Batch, f64>, step: i64, update: Option<i64>) -> Batch {
    if own.contains_key(&(step, update)) { (step, update) } else { (step, None) }
}

/// Texts of the most frequent ids, and the place of each candidate's text.
fn names(analysis: &RunAnalysis, points: &[&CandidatePoint]) -> (Vec<String>, Vec<u16>) {
    let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
    for id in points.iter().filter_map(|p| p.token_id) {
        *counts.entry(id).or_default() += 1;
    }
    let mut ids: Vec<(i32, u64)> = counts.into_iter().collect();
    ids.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    ids.truncate(NAMES);
    let vocabulary = &analysis.vocabulary;
    let rows = if vocabulary.rows.is_empty() { &vocabulary.top } else { &vocabulary.rows };
    let texts: HashMap<i64, &str> =
        rows.iter().filter_map(|r| Some((r.token_id, r.token.as_deref()?))).collect();
    let name = |id: i32| token_or_id(texts.get(&i64::from(id)).copied(), id);
    let codes: HashMap<i32, u16> = (0_u16..).zip(&ids).map(|(code, (id, _))| (*id, code)).collect();
    let code = |p: &&CandidatePoint| p.token_id.and_then(|id| codes.get(&id).copied()).unwrap_or(UNNAMED);
    (ids.iter().map(|(id, _)| name(*id)).collect(), points.iter().map(code).collect())
}

/// Tokens with A > 0 below each edge of log10 p, for thresholds beyond the exact ones.
fn rare_counts(analysis: &RunAnalysis) -> Vec<(f64, u64)> {
    let plane = &analysis.plane;
    let mut columns: BTreeMap<usize, u64> = BTreeMap::new();
    for cell in &plane.cells {
        *columns.entry(usize::from(cell.x)).or_default() += cell.positive;
    }
    let mut sum = 0;
    let mut counts = Vec::new();
    for (column, tokens) in columns {
        sum += tokens;
        let edge = plane.log10_prob.edge(column + 1);
        counts.push((edge, sum));
        if edge > LARGEST_TAU_P.log10() {
            break;
        }
    }
    counts
}

/// Round numbers from 10⁻⁵ to the largest τ_p, and the run's own.
fn stops(own: f64) -> Vec<f64> {
    let mut stops = vec![own];
    for decade in ["e-5", "e-4", "e-3", "e-2"] {
        // Parsed, so that 0.002 is the same number as the user's.
        let values = ["1", "1.5", "2", "2.5", "3", "4", "5", "6", "7", "8", "9"];
        stops.extend(values.iter().filter_map(|m| format!("{m}{decade}").parse::<f64>().ok()));
    }
    stops.retain(|s| *s <= LARGEST_TAU_P.max(own));
    stops.sort_by(f64::total_cmp);
    stops.dedup();
    stops
}

fn packed(bytes: impl Iterator<Item = u8>) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes.collect::<Vec<u8>>())
}

/// The logged value: the engine widened an f32.
#[allow(clippy::cast_possible_truncation)]
fn single(value: f64) -> f32 {
    value as f32
}
