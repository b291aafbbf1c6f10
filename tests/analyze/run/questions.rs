//! The off-policy ledger, groups, clipping and the rest equal what numpy and verl 0.9.1 computed.

use serde_json::Value;
use stapo_analyze::analyze::result::WarningCode;
use stapo_analyze::analyze::{AnalyzeSettings, Condition, RunAnalysis};

use super::support::{float_lists, floats, int_lists, ints, read, sample, write_parquet};
use super::{analyzed, json};
use stapo_analyze::ingest::Column;
use std::collections::BTreeMap;

/// Numbers of `reference` and ours agree to 1e-6, counts exactly; fields we do not have fail.
pub fn agree(ours: &Value, reference: &Value, place: &str) {
    match reference {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| agree(&ours[name], field, &format!("{place}.{name}")));
        }
        Value::Array(items) => {
            assert_eq!(ours.as_array().map(Vec::len), Some(items.len()), "{place}");
            let pairs = ours.as_array().unwrap().iter().zip(items);
            pairs.enumerate().for_each(|(i, (ours, item))| agree(ours, item, &format!("{place}[{i}]")));
        }
        Value::Number(number) if number.is_f64() => {
            let (a, b) =
                (ours.as_f64().unwrap_or_else(|| panic!("{place}: {ours}")), number.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-6 * b.abs() + 1e-15, "{place}: {a} {b}");
        }
        other => assert_eq!(ours, other, "{place}"),
    }
}

fn asked() -> AnalyzeSettings {
    AnalyzeSettings {
        pass: Some(Condition::parse("reward/answer>0.5").unwrap()),
        tokenizer: Some(sample("model/tokenizer.json")),
        ..AnalyzeSettings::default()
    }
}

fn run() -> RunAnalysis {
    analyzed(&[sample("async.parquet")], &asked())
}

#[test]
fn the_ledger_equals_the_reference() {
    let reference = json(&sample("reference/async_offpolicy.json"));
    let ours = run().to_value().unwrap();
    let ledger = &ours["offpolicy"];
    agree(&ledger["run"], &reference["run"], "run");
    let lags = ledger["lags"].as_array().unwrap();
    assert_eq!(lags.len(), reference["lags"].as_object().unwrap().len());
    for lag in lags {
        agree(lag, &reference["lags"][lag["lag"].to_string()], "lags");
    }
    let steps = reference["steps"].as_array().unwrap();
    assert_eq!(ledger["steps"].as_array().unwrap().len(), steps.len());
    for (ours, step) in ledger["steps"].as_array().unwrap().iter().zip(steps) {
        let mut expected = step.clone();
        let verl = expected.as_object_mut().unwrap().remove("verl").unwrap();
        agree(ours, &expected, "steps");
        agree(&as_verl_names(ours), &verl, "verl");
    }
}

/// A step of ours under the names of verl's metrics.
fn as_verl_names(step: &Value) -> Value {
    let engine = &step["engine"];
    let clamped = |verl: &str, plain: &str| match &engine[verl] {
        Value::Null => engine[plain].clone(),
        value => value.clone(),
    };
    serde_json::json!({
        "kl": -engine["mean"].as_f64().unwrap(),
        "k3_kl": engine["k3"],
        "chi2_token": clamped("verl_chi2", "chi2"),
        "chi2_seq": clamped("verl_chi2_sequence", "chi2_sequence"),
    })
}

#[test]
fn corrections_equal_the_reference() {
    let reference = json(&sample("reference/async_offpolicy.json"));
    let ours = run().to_value().unwrap();
    let rows = ours["offpolicy"]["corrections"].as_array().unwrap();
    let expected = reference["corrections"].as_object().unwrap();
    assert_eq!(rows.len(), expected.len());
    for (rule, expected) in expected {
        let mut expected = expected.clone();
        expected.as_object_mut().unwrap().remove("verl");
        let row = rows.iter().find(|row| row["rule"] == rule.as_str()).unwrap_or_else(|| panic!("{rule}"));
        agree(row, &expected, rule);
        assert!(row["energy_kept"].as_f64().is_some(), "{rule}");
    }
}

#[test]
fn the_answers_equal_the_reference() {
    let reference = json(&sample("reference/async_questions.json"));
    let ours = run().to_value().unwrap();
    agree(&ours["totals"]["gradient_energy"], &reference["gradient_energy"], "gradient_energy");
    for part in ["clipping", "kl_reference", "groups", "truncated", "slices"] {
        agree(&ours[part], &reference[part], part);
    }
}

