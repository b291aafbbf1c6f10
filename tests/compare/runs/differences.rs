//! What is called different, and what is not.

use std::path::{Path, PathBuf};

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use serde_json::Value;
use stapo_analyze::analyze::{AnalyzeSettings, ComparedRun, analyze_for_comparison};
use stapo_analyze::compare::result::CompareCode;
use stapo_analyze::compare::{CompareSettings, Comparison, NamedRun, compare_runs};
use stapo_analyze::ingest::{IngestSettings, Run, Silent};

use super::compare_support::Made;
use super::support::sample;
use super::{close, codes, json, program, row};

#[test]
fn the_sample_runs_differ_in_entropy_and_in_little_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.arg(sample("grpo.parquet")).arg(sample("stapo.parquet"));
    command.arg("--metrics").arg(sample("steps.csv")).arg("--report").arg(folder.path());
    let found = json(&mut command);
    let entropy = row(&found, "entropy");
    assert_eq!((entropy["run"].as_str(), entropy["significant"].as_bool()), (Some("stapo"), Some(true)));
    assert_eq!((entropy["test"].as_str(), entropy["n"].as_u64()), (Some("wilcoxon_signed_rank"), Some(11)));
    assert!(entropy["ci_high"].as_f64().unwrap() < 0.0);
    // Ten of eleven steps lower, only the smallest difference of another sign: 2·2/2¹¹.
    close(&entropy["p_value"], 4.0 / 2048.0);
    close(&entropy["effect"], -10.0 / 11.0);
    // None against 9.66 a step, and an interval that reaches beyond both.
    assert_eq!(row(&found, "trainer.silenced")["finding"], "too_wide");
    for name in
        ["reward", "length", "silenced_ratio", "spurious_energy_share", "zero_advantage_share", "risk"]
    {
        let row = row(&found, name);
        assert_eq!(row["significant"], false, "{name}");
        let (low, high) = (row["ci_low"].as_f64().unwrap(), row["ci_high"].as_f64().unwrap());
        assert!(
            low < 0.0 && high > 0.0 && (low..=high).contains(&row["difference"].as_f64().unwrap()),
            "{row}"
        );
    }
    let silenced = row(&found, "silenced_ratio");
    close(&silenced["baseline"], 168.0 / 612_395.0);
    close(&silenced["other"], 150.0 / 611_512.0);
    assert_eq!(found["alignment"][0]["prompts"], 704);
    assert_eq!(found["alignment"][0]["steps"], 11);
    assert_eq!(row(&found, "trainer.reward")["family"], "trainer");
    assert!(codes(&found).contains(&"one_seed") && codes(&found).contains(&"trainer_rows"));
    let scope = found["verdict"]["scope"].as_str().unwrap();
    assert!(scope.contains("not of the methods"), "{scope}");
    let distance = &found["distributions"][0]["vocabulary"];
    assert!(distance["distance"].as_f64().unwrap() > distance["noise_high"].as_f64().unwrap());

    // The values are those of the runs' own analyses.
    let own = analysis(&sample("stapo.parquet"));
    close(&entropy["other"], own.totals.mean_entropy.unwrap());
    close(&row(&found, "reward")["other"], own.totals.mean_reward.unwrap());
    close(&row(&found, "length")["other"], own.totals.mean_length.unwrap());
    close(&row(&found, "spurious_energy_share")["other"], own.s2t.energy_share.unwrap());

    // The first lines say it everywhere.
    let headline = found["verdict"]["headline"].as_str().unwrap();
    assert!(
        headline.starts_with("stapo has a lower mean entropy than grpo: 0.284 nats against 0.309"),
        "{headline}"
    );
    let markdown = std::fs::read_to_string(folder.path().join("compare.md")).unwrap();
    assert!(markdown.starts_with(&format!("# Differs beyond noise: {headline}")), "{markdown}");
    let page = std::fs::read_to_string(folder.path().join("compare.html")).unwrap();
    assert!(page.contains(&format!("<h1>{headline}</h1>")));
    let text = program().arg(sample("grpo.parquet")).arg(sample("stapo.parquet")).output().unwrap();
    assert!(String::from_utf8(text.stdout).unwrap().starts_with(headline));
    let written: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("compare.json")).unwrap()).unwrap();
    assert_eq!(written, found);
    for (table, least) in [
        ("metrics", 29),
        ("runs", 2),
        ("steps", 220),
        ("trainer", 1_440),
        ("regions", 40),
        ("tokens", 60),
        ("spurious", 40),
    ] {
        let path = folder.path().join(format!("tables/compare_{table}.parquet"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
        let rows = reader.metadata().file_metadata().num_rows();
        assert!(rows >= least, "{table}: {rows}");
    }
}

fn analysis(path: &Path) -> ComparedRun {
    let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
    analyze_for_comparison(&run, &AnalyzeSettings::default(), &Silent).unwrap()
}

#[test]
fn sums_by_group_add_up_to_the_run() {
    use stapo_analyze::analyze::result::ClusterSum as S;
    let found = analysis(&sample("grpo.parquet"));
    let clusters = &found.clusters;
    assert_eq!(clusters.steps.iter().map(|s| s.clusters.len()).sum::<usize>(), 704);
    assert!(clusters.steps.iter().flat_map(|s| &s.clusters).all(|c| c.prompt.is_some()));
    let total =
        |sum: S| clusters.steps.iter().flat_map(|s| &s.clusters).map(|c| c.sums[sum as usize]).sum::<f64>();
    let totals = &found.totals;
    assert_eq!(total(S::Tokens), totals.tokens as f64);
    assert_eq!(total(S::Responses), totals.responses as f64);
    assert_eq!(total(S::Zero), totals.zero_advantage as f64);
    assert_eq!(total(S::Silenced), found.s2t.silenced as f64);
    assert_eq!(total(S::Candidates), found.s2t.candidates as f64);
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    near(total(S::Entropy) / total(S::Complete), totals.mean_entropy.unwrap());
    near(total(S::PositiveEnergy) + total(S::NegativeEnergy), totals.gradient_energy);
    near(total(S::SilencedEnergy) / totals.gradient_energy, found.s2t.energy_share.unwrap());
    let counted: u64 = clusters.ids.iter().flat_map(|(_, counts)| counts).sum();
    assert_eq!(counted, totals.tokens);
    let counted: u64 = clusters.plane.iter().flat_map(|(_, counts)| counts).sum();
    assert_eq!(counted, totals.tokens);
}

#[test]
fn identical_runs_do_not_differ_and_are_told_apart() {
    let found = json(program().arg(sample("grpo.parquet")).arg(sample("grpo.parquet")));
    for row in found["metrics"].as_array().unwrap() {
        let name = &row["name"];
        assert_eq!((row["difference"].as_f64(), row["p_value"].as_f64()), (Some(0.0), Some(1.0)), "{name}");
        assert_eq!(
            (row["p_adjusted"].as_f64(), row["significant"].as_bool()),
            (Some(1.0), Some(false)),
            "{name}"
        );
        assert_eq!((row["ci_low"].as_f64(), row["ci_high"].as_f64()), (Some(0.0), Some(0.0)), "{name}");
        assert_eq!(row["run"], "grpo-2");
    }
    assert_eq!(found["verdict"]["differs"], false);
    assert!(codes(&found).contains(&"renamed_run"));
    let change = &found["distributions"][0];
    assert_eq!(
        (change["plane"]["distance"].as_f64(), change["plane"]["p_value"].as_f64()),
        (Some(0.0), Some(1.0))
    );
    assert!(
        change["tokens"].as_array().unwrap().is_empty() && change["regions"].as_array().unwrap().is_empty()
    );
}

#[test]
fn results_do_not_depend_on_threads_and_follow_the_seed() {
    let run = |threads: &str, seed: &str| {
        let mut command = program();
        command.arg(sample("grpo.parquet")).arg(sample("stapo.parquet"));
        json(command.args(["--threads", threads, "--seed", seed, "--draws", "300"]))
    };
    let first = run("1", "5");
    assert!(first == run("3", "5"));
    let other = run("2", "6");
    assert_eq!(row(&first, "entropy")["p_value"], row(&other, "entropy")["p_value"]);
    assert_ne!(row(&first, "entropy")["ci_low"], row(&other, "entropy")["ci_low"]);
}

/// Both runs are drawn from the same process: labels mean nothing.
#[test]
fn labels_that_mean_nothing_give_uniform_p_values() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CompareSettings { draws: 100, ..CompareSettings::default() };
    let mut p = Vec::new();
    let mut called = 0;
    for trial in 0..120_u64 {
        let runs: Vec<NamedRun> = ["a", "b"]
            .iter()
            .zip(0..)
            .map(|(name, side)| {
                let made = Made { seed: trial * 2 + side, steps: (0..12).collect(), ..Made::default() };
                let path = made.write(folder.path(), name);
                NamedRun { name: (*name).into(), arm: (*name).into(), analysis: analysis(&path) }
            })
            .collect();
        let found = compare_runs(&runs, None, &settings);
        called += u32::from(found.verdict.differs);
        for name in ["entropy", "reward", "length"] {
            p.push(found.metrics.iter().find(|m| m.name == name).unwrap().p_value.unwrap());
        }
    }
    for level in [0.1, 0.25, 0.5, 0.75] {
        let share = p.iter().filter(|p| **p <= level).count() as f64 / p.len() as f64;
        assert!((share - level).abs() < 0.08, "{share} of p-values are at most {level}");
    }
    assert!(called <= 12, "{called} of 120 pairs without a difference are called different");
}

