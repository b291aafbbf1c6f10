//! A file that lacks a column, and the same rows with values that are missing: the same run.

use stapo_analyze::analyze::result::CauseCode;
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis};

use super::log::Log;
use super::maker::Maker;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, told};
use crate::analyzed;

const HALF: i64 = 6;
const SAMPLER: usize = 1;
const NEW: usize = 2;

fn parts(logs: &[&Log]) -> RunAnalysis {
    let folder = tempfile::tempdir().unwrap();
    let write = |(number, log): (usize, &&Log)| {
        let path = folder.path().join(format!("{number}.parquet"));
        log.write(&path);
        path
    };
    let paths: Vec<_> = logs.iter().enumerate().map(write).collect();
    let settings = AnalyzeSettings { vocab_size: Some(SHAPE.vocabulary as u32), ..Default::default() };
    analyzed(&paths, &settings)
}

/// The later half of the run has responses of one token and neither the sampler's nor the new policy's
/// log-probabilities; in the earlier half the sampler lacks some in a row.
#[test]
fn a_column_that_a_file_lacks_is_like_values_that_are_missing() {
    let shape = Shape { kind: Kind::TwoEpochs, ..SHAPE };
    let mut early = Maker::run(Fault::Nothing, shape, 5);
    let mut late = early.clone();
    early.keep_steps(|step| step < HALF);
    early.values[SAMPLER].iter_mut().for_each(|row| row[1..4].fill(f32::NAN));
    late.keep_steps(|step| step >= HALF);
    late.updates.fill(9);
    late.ids.iter_mut().for_each(|row| row.truncate(1));
    late.turns.iter_mut().for_each(|row| row.truncate(1));
    late.values.iter_mut().flatten().for_each(|row| row.truncate(1));
    let mut nulls = late.clone();
    for column in [SAMPLER, NEW] {
        late.values[column].clear();
        nulls.values[column].iter_mut().for_each(|row| row.fill(f32::NAN));
    }
    let (lacks, has_nulls) = (parts(&[&early, &late]), parts(&[&early, &nulls]));
    let [a, b] = [&lacks, &has_nulls].map(|run| run.to_value().unwrap());
    for field in ["drivers", "clipping", "offpolicy"] {
        assert!(a[field].is_object(), "{field}");
        assert_eq!(a[field], b[field], "{field}");
    }
    let [a, b] = [&lacks, &has_nulls].map(|run| {
        let cause = run.diagnosis.causes.iter().find(|c| c.code == CauseCode::ObservationTrained);
        cause.unwrap_or_else(|| panic!("{}", told(run))).evidence.clone()
    });
    assert_eq!(a, b);
}
