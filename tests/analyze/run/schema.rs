//! `summary.json` follows its published schema, and tables have the columns that others rely on.

use std::path::Path;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use stapo_analyze::analyze::{AnalyzeSettings, Gate, analyze_with_flagged};
use stapo_analyze::ingest::Silent;

use super::schema_support::validate;
use super::support::sample;
use super::synthetic::{Synthetic, healthy};
use super::{analyzed, open};

#[test]
fn summaries_follow_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let sample_run = analyzed(&[sample("grpo.parquet")], &AnalyzeSettings::default());
    validate(&sample_run.to_value().unwrap(), "summary");
    let path = Synthetic::new(12, healthy).write(folder.path());
    let synthetic = analyzed(&[path], &AnalyzeSettings::default());
    validate(&synthetic.to_value().unwrap(), "summary");
}

#[test]
fn the_names_that_others_rely_on_are_there() {
    let summary = analyzed(&[sample("grpo.parquet")], &AnalyzeSettings::default()).to_value().unwrap();
    for (part, fields) in [
        (
            "totals",
            "tokens responses positive negative zero_advantage infeasible mean_entropy mean_prob gradient_energy gradient_source",
        ),
        (
            "s2t",
            "preset tau_p candidates silenced exploratory fraction energy_share positive_energy_share mean_norm_ratio mean_norm_ratio_positive",
        ),
    ] {
        fields.split(' ').for_each(|field| assert!(!summary[part][field].is_null(), "{part}.{field}"));
    }
    for field in "step tokens mean_entropy tau_h candidates silenced gradient_energy".split(' ') {
        assert!(!summary["steps"][0][field].is_null(), "{field}");
    }
}

fn columns(path: &Path) -> (Vec<String>, i64) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
    let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    (names, reader.metadata().file_metadata().num_rows())
}

#[test]
fn files_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let run = open(&[sample("grpo.parquet")], 0);
    let (analysis, mut flagged) = analyze_with_flagged(&run, &AnalyzeSettings::default(), &Silent).unwrap();
    analysis.write_summary(folder.path()).unwrap();
    analysis.write_tables(folder.path()).unwrap();
    flagged.write(folder.path()).unwrap();
    let written = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
    assert!(written == analysis.to_json().unwrap());
    let table = |name: &str| columns(&folder.path().join(format!("tables/{name}.parquet")));
    let (flagged, rows) = table("flagged");
    for name in "kind step group_id sample_id row position token_id token logprob entropy advantage grad_norm tau_h risk".split(' ') {
        assert!(flagged.contains(&name.to_owned()), "{name}");
    }
    assert_eq!(rows, 230);
    assert_eq!(table("steps").1, 11);
    assert_eq!(table("taxonomy").1, 9);
    assert_eq!(table("rules").1, 11);
    assert_eq!(table("sweep").1, analysis.sweep.cells.len() as i64);
    assert_eq!(table("vocabulary").1, analysis.vocabulary.rows.len() as i64);
    assert_eq!(table("plane").1, analysis.plane.cells.len() as i64);
}

#[test]
fn gates_look_at_the_summary() {
    let analysis = analyzed(&[sample("grpo.parquet")], &AnalyzeSettings::default());
    let failed = |text: &str| Gate::parse(text).unwrap().check(&analysis).unwrap();
    assert_eq!(failed("s2t.fraction>3e-4"), None);
    assert!(failed("s2t.fraction>2e-4").unwrap().contains("0.000274"));
    assert!(failed("steps.-1.mean_entropy<0.3").is_some());
    assert_eq!(failed("warnings.infeasible>0"), None);
    assert!(failed("totals.clipped>0").unwrap().contains("cannot be judged"), "undefined in this run");
    assert!(Gate::parse("s2t.nothing>0").unwrap().check(&analysis).is_err());
}
