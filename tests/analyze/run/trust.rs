//! Numbers that must not hang on the scale of a log, on its order, or on which side clipped tokens
//! are counted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, ListArray, RecordBatch, UInt64Array};
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis};
use stapo_analyze::framework::taxonomy::TokenClass;

use super::support::{float_lists, floats, ints, small_log, write_parquet};
use super::{Silent, analyze, analyzed, open};

fn repro(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/repro").join(name)
}

fn plain(path: &Path) -> RunAnalysis {
    analyzed(&[path.to_owned()], &AnalyzeSettings::default())
}

/// An id beyond the arrays and a missing one come between ordinary ones.
#[test]
fn an_id_is_listed_once_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["vhuge.jsonl", "vmiss.jsonl"] {
        let text = std::fs::read_to_string(repro(name)).unwrap();
        let backwards: Vec<&str> = text.lines().rev().collect();
        let path = folder.path().join(name);
        std::fs::write(&path, backwards.join("\n")).unwrap();
        let rows = plain(&repro(name)).vocabulary.rows.clone();
        assert!(rows.windows(2).all(|w| w[0].token_id < w[1].token_id), "{name}: {rows:?}");
        assert_eq!(rows, plain(&path).vocabulary.rows, "{name}");
    }
}

/// Silenced tokens that clipping cuts have no norm: they are left out above and below the line.
#[test]
fn clipped_tokens_are_left_out_of_both_means() {
    let found = plain(&repro("clip.parquet"));
    assert!(found.totals.clipped.unwrap() > 0);
    let spurious = found.taxonomy.iter().find(|row| row.class == TokenClass::PositiveLowPLowH).unwrap();
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-5, "{a} {b}");
    near(found.s2t.mean_norm_ratio.unwrap(), spurious.norm_ratio.unwrap());
    let positive = found.taxonomy.iter().filter(|row| row.class.name().starts_with("positive"));
    let (sum, count) = positive.fold((0.0, 0.0), |(sum, count), row| {
        let n = row.norm_sample as f64;
        (sum + n * row.mean_norm.unwrap_or(0.0), count + n)
    });
    near(found.totals.mean_norm_positive.unwrap(), sum / count);
    near(found.s2t.mean_norm_ratio_positive.unwrap(), spurious.mean_norm.unwrap() / (sum / count));
}

/// Multiplies the logged norms.
fn scaled(batch: RecordBatch, factor: f32) -> RecordBatch {
    let index = batch.schema().index_of("grad_norm").unwrap();
    let lists = batch.column(index).as_any().downcast_ref::<ListArray>().unwrap();
    let rows = (0..lists.len()).map(|row| {
        let values = lists.value(row);
        let values = values.as_any().downcast_ref::<Float32Array>().unwrap();
        Some(values.iter().map(|value| value.map(|v| v * factor)).collect::<Vec<_>>())
    });
    let scaled: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows));
    let schema = batch.schema();
    let columns = schema.fields().iter().enumerate().map(|(i, field)| {
        (
            field.name().clone(),
            if i == index { Arc::clone(&scaled) } else { Arc::clone(batch.column(i)) },
            true,
        )
    });
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Shares of energy by class, cell and id do not hang on the unit that norms are logged in.
#[test]
fn shares_of_energy_hold_at_any_scale() {
    let analysis = |factor: f32| {
        let folder = tempfile::tempdir().unwrap();
        plain(&small_log(folder.path(), 3, 128, |batch| scaled(batch, factor)))
    };
    let shares = |found: &RunAnalysis| {
        let all = found.totals.gradient_energy;
        let classes = found.taxonomy.iter().map(|row| row.energy / all);
        let cells = found.plane.cells.iter().flat_map(|c| [c.positive_energy / all, c.negative_energy / all]);
        let ids =
            found.vocabulary.rows.iter().flat_map(|r| [r.positive_energy / all, r.negative_energy / all]);
        classes.chain(cells).chain(ids).collect::<Vec<f64>>()
    };
    let usual = analysis(1.0);
    let expected = shares(&usual);
    assert!((expected.iter().sum::<f64>() - 3.0).abs() < 1e-6, "each of the three adds up to the whole");
    for factor in [1e-30, 1e-20, 1e-6, 1e5, 1e20, 1e30] {
        let found = analysis(factor);
        let found_shares = shares(&found);
        assert_eq!(found_shares.len(), expected.len(), "at {factor:e}");
        for (found, expected) in found_shares.iter().zip(&expected) {
            assert!((found - expected).abs() <= 2e-6 * expected, "at {factor:e}: {found} {expected}");
        }
        let ratio = (found.s2t.energy_share, usual.s2t.energy_share);
        assert!((ratio.0.unwrap() / ratio.1.unwrap() - 1.0).abs() < 1e-6, "{ratio:?}");
    }
}

/// Hashes of prompts use all 64 bits; floats do not hold them.
#[test]
fn ids_of_64_bits_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let hashes: Vec<u64> = (0..8).map(|i| (u64::MAX - i / 2).rotate_left(7 * (i / 2) as u32)).collect();
    let columns = |ids: ArrayRef| {
        vec![
            ("step", ints(&[0; 8])),
            ("group_id", ids),
            ("reward", floats(&[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])),
            ("advantage", floats(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])),
            ("logprob", float_lists(&[&[-0.5, -0.7][..]; 8])),
            ("entropy", float_lists(&[&[0.5, 0.6][..]; 8])),
        ]
    };
    let path = folder.path().join("hashes.parquet");
    write_parquet(&path, columns(Arc::new(UInt64Array::from(hashes.clone()))), 3);
    assert_eq!(analyzed(&[path], &AnalyzeSettings::default()).totals.groups, Some(4));
    let path = folder.path().join("floats.parquet");
    let rounded: Vec<f64> = hashes.iter().map(|hash| *hash as f64).collect();
    write_parquet(&path, columns(Arc::new(Float64Array::from(rounded))), 3);
    let error = analyze(&open(&[path], 0), &AnalyzeSettings::default(), &Silent).unwrap_err();
    assert!(error.to_string().contains("group_id") && error.to_string().contains("digits"), "{error}");
}
