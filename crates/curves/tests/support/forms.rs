//! One run in each form that trainers and trackers write, as faithful as the real files: colours, prefixes, numbers as
//! texts, rows that are no rows.

use std::fmt::Write as _;

/// A row of a training: reward, KL, length, a part, and a held-out score each fifth step.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub step: u32,
    pub reward: f64,
    pub kl: f64,
    pub length: f64,
    pub correct: f64,
    pub held_out: Option<f64>,
}

/// A run that learns, without noise but for a small saw.
pub fn learned(rows: u32) -> Vec<Row> {
    let value = |step: u32| {
        let t = f64::from(step) / f64::from(rows);
        let saw = f64::from(step * 7 % 5) / 100.0;
        let reward = ((0.2 + 0.5 * (1.0 - (-4.0 * t).exp()) + saw) * 1000.0).round() / 1000.0;
        Row {
            step,
            reward,
            kl: (f64::from(step) * 2.0).round() / 1000.0,
            length: 300.0 + f64::from(step),
            correct: ((reward - 0.05) * 1000.0).round() / 1000.0,
            held_out: step.is_multiple_of(5).then_some(((0.3 + 0.2 * t) * 1000.0).round() / 1000.0),
        }
    };
    (1..=rows).map(value).collect()
}

/// `trainer_state.json` of transformers: rows of TRL, rows of evaluation between, a row that sums up.
pub fn trainer_state(rows: &[Row]) -> String {
    let mut history = Vec::new();
    for row in rows {
        let Row { step, reward, kl, length, correct, .. } = row;
        history.push(format!(
            r#"{{"completions/mean_length": {length}, "completions/clipped_ratio": 0.0, "epoch": 0.{step:04}, "kl": {kl},
      "learning_rate": 1e-06, "reward": {reward}, "rewards/correct/mean": {correct}, "rewards/code/mean": NaN, "step": {step}}}"#
        ));
        if let Some(score) = row.held_out {
            history.push(format!(
                r#"{{"epoch": 0.{step:04}, "eval_accuracy": {score}, "eval_runtime": 12.5, "step": {step}}}"#
            ));
        }
    }
    let last = rows.last().map_or(0, |row| row.step);
    history.push(format!(
        r#"{{"step": {last}, "train_runtime": 4760.1, "train_loss": 0.01, "total_flos": 0.0}}"#
    ));
    let history = history.join(",\n    ");
    format!(
        "{{\n  \"best_metric\": null,\n  \"global_step\": {last},\n  \"log_history\": [\n    {history}\n  ]\n}}\n"
    )
}

fn object(row: &Row) -> String {
    let Row { step, reward, kl, length, correct, .. } = row;
    let held_out = row.held_out.map_or(String::new(), |score| format!(", \"eval/accuracy\": {score}"));
    format!(
        r#"{{"step": {step}, "reward": {{"mean": {reward}}}, "kl": {kl}, "response_length": {length}, "rewards/correct": {correct}, "tags": ["a"]{held_out}}}"#
    )
}

pub fn json_lines(rows: &[Row]) -> String {
    rows.iter().map(|row| object(row) + "\n").collect()
}

pub fn json_array(rows: &[Row]) -> String {
    format!("[\n{}\n]\n", rows.iter().map(object).collect::<Vec<_>>().join(",\n"))
}

/// An object whose keys are the columns.
pub fn json_columns(rows: &[Row]) -> String {
    let list = |value: &dyn Fn(&Row) -> String| rows.iter().map(value).collect::<Vec<_>>().join(", ");
    let held_out = |row: &Row| row.held_out.map_or("null".into(), |score| score.to_string());
    format!(
        r#"{{"name": "a", "step": [{}], "reward": [{}], "kl": [{}], "response_length": [{}], "rewards/correct": [{}], "eval/accuracy": [{}]}}"#,
        list(&|r| r.step.to_string()),
        list(&|r| r.reward.to_string()),
        list(&|r| r.kl.to_string()),
        list(&|r| r.length.to_string()),
        list(&|r| r.correct.to_string()),
        list(&held_out)
    )
}