#[test]
fn absent_columns_are_said() {
    let ours = analyzed(&[sample("grpo.parquet")], &AnalyzeSettings::default()).to_value().unwrap();
    for part in ["offpolicy", "clipping", "kl_reference", "truncated", "reward_parts"] {
        assert!(ours.get(part).is_none(), "{part}");
    }
    let open: Vec<&str> =
        ours["not_answered"].as_array().unwrap().iter().map(|open| open["part"].as_str().unwrap()).collect();
    assert_eq!(
        open,
        [
            "offpolicy.run.engine",
            "offpolicy.run.update",
            "offpolicy.lags",
            "clipping",
            "kl_reference",
            "truncated",
            "reward_parts"
        ]
    );
    // The reward is 0 or 1: what is right need not be said.
    assert_eq!(ours["groups"]["rule"], "reward>0");
}

#[test]
fn log_sums_of_800_do_not_overflow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far.parquet");
    let lists = |of: [f32; 2]| float_lists(&[&[of[0]; 40], &[of[1]; 40]]);
    let columns = vec![
        ("step", ints(&[0, 0])),
        ("group_id", ints(&[1, 1])),
        ("sample_id", ints(&[0, 1])),
        ("reward", floats(&[1.0, 0.0])),
        ("advantage", floats(&[1.0, -1.0])),
        ("token_ids", int_lists(&[&[3; 40], &[4; 40]])),
        ("logprob", lists([-21.0, -1.0])),
        ("logprob_rollout", lists([-1.0, -21.0])),
        ("entropy", lists([0.5, 0.5])),
    ];
    write_parquet(&path, columns, 10);
    let summary = analyzed(&[path], &AnalyzeSettings::default()).to_value().unwrap();
    let engine = &summary["offpolicy"]["run"]["engine"];
    agree(&engine["ess_sequence"], &0.5.into(), "ess_sequence");
    assert!(engine["mean_sequence_sum"].as_f64().unwrap().abs() < 1e-9);
    agree(&engine["geometric_mean"], &(20.0_f64.exp() / 2.0).into(), "geometric_mean");
    assert!(engine["chi2_sequence"].is_null(), "e^1600 is beyond the largest number");
    agree(&engine["verl_chi2_sequence"], &(40.0_f64.exp() / 2.0).into(), "verl_chi2_sequence");
    for row in summary["offpolicy"]["corrections"].as_array().unwrap() {
        assert!(row["mean_weight"].as_f64().is_some_and(f64::is_finite), "{row}");
    }
}

/// Two groups and two turns, with advantages of any scale.
fn scaled(scale: f32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scaled.parquet");
    let ids: [&[i32]; 4] = [&[1, 2, 3], &[1, 2, 4], &[5, 6, 7], &[5, 6, 8]];
    let lists = |of: &[[f32; 3]; 4]| float_lists(&of.each_ref().map(|row| &row[..]));
    let columns = vec![
        ("step", ints(&[0; 4])),
        ("update", ints(&[0, 1, 0, 1])),
        ("group_id", ints(&[1, 1, 2, 2])),
        ("sample_id", ints(&[0, 1, 0, 1])),
        ("reward", floats(&[1.0, 0.0, 1.0, 0.0])),
        ("advantage", floats(&[3.0, -1.0, 0.25, -0.5].map(|a| a * scale))),
        ("turn", int_lists(&[&[0, 0, 1][..]; 4])),
        ("token_ids", int_lists(&ids)),
        ("logprob", lists(&[[-1.0, -2.0, -0.5], [-0.3, -1.5, -2.5], [-1.1, -0.2, -0.9], [-0.7, -3.0, -0.1]])),
        (
            "logprob_new",
            lists(&[[-1.0, -2.0, -0.1], [-0.3, -0.5, -2.5], [-1.1, -0.2, -0.9], [-0.7, -3.0, -0.1]]),
        ),
        (
            "logprob_rollout",
            lists(&[[-1.0, -2.0, -0.4], [-0.3, -1.9, -2.5], [-4.0, -0.2, -1.0], [-0.7, -3.0, -2.0]]),
        ),
        ("entropy", lists(&[[1.2, 1.0, 0.8], [0.6, 1.1, 1.4], [0.9, 0.4, 1.0], [0.8, 1.6, 0.3]])),
    ];
    write_parquet(&path, columns, 10);
    let settings = AnalyzeSettings { vocab_size: Some(32), ..AnalyzeSettings::default() };
    analyzed(&[path], &settings).to_value().unwrap()
}