fn repro(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/repro").join(name)
}

/// Two runs of one process whose τ_h hangs on few candidates: classes are cut alike.
#[test]
fn classes_are_cut_at_one_entropy() {
    let found = json(program().arg(repro("null_a.parquet")).arg(repro("null_b.parquet")));
    assert_eq!(found["verdict"]["differs"], false, "{}", found["verdict"]["headline"]);
    let cut = found["settings"]["class_entropy_cut"].as_f64().unwrap();
    assert!(cut > 0.0);
    let said =
        found["statements"].as_array().unwrap().iter().any(|s| s.as_str().unwrap().contains("same entropy"));
    assert!(said);
    // All classes and the two that are metrics of their own make up the whole.
    let shares = |side: &str| {
        let rows = found["metrics"].as_array().unwrap().iter();
        let classes = rows.filter(|r| r["name"].as_str().unwrap().starts_with("class_share."));
        let own =
            ["candidate_ratio", "zero_advantage_share"].map(|name| row(&found, name)[side].as_f64().unwrap());
        classes.map(|r| r[side].as_f64().unwrap()).sum::<f64>() + own.iter().sum::<f64>()
    };
    assert!((shares("baseline") - 1.0).abs() < 1e-9 && (shares("other") - 1.0).abs() < 1e-9);
}