pub fn csv(rows: &[Row]) -> String {
    let mut out = "step,reward,kl,response_length,rewards/correct,eval/accuracy,note\n".to_owned();
    for Row { step, reward, kl, length, correct, held_out } in rows {
        let held_out = held_out.map_or(String::new(), |score| score.to_string());
        let _ = writeln!(out, "{step},{reward},{kl},{length},{correct},{held_out},\"a, b\"");
    }
    out
}

/// An export of Weights & Biases: a column a run and number with its band, quoted numbers, an empty last row, and runs
/// of different length.
pub fn wandb(runs: &[(&str, &[Row])], metrics: &[&str]) -> String {
    let mut columns = vec!["Step".to_owned()];
    for (run, _) in runs {
        for metric in metrics {
            columns.extend(["", "__MIN", "__MAX"].map(|band| format!("{run} - {metric}{band}")));
        }
    }
    let quoted =
        |cells: &[String]| cells.iter().map(|c| format!("\"{c}\"")).collect::<Vec<_>>().join(",") + "\n";
    let mut out = quoted(&columns);
    let longest = runs.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0);
    for at in 0..longest {
        let mut cells = vec![(at + 1).to_string()];
        for (_, rows) in runs {
            for metric in metrics {
                let value = |row: &Row| match *metric {
                    "train/reward" => row.reward.to_string(),
                    "train/kl" => row.kl.to_string(),
                    "train/completion_length" => row.length.to_string(),
                    "train/rewards/correct" => row.correct.to_string(),
                    _ => row.held_out.map_or(String::new(), |score| score.to_string()),
                };
                let cell = rows.get(at).map_or(String::new(), value);
                cells.extend([cell.clone(), cell.clone(), cell]);
            }
        }
        out += &quoted(&cells);
    }
    out + "\"\"\n"
}

/// verl's console: Ray's prefix, colours, a name that holds `step:`, NumPy's numbers, rollouts between the steps.
pub fn verl(rows: &[Row]) -> String {
    let mut out =
        "{'actor_rollout_ref': {'model': 'x'}}\nstep:0 - val-core/gsm8k/acc/mean@1:np.float64(0.3)\n"
            .to_owned();
    for Row { step, reward, kl, length, correct, held_out } in rows {
        let held_out =
            held_out.map_or(String::new(), |s| format!(" - val-core/gsm8k/acc/mean@1:np.float64({s})"));
        let _ = writeln!(
            out,
            "(TaskRunner pid=7) [response] think step by step:\n(TaskRunner pid=7) x = {{1, 2}}"
        );
        let _ = writeln!(
            out,
            "\u{1b}[36m(TaskRunner pid=7)\u{1b}[0m training/global_step:{step} - step:{step} - actor/kl_loss:{kl} - \
             critic/score/mean:{reward} - response_length/mean:{length:.3} - rewards/correct:{correct} - \
             timing_s/step:12.5{held_out}"
        );
    }
    out
}

/// TRL's console: dicts between progress bars, numbers as texts, dicts that are no rows, no step.
pub fn trl(rows: &[Row]) -> String {
    let mut out = "config: {'seed': 1, 'model': 'x'}\n".to_owned();
    for Row { step, reward, kl, length, correct, held_out } in rows {
        let _ = write!(out, "\r {step}%|█   | {step}/100 [00:12<00:10]");
        let _ = writeln!(
            out,
            "{{'loss': 0.1, 'completion_length': {length}, 'kl': {kl}, 'reward': '{reward}', 'rewards/correct': {correct}, 'epoch': {:.3}}}",
            f64::from(*step) / 100.0
        );
        if let Some(score) = held_out {
            let _ = writeln!(
                out,
                "{{'eval_loss': 0.2, 'eval_accuracy': {score}, 'eval_length': 1.0, 'epoch': {:.3}}}",
                f64::from(*step) / 100.0
            );
        }
    }
    out + "{'train_runtime': 1234.5, 'train_loss': 0.1, 'epoch': 1.0}\n"
}