#[test]
fn shares_of_energy_do_not_depend_on_the_scale_of_advantages() {
    let usual = scaled(1.0);
    for scale in [1e-15, 1e15] {
        let ours = scaled(scale);
        agree(&ours["groups"], &usual["groups"], "groups");
        agree(&ours["slices"], &usual["slices"], "slices");
        let kept = |value: &Value| value["offpolicy"]["corrections"][1]["energy_kept"].clone();
        agree(&kept(&ours), &kept(&usual), "energy_kept");
    }
    let by_rate = usual["groups"]["by_pass_rate"].as_array().unwrap();
    assert!(by_rate.iter().any(|row| row["energy_share"].as_f64().is_some_and(|share| share > 0.0)));
}

#[test]
fn clipping_is_told_by_update_and_corrections_by_token() {
    let ours = scaled(1.0);
    let updates = ours["clipping"]["updates"].as_array().unwrap();
    assert_eq!(updates.len(), 2);
    // ln ρ is 0.4 with A > 0 in the first mini-batch, 1 with A < 0 in the second.
    assert_eq!((updates[0]["tokens"].as_u64(), updates[0]["high_positive"].as_u64()), (Some(6), Some(1)));
    assert_eq!((updates[1]["tokens"].as_u64(), updates[1]["high_negative"].as_u64()), (Some(6), Some(1)));
    let rows = ours["offpolicy"]["corrections"].as_array().unwrap();
    let row = |rule: &str| rows.iter().find(|row| row["rule"] == rule).unwrap();
    // r = e^2.9 and e^1.9 are above the cap of 2.
    let top = row("token_tis_2")["top"].as_array().unwrap();
    let ids: Vec<(i64, u64)> =
        top.iter().map(|id| (id["token_id"].as_i64().unwrap(), id["tokens"].as_u64().unwrap())).collect();
    assert_eq!(ids, [(5, 1), (8, 1)]);
    assert!(row("sequence_tis_2").get("top").is_none(), "a correction of responses hits all their tokens");
}

/// What the cases call right is what the user calls right; where nothing says it, nothing is said.
#[test]
fn cases_count_right_answers_not_rewards_above_0() {
    let path = sample("async.parquet");
    let pass = Condition::parse("reward>0.9").unwrap();
    let analysis = analyzed(
        std::slice::from_ref(&path),
        &AnalyzeSettings { pass: Some(pass), ..AnalyzeSettings::default() },
    );
    let mut right: BTreeMap<(i64, String), u32> = BTreeMap::new();
    for batch in read(&path) {
        let groups = batch.responses.ids.get(Column::GroupId).unwrap();
        let rewards = batch.responses.floats.get(Column::Reward).unwrap();
        for (index, step) in batch.responses.step.iter().enumerate() {
            let passed = u32::from(rewards[index] > 0.9);
            *right.entry((*step, groups[index].to_string())).or_default() += passed;
        }
    }
    for case in &analysis.cases.top {
        let group = (case.step, case.group_id.clone().unwrap());
        assert_eq!(case.group_passes, Some(right[&group]), "{group:?}");
    }
    assert!(right.values().any(|count| *count > 0), "some are right");
}

/// Each way to tell differences apart counts every token, the first tokens of responses one by one.
#[test]
fn every_token_has_its_place_in_the_breakdowns() {
    let path = sample("async.parquet");
    let summary = run().to_value().unwrap();
    let (breakdown, run) = (&summary["offpolicy"]["breakdown"], &summary["offpolicy"]["run"]["engine"]);
    let tokens = |rows: &Value| -> u64 {
        rows.as_array().unwrap().iter().map(|row| row["tokens"].as_u64().unwrap()).sum()
    };
    for rows in ["by_probability", "by_entropy"] {
        assert_eq!(tokens(&breakdown[rows]), run["tokens"].as_u64().unwrap(), "{rows}");
    }
    // By place among all tokens of the response: (tokens, Σ |d|).
    let mut expected = [(0_u64, 0.0_f64); 32];
    for batch in read(&path) {
        let logprob = batch.tokens.floats.get(Column::Logprob).unwrap();
        let rollout = batch.tokens.floats.get(Column::LogprobRollout).unwrap();
        for index in 0..batch.responses.step.len() {
            for (place, t) in batch.range(index).take(32).enumerate() {
                let difference = f64::from(logprob[t]) - f64::from(rollout[t]);
                if batch.mask().is_none_or(|mask| mask[t] == 1) && difference.is_finite() {
                    expected[place].0 += 1;
                    expected[place].1 += difference.abs();
                }
            }
        }
    }
    let first = breakdown["first_tokens"].as_array().unwrap();
    assert_eq!(first.len(), expected.iter().filter(|(tokens, _)| *tokens > 0).count());
    for (row, (tokens, absolute)) in first.iter().zip(expected.iter().filter(|(tokens, _)| *tokens > 0)) {
        assert_eq!(row["tokens"].as_u64(), Some(*tokens), "{row}");
        let mean_abs = row["mean_abs"].as_f64().unwrap();
        assert!((mean_abs - absolute / *tokens as f64).abs() < 1e-9 + 1e-6 * mean_abs, "{row}");
    }
}