/// Three seeds a side whose entropies are half a nat apart.
#[test]
fn few_seeds_can_find_a_difference() {
    let arm = |name: &str, letter: &str| {
        let paths: Vec<String> =
            (0..3).map(|i| repro(&format!("seed_{letter}{i}.parquet")).display().to_string()).collect();
        format!("{name}={}", paths.join(","))
    };
    let found = json(program().arg("--arm").arg(arm("x", "x")).arg("--arm").arg(arm("y", "y")));
    let entropy = row(&found, "entropy");
    assert_eq!((entropy["test"].as_str(), entropy["significant"].as_bool()), (Some("welch_t"), Some(true)));
    assert_eq!((entropy["primary"].as_bool(), entropy["finding"].as_str()), (Some(true), Some("differs")));
    let headline = found["verdict"]["headline"].as_str().unwrap();
    assert!(headline.starts_with("y has a lower mean entropy than x"), "{headline}");
    assert!(found["verdict"]["scope"].as_str().unwrap().contains("about normal"));
}

/// Two parts of one run, five steps that only progress aligns: what is known by step alone is not decided.
#[test]
fn five_steps_decide_nothing_of_what_is_known_by_step() {
    let folder = tempfile::tempdir().unwrap();
    let part = |first: i64| {
        let made = Made { seed: first as u64, steps: (first..first + 5).collect(), ..Made::default() };
        made.write(folder.path(), &format!("from{first}"))
    };
    let found = json(program().arg(part(0)).arg(part(100)));
    for name in ["pass_rate", "dead_group_share", "effective_number"] {
        let row = row(&found, name);
        assert_eq!((row["n"].as_u64(), row["ci_low"].as_f64()), (Some(5), None), "{row}");
        assert_eq!((row["finding"].as_str(), row["significant"].as_bool()), (Some("too_few"), Some(false)));
    }
}

