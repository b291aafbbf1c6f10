//! The engine against numpy's reference, against itself in other shapes, and on synthetic runs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::schema_support;
use crate::support;
mod claims;
mod diagnosis;
mod evaluation;
mod exact;
mod invariance;
mod labelled;
mod limits;
mod naive;
mod not_finite;
mod partial;
mod questions;
mod reference;
mod rules;
mod schema;
mod slices;
mod synthetic;
mod texts;
mod trust;

use std::path::{Path, PathBuf};

use serde_json::Value;
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis, analyze};
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::{IngestSettings, Run, Silent};

fn open(paths: &[PathBuf], threads: usize) -> Run {
    Run::open(paths, &IngestSettings { threads, ..IngestSettings::default() }).unwrap()
}

fn analyzed(paths: &[PathBuf], settings: &AnalyzeSettings) -> RunAnalysis {
    analyze(&open(paths, 0), settings, &Silent).unwrap()
}

fn preset(s2t: S2tSettings) -> AnalyzeSettings {
    AnalyzeSettings { s2t, ..AnalyzeSettings::default() }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The summary without what depends on how the run lies in files.
fn comparable(analysis: &RunAnalysis) -> Value {
    let mut value = analysis.to_value().unwrap();
    value.as_object_mut().unwrap().remove("provenance");
    value
}