/// The bonus for the format makes every reward positive, and rewards take three values.
#[test]
fn what_passed_is_what_is_right_not_any_reward_above_zero() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("parts.parquet");
    let rare = [-0.1, -9.0, -0.1, -0.2];
    let entropies = [0.5, 0.01, 0.6, 0.7];
    let columns = |answer: [f32; 4]| {
        vec![
            ("step", ints(&[0; 4])),
            ("group_id", ints(&[7; 4])),
            ("token_ids", int_lists(&[&[1, 2, 3, 4], &[1, 3, 2, 4], &[4, 2, 3, 1], &[3, 2, 1, 4]])),
            ("logprob", float_lists(&[&rare[..]; 4])),
            ("entropy", float_lists(&[&entropies[..]; 4])),
            ("advantage", floats(&[1.0, -1.0, -1.0, 1.0])),
            ("reward", floats(&[1.2, 0.2, 0.2, 0.7])),
            ("reward/answer", floats(&answer)),
            ("reward/format", floats(&[1.0; 4])),
        ]
    };
    let passes = |pass: Option<&str>| {
        let pass = pass.map(|pass| Condition::parse(pass).unwrap());
        let found =
            analyzed(std::slice::from_ref(&path), &AnalyzeSettings { pass, ..AnalyzeSettings::default() });
        assert!(!found.cases.top.is_empty());
        let groups = found.answers.groups.as_ref();
        let rate = groups.map(|groups| (groups.rule.clone(), 4.0 * groups.pass_rate));
        (rate, found.cases.top[0].group_passes)
    };
    let by = |rule: &str, right: u32| (Some((rule.to_owned(), f64::from(right))), Some(right));
    write_parquet(&path, columns([1.0, 0.0, 0.0, 1.0]), 8);
    assert_eq!(passes(None), by("reward/answer>0", 2));
    assert_eq!(passes(Some("reward>1")), by("reward>1", 1));
    assert_eq!(passes(Some("reward/format>0.5")), by("reward/format>0.5", 4));
    write_parquet(&path, columns([0.3, -0.3, -0.3, -0.3]), 8);
    assert_eq!(passes(None), by("reward/answer>-0.3", 1));
    // A grade: nothing says where it turns into right.
    write_parquet(&path, columns([1.0, 0.0, 0.5, 0.7]), 8);
    assert_eq!(passes(None), (None, None));
}

/// Each part is 0 in the groups of the other task: alone, it calls every answer to that task wrong.
#[test]
fn parts_of_two_tasks_leave_what_is_right_to_the_reward() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.parquet");
    let write = |parts: [&'static str; 2], bonus: f32| {
        let n = 64;
        let of = |value: &dyn Fn(usize) -> f32| floats(&(0..n).map(value).collect::<Vec<f32>>());
        let right = |i: usize| f32::from(u8::from(!i.is_multiple_of(3)));
        let task = |i: usize, task: usize| if i / 4 % 2 == task { right(i) } else { 0.0 };
        let groups: Vec<i64> = (0..n as i64).map(|i| i / 4).collect();
        let columns = vec![
            ("step", ints(&vec![0; n])),
            ("group_id", ints(&groups)),
            ("token_ids", int_lists(&vec![&[1, 2, 3][..]; n])),
            ("logprob", float_lists(&vec![&[-0.1, -0.5, -0.2][..]; n])),
            ("entropy", float_lists(&vec![&[0.5, 0.1, 0.6][..]; n])),
            ("advantage", of(&|i| right(i) - 0.5)),
            ("reward", of(&|i| right(i) + bonus * f32::from(u8::from(i % 5 == 0)))),
            (parts[0], of(&|i| task(i, 0))),
            (parts[1], of(&|i| task(i, 1))),
        ];
        write_parquet(&path, columns, 8);
        let found = analyzed(std::slice::from_ref(&path), &AnalyzeSettings::default());
        let groups = found.answers.groups.as_ref();
        groups.map(|groups| (groups.rule.clone(), (groups.pass_rate * 64.0).round()))
    };
    let names = [
        ["reward/code_correct", "reward/math_correct"],
        ["reward/math_pass", "reward/code_pass"],
        ["reward/math_em", "reward/qa_em"],
    ];
    for parts in names {
        assert_eq!(write(parts, 0.0), Some(("reward>0".into(), 42.0)), "{parts:?}");
        // With a bonus no single value says it, and a part alone would be wrong: nothing is said.
        assert_eq!(write(parts, 0.1), None, "{parts:?}");
    }
}