/// A sentence never says that nothing differs where nothing could have been found, or beside an
/// interval that excludes 0.
#[test]
fn what_could_not_be_found_is_not_called_alike() {
    let folder = tempfile::tempdir().unwrap();
    // The same run three times has no scatter, so ranks are all there is.
    let same = |seed: u64, name: &str| {
        let path = Made { seed, steps: (0..8).collect(), ..Made::default() }.write(folder.path(), name);
        format!("{name}={0},{0},{0}", path.display())
    };
    let found = json(program().arg("--arm").arg(same(1, "a")).arg("--arm").arg(same(2, "b")));
    let entropy = row(&found, "entropy");
    assert_eq!(
        (entropy["test"].as_str(), entropy["finding"].as_str()),
        (Some("mann_whitney"), Some("too_few"))
    );
    close(&entropy["smallest_p"], 0.1);
    let headline = found["verdict"]["headline"].as_str().unwrap();
    assert!(
        headline.contains("too few seeds (3 a side): the smallest p that these could give is 0.10"),
        "{headline}"
    );
    // Nor in the first words of the pages.
    assert_eq!(found["verdict"]["decided"], false);
    let pages = folder.path().join("pages");
    let mut command = program();
    command.arg("--arm").arg(same(1, "a")).arg("--arm").arg(same(2, "b")).arg("--report").arg(&pages);
    command.assert().success();
    let markdown = std::fs::read_to_string(pages.join("compare.md")).unwrap();
    assert!(markdown.starts_with("# Cannot tell: a and b cannot be told apart"), "{markdown}");
    let page = std::fs::read_to_string(pages.join("compare.html")).unwrap();
    assert!(page.contains("Cannot tell") && !page.contains("No difference beyond noise"));
    for comparison in [&found, &json(program().arg(sample("grpo.parquet")).arg(sample("stapo.parquet")))] {
        for row in comparison["metrics"].as_array().unwrap() {
            let bounds = row["ci_low"].as_f64().zip(row["ci_high"].as_f64());
            let excludes = bounds.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
            assert!(!(excludes && row["finding"] == "no_difference"), "{row}");
        }
        for sentence in comparison["verdict"]["alike"].as_array().unwrap() {
            let sentence = sentence.as_str().unwrap();
            assert!(!sentence.contains('_'), "code names in prose: {sentence}");
        }
    }
}

/// Nothing seen is not the same as equal.
#[test]
fn none_seen_has_an_upper_limit() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [1, 2].map(|seed| {
        let made = Made { seed, rare: 0.0, ..Made::default() };
        made.write(folder.path(), &format!("r{seed}"))
    });
    let found = json(program().args(&paths));
    let silenced = row(&found, "silenced_ratio");
    assert_eq!((silenced["baseline"].as_f64(), silenced["finding"].as_str()), (Some(0.0), Some("none_seen")));
    let most = silenced["at_most"].as_f64().unwrap();
    let tokens = found["runs"].as_array().unwrap().iter().map(|r| r["tokens"].as_f64().unwrap());
    close(&serde_json::json!(most), 3.0 / tokens.fold(f64::INFINITY, f64::min));
    let said = found["verdict"]["alike"].as_array().unwrap().iter().any(|s| {
        let sentence = s.as_str().unwrap();
        sentence.starts_with("None seen on either side") && sentence.contains("silenced tokens (at most ")
    });
    assert!(said, "{}", found["verdict"]["alike"]);
}

/// What rounding leaves of equal rewards has no energy: steps of it are no steps to compare energies at.
#[test]
fn what_rounding_leaves_is_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let made = |seed: u64, idle: Option<(i64, f32)>, name: &str| {
        Made { seed, steps: (0..14).collect(), idle, ..Made::default() }.write(folder.path(), name)
    };
    let whole = made(1, None, "whole");
    let found = [(1e-7, "residue"), (0.0, "zero")].map(|(left, name)| {
        let found = json(program().arg(&whole).arg(made(2, Some((6, left)), name)));
        let metrics = found["metrics"].as_array().unwrap().iter();
        let shares = metrics.filter(|row| row["name"].as_str().unwrap().contains("energy_share"));
        let told = |row: &Value| {
            let fields = ["name", "baseline", "other", "n", "test", "p_value", "finding"];
            fields.map(|field| row[field].to_string()).join(" ")
        };
        shares.map(told).collect::<Vec<String>>()
    });
    assert!(found[0].len() > 5);
    assert_eq!(found[0], found[1]);
}