/// Rewards of 4 groups of 4 responses of one step; `rows` says which rows each has: update, first and last turn.
fn grouped_rows(rows: &[(i64, i32)]) -> RunAnalysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    let all: Vec<(i64, (i64, i32))> = (0..16).flat_map(|i| rows.iter().map(move |row| (i, *row))).collect();
    let ints_of = |of: &dyn Fn(i64, i64) -> i64| {
        ints(&all.iter().map(|(i, (update, _))| of(*i, *update)).collect::<Vec<i64>>())
    };
    let floats_of = |of: &dyn Fn(i64) -> f32| floats(&all.iter().map(|(i, _)| of(*i)).collect::<Vec<f32>>());
    // A right one in the first group, two in the second, …: rows in which right answers are longer weigh more.
    let right = |i: i64| f32::from(u8::from(i % 4 <= i / 4));
    let ids: Vec<Vec<i32>> = all.iter().map(|(i, (_, turn))| vec![1, *i as i32, *turn, 2]).collect();
    let turns: Vec<Vec<i32>> = all.iter().map(|(_, (_, turn))| vec![*turn; 4]).collect();
    let columns = vec![
        ("step", ints_of(&|_, _| 0)),
        ("update", ints_of(&|i, update| 2 * update + i % 2)),
        ("group_id", ints_of(&|i, _| i / 4)),
        ("sample_id", ints_of(&|i, _| i % 4)),
        ("token_ids", int_lists(&ids.iter().map(Vec::as_slice).collect::<Vec<_>>())),
        ("turn", int_lists(&turns.iter().map(Vec::as_slice).collect::<Vec<_>>())),
        ("logprob", float_lists(&vec![&[-0.1, -0.5, -0.2, -0.9][..]; all.len()])),
        ("entropy", float_lists(&vec![&[0.5, 0.1, 0.6, 0.2][..]; all.len()])),
        ("advantage", floats_of(&|i| right(i) - 0.5)),
        ("reward", floats_of(&right)),
    ];
    write_parquet(&path, columns, 8);
    analyzed(std::slice::from_ref(&path), &AnalyzeSettings::default())
}

/// Three epochs are three rows of a response, two turns are two: its group has four responses all the same.
#[test]
fn a_response_of_several_rows_is_counted_once_in_its_group() {
    let one = grouped_rows(&[(0, 0)]);
    assert!(!one.warnings.iter().any(|warning| warning.code == WarningCode::SeveralRows));
    let groups = |run: &RunAnalysis| {
        let groups = run.answers.groups.clone().unwrap();
        let steps: Vec<_> = groups.steps.iter().map(|step| (step.pass_rate, step.pass_at.clone())).collect();
        (groups.counts, groups.pass_rate, groups.pass_at, groups.pass_at_interval, steps)
    };
    assert_eq!(groups(&one).2.keys().copied().collect::<Vec<_>>(), [1, 2, 4]);
    for (rows, count) in [
        (&[(0, 0), (1, 0), (2, 0)][..], 48.0),
        (&[(0, 0), (0, 1)], 32.0),
        (&[(0, 0), (1, 0), (0, 1), (1, 1)], 64.0),
    ] {
        let several = grouped_rows(rows);
        assert_eq!(groups(&several), groups(&one), "{rows:?}");
        let told = several.warnings.iter().find(|warning| warning.code == WarningCode::SeveralRows).unwrap();
        let values: Vec<f64> = told.evidence.iter().map(|evidence| evidence.value).collect();
        assert_eq!(values[..2], [count, 16.0], "{told:?}");
    }
}