/// A run that its own diagnosis calls collapsed.
#[test]
fn a_run_that_collapsed_is_said() {
    let found = json(program().arg(sample("ward/healthy.parquet")).arg(sample("ward/hacked.parquet")));
    let troubles: Vec<&str> = found["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|w| w["code"] == "run_in_trouble")
        .map(|w| w["message"].as_str().unwrap())
        .collect();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(
        troubles[0].starts_with("hacked: The reward rises while what you wanted falls. "),
        "{troubles:?}"
    );
}

fn compared(runs: [(&str, &ComparedRun); 2]) -> Comparison {
    let named = runs.map(|(name, analysis)| NamedRun {
        name: name.into(),
        arm: name.into(),
        analysis: analysis.clone(),
    });
    compare_runs(&named, None, &CompareSettings { draws: 200, ..CompareSettings::default() })
}

/// Two runs that answer alike; the second pays −1 for a wrong answer.
#[test]
fn rewards_on_scales_of_their_own_are_not_called_better_or_worse() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, paid: [f32; 2], own: f64| {
        let made = Made { steps: (0..20).collect(), paid, own: (0.0, own), ..Made::default() };
        analysis(&made.write(folder.path(), name))
    };
    let of = |found: &Comparison, name: &str| {
        let row = found.metrics.iter().find(|row| row.name == name).unwrap();
        (row.p_value.is_some(), row.significant, row.difference)
    };
    let is_told = |found: &Comparison| found.warnings.iter().any(|w| w.code == CompareCode::RewardScales);
    let plain = run("plain", [0.0, 1.0], 0.0);
    let same = compared([("plain", &plain), ("better", &run("better", [0.0, 1.0], 0.3))]);
    assert!(!is_told(&same) && of(&same, "reward").1 && same.verdict.headline.contains("mean reward"));
    let scaled = compared([("plain", &plain), ("signed", &run("signed", [-1.0, 1.0], 0.0))]);
    assert!(is_told(&scaled), "{:?}", scaled.warnings);
    assert_eq!((of(&scaled, "reward").0, of(&scaled, "reward").1), (false, false));
    assert_eq!((of(&scaled, "pass_rate").1, of(&scaled, "pass_rate").2), (false, 0.0));
    assert!(!scaled.verdict.differs, "{}", scaled.verdict.headline);
    assert!(scaled.verdict.alike[0].contains("right answers (equal)"), "{:?}", scaled.verdict.alike);
    let better = compared([("plain", &plain), ("signed", &run("signed", [-1.0, 1.0], 0.3))]);
    assert!(better.verdict.headline.contains("higher share of right answers"), "{}", better.verdict.headline);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 16, ..ProptestConfig::default() })]
    /// Which run is called the baseline changes the signs, and nothing else.
    #[test]
    fn swapping_the_runs_mirrors_every_row(
        seed in 0..1_000_u64,
        (steps, others, apart) in (3..14_i64, 3..14_i64, 0..3_i64),
        (groups, prompts) in (1..6_u64, any::<bool>()),
        (rare, right) in (0.0..0.02_f64, -0.55..0.39_f64),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let made = |seed: u64, steps: Vec<i64>, right: f64| {
            Made { seed, steps, groups, prompts, rare, own: (0.0, right), ..Made::default() }
        };
        let left = made(2 * seed, (0..steps).map(|step| 4 * step).collect(), right);
        let right = made(2 * seed + 1, (0..others).map(|step| 4 * step + apart).collect(), right + 0.02);
        let left = analysis(&left.write(folder.path(), "left"));
        let right = analysis(&right.write(folder.path(), "right"));
        let (ahead, back) = (compared([("a", &left), ("b", &right)]), compared([("b", &right), ("a", &left)]));
        prop_assert_eq!(ahead.metrics.len(), back.metrics.len());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1e-3);
        let mirrored = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => near(a, -b),
            (a, b) => a == b,
        };
        for (a, b) in ahead.metrics.iter().zip(&back.metrics) {
            prop_assert_eq!((&a.name, a.finding, a.significant, a.n), (&b.name, b.finding, b.significant, b.n));
            prop_assert_eq!((a.p_value, a.p_adjusted, a.at_most), (b.p_value, b.p_adjusted, b.at_most));
            prop_assert!(near(a.baseline, b.other) && near(a.difference, -b.difference), "{a:?} {b:?}");
            prop_assert!(mirrored(a.ci_low, b.ci_high) && mirrored(a.ci_high, b.ci_low), "{a:?} {b:?}");
            prop_assert!(mirrored(a.effect, b.effect) && mirrored(a.shift, b.shift), "{a:?} {b:?}");
        }
    }
}
