//! Each form gives the same curves, with what real files hold beside them.

#![allow(clippy::unwrap_used)]

#[path = "support/forms.rs"]
mod forms;

use forms::{Row, learned};
use stapo_curves::{
    CanonicalName, CurveRun, Curves, Names, ReadOptions, RunState, join_bytes, judge, read_bytes,
};

fn read(name: &str, text: &str) -> Curves {
    read_bytes(name, text.as_bytes(), &ReadOptions::default()).unwrap()
}

fn only(name: &str, text: &str) -> CurveRun {
    let curves = read(name, text);
    assert_eq!(curves.runs.len(), 1, "{name}");
    curves.runs.into_iter().next().unwrap()
}

fn values(run: &CurveRun, name: CanonicalName) -> &[f64] {
    &run.series[&name].values
}

fn assert_is(run: &CurveRun, rows: &[Row], name: &str) {
    let of = |value: fn(&Row) -> f64| rows.iter().map(value).collect::<Vec<f64>>();
    assert_eq!(values(run, CanonicalName::Reward), of(|row| row.reward), "{name}");
    assert_eq!(values(run, CanonicalName::Kl), of(|row| row.kl), "{name}");
    assert_eq!(values(run, CanonicalName::Length), of(|row| row.length), "{name}");
    assert_eq!(run.parts[0].values, of(|row| row.correct), "{name}");
    let held_out: Vec<f64> = rows.iter().filter_map(|row| row.held_out).collect();
    assert_eq!(run.held_out.len(), 1, "{name}");
    assert!(run.held_out[0].values.ends_with(&held_out), "{name}: {:?}", run.held_out[0]);
    assert!(run.from_start, "{name}");
    let verdict = judge(run);
    assert_eq!(verdict.state, RunState::Healthy, "{name}: {}", verdict.sentence);
    assert_eq!(verdict.sentence, "The reward rose from 0.31 to 0.71 and held.", "{name}");
}

#[test]
fn each_form_gives_the_same_curves() {
    let rows = learned(60);
    let files = [
        ("trainer_state.json", forms::trainer_state(&rows)),
        ("metrics.jsonl", forms::json_lines(&rows)),
        ("rows.json", forms::json_array(&rows)),
        ("columns.json", forms::json_columns(&rows)),
        ("rows.csv", forms::csv(&rows)),
        ("verl.log", forms::verl(&rows)),
    ];
    for (name, text) in &files {
        let run = only(name, text);
        assert_eq!(
            run.series[&CanonicalName::Reward].steps,
            (1..=60).map(f64::from).collect::<Vec<_>>(),
            "{name}"
        );
        assert_is(&run, &rows, name);
    }
}

#[test]
fn rows_are_found_below_any_key() {
    let rows = learned(60);
    let array = forms::json_array(&rows);
    let run =
        only("run.json", &format!("{{\"total\": 60, \"config\": {{\"lr\": 1e-6}}, \"steps\": {array}}}"));
    assert_is(&run, &rows, "steps");
    let deep =
        format!("{{\"run\": {{\"history\": {array}, \"evals\": [{{\"step\": 1, \"accuracy\": 0.5}}]}}}}");
    let run = only("run.json", &deep);
    assert_is(&run, &rows, "history");
    assert_eq!(run.notes, ["read from `run/history`; left out: `run/evals`"]);
}

#[test]
fn objects_of_columns_under_names_are_runs() {
    let text = r#"{"a": {"steps": [1, 2, 3, 4], "reward": [0.1, 0.2, 0.3, 0.4], "rewards": {"x": [1, 2, 3, 4]}, "q": [9]},
      "b": {"steps": [10, 20], "reward": [0.5, 0.6], "value_losses": [0.1], "loss": [3]}}"#;
    let curves = read("x.json", text);
    let found: Vec<_> =
        curves.runs.iter().map(|r| (r.name.as_str(), values(r, CanonicalName::Reward))).collect();
    assert_eq!(found, [("a", &[0.1, 0.2, 0.3, 0.4][..]), ("b", &[0.5, 0.6])]);
    assert_eq!(curves.runs[0].parts[0].column, "rewards/x");
    assert_eq!(curves.runs[1].steps, [10.0, 20.0]);
    assert_eq!(curves.runs[1].notes, ["`loss` left out: it has 1 values, the run has 2 rows"]);
}

#[test]
fn rows_of_responses_are_left_out() {
    let text = "{\"step\": 1, \"reward\": 0.5}\n{\"step\": 1, \"prompt\": \"a\", \"reward\": 1}\n{\"step\": 2, \"reward\": 0.6}\n";
    let run = only("x.jsonl", text);
    assert_eq!(values(&run, CanonicalName::Reward), [0.5, 0.6]);
    assert_eq!(run.notes, ["1 row of responses left out"]);
}

#[test]
fn a_step_may_say_how_many_there_will_be() {
    let row = |step: u32| format!("{{\"global_step/max_steps\": \"{step}/40\", \"reward\": 0.{step:02}}}\n");
    let run = only("logging.jsonl", &(1..=9).map(row).collect::<String>());
    assert_eq!(run.steps, (1..=9).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn a_number_that_goes_up_and_down_is_no_step() {
    let row = |at: u32| format!("{at},{},0.{at:02}\n", at * 7 % 5);
    let run = only("x.csv", &format!("row,steps,reward\n{}", (0..20).map(row).collect::<String>()));
    assert_eq!(run.notes, ["no step: rows counted"]);
}

#[test]
fn of_a_file_that_was_cut_the_whole_rows_are_read() {
    let whole = forms::trainer_state(&learned(9));
    let run = only("trainer_state.json", &whole[..whole.len() / 2]);
    assert!(run.steps.len() >= 3 && run.steps.len() < 9, "{:?}", run.steps);
    assert!(
        run.notes[0].starts_with("the file breaks off, its whole rows were read: EOF"),
        "{:?}",
        run.notes
    );
}

#[test]
fn dicts_that_a_terminal_broke_are_joined() {
    let rows = learned(60);
    let wrapped: String = forms::trl(&rows)
        .split('\n')
        .flat_map(|line| line.as_bytes().chunks(60).chain([&[][..]].into_iter().filter(|_| line.is_empty())))
        .map(|part| String::from_utf8_lossy(part) + "\n")
        .collect();
    let run = only("trl.log", &wrapped);
    assert_eq!(values(&run, CanonicalName::Reward), rows.iter().map(|r| r.reward).collect::<Vec<_>>());
}

#[test]
fn a_step_before_a_dict_is_its_step() {
    let rows = |step: u32| {
        format!(
            "(A pid=1) utils.py:52 - rollout {step}: {{'rollout/raw_reward': 0.{step:02}, 'rollout/response_lengths': 9.0}}\n\
             (B pid=2) utils.py:9 - step {step}: {{'train/loss': 0.1, 'train/grad_norm': 0.4, 'train/step': {step}}}\n"
        )
    };
    let run = only("x.log", &(3..=14).map(rows).collect::<String>());
    assert_eq!(run.steps, (3..=14).map(f64::from).collect::<Vec<_>>());
    assert_eq!(values(&run, CanonicalName::Reward).len(), 12);
    assert_eq!(values(&run, CanonicalName::Loss).len(), 12);
}

#[test]
fn a_table_of_runs_holds_no_curve() {
    let text = "run_name,num_rollouts,final_validation_accuracy\na,10,0.3\nb,20,0.4\nc,5,0.1\n";
    let error = read_bytes("x.csv", text.as_bytes(), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "x.csv: one row for each of 3 runs, and no curve");
}

#[test]
fn rows_of_evaluation_are_held_out() {
    let rows = |step: u32| {
        let eval =
            format!("{{\"type\": \"eval\", \"grpo_step\": {step}, \"reward\": 0.9, \"eval_seconds\": 60}}\n");
        let rollout = format!("{{\"type\": \"rollout\", \"grpo_step\": {step}, \"reward\": 0.{step:02}}}\n");
        let train = format!("{{\"type\": \"train\", \"grpo_step\": {step}, \"loss\": 0.1}}\n");
        if step.is_multiple_of(4) { eval + &rollout + &train } else { rollout + &train }
    };
    let run = only("metrics.jsonl", &(1..=24).map(rows).collect::<String>());
    let expected: Vec<f64> = (1..=24).map(|step| f64::from(step) / 100.0).collect();
    assert_eq!(values(&run, CanonicalName::Reward), expected);
    assert_eq!(run.series[&CanonicalName::Reward].steps.last(), Some(&24.0));
    let held_out: Vec<_> = run.held_out.iter().map(|score| (&*score.column, score.values.len())).collect();
    assert_eq!(held_out, [("eval/reward", 6)]);
}

#[test]
fn a_column_of_texts_under_which_steps_begin_anew_names_the_runs() {
    let row = |arm: &str, step: u32| format!("{arm},{step},0.{step:02},warm\n");
    let text: String = ["a", "b"].iter().flat_map(|arm| (1..=12).map(|step| row(arm, step))).collect();
    let curves = read("x.csv", &format!("arm,step,reward,phase\n{text}"));
    let found: Vec<_> = curves.runs.iter().map(|run| (run.name.as_str(), run.steps.len())).collect();
    assert_eq!(found, [("a", 12), ("b", 12)]);
    // Rows of one run under two phases: its steps go on.
    let row = |step: u32| format!("{},{step},0.{step:02}\n", if step < 8 { "warm" } else { "main" });
    let run = only("x.csv", &format!("phase,step,reward\n{}", (1..=20).map(row).collect::<String>()));
    assert_eq!(run.steps.len(), 20);
}

#[test]
fn zeros_where_nothing_was_validated_are_no_scores() {
    let row = |step: u32| {
        let (accuracy, reward) = if step.is_multiple_of(5) { ("0.3", "0.3") } else { ("", "0.0") };
        format!("{step},0.{step:02},{accuracy},{reward}\n")
    };
    let text: String = (1..=40).map(row).collect();
    let run = only("x.csv", &format!("step,rollout_reward_mean,val_accuracy,val_mean_reward\n{text}"));
    assert_eq!(values(&run, CanonicalName::Reward).len(), 40);
    assert!(run.held_out.iter().all(|score| score.values == [0.3; 8]), "{:?}", run.held_out);
}

#[test]
fn a_console_without_steps_counts_its_rows() {
    let rows = learned(60);
    let run = only("trl.log", &forms::trl(&rows));
    assert_eq!(run.notes, ["no step: rows counted"]);
    assert_eq!(values(&run, CanonicalName::Reward), rows.iter().map(|r| r.reward).collect::<Vec<_>>());
    assert_eq!(run.held_out[0].values.len(), 12);
    assert_eq!(judge(&run).state, RunState::Healthy);
}

const METRICS: [&str; 5] =
    ["train/reward", "train/kl", "train/completion_length", "train/rewards/correct", "eval/accuracy"];

#[test]
fn an_export_holds_several_runs_of_different_length() {
    let (long, short) = (learned(60), learned(20));
    let curves = read("export.csv", &forms::wandb(&[("grpo - a", &long), ("b", &short)], &METRICS));
    let names: Vec<&str> = curves.runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["grpo - a", "b"]);
    assert_is(&curves.runs[0], &long, "export");
    assert_eq!(values(&curves.runs[1], CanonicalName::Reward).len(), 20);
    assert_eq!(curves.run(Some("b")).unwrap().name, "b");
    let refused = curves.run(None).unwrap_err();
    assert_eq!(refused.to_string(), "the file holds 2 runs");
    assert!(refused.hint().unwrap().contains("grpo - a, b: choose one with --run NAME"));
}

#[test]
fn one_metric_a_file_is_joined_by_step() {
    let rows = learned(60);
    let texts = METRICS.map(|metric| forms::wandb(&[("a", &rows)], &[metric]));
    let files: Vec<(&str, &[u8])> = texts.iter().map(|text| ("x.csv", text.as_bytes())).collect();
    let curves = join_bytes(&files, &ReadOptions::default()).unwrap();
    assert_eq!(curves.runs.len(), 1);
    assert_is(&curves.runs[0], &rows, "joined");
}

#[test]
fn a_run_in_two_files_that_overlap_is_the_second_from_there_on() {
    let (first, second) = ("step,reward\n1,0.1\n2,0.2\n3,0.3\n4,0.4\n", "step,reward\n3,0.7\n4,0.8\n5,0.9\n");
    let files = [("a.csv", first.as_bytes()), ("b.csv", second.as_bytes())];
    let curves = join_bytes(&files, &ReadOptions::default()).unwrap();
    assert_eq!(values(&curves.runs[0], CanonicalName::Reward), [0.1, 0.2, 0.7, 0.8, 0.9]);
    assert_eq!(curves.runs[0].notes, ["resumed at step 3"]);
}

#[test]
fn a_column_run_tells_runs_apart() {
    let curves = read("x.csv", "run,step,reward\na,1,0.1\nb,1,0.5\na,2,0.2\nb,2,0.6\n");
    let found: Vec<_> =
        curves.runs.iter().map(|r| (r.name.as_str(), values(r, CanonicalName::Reward))).collect();
    assert_eq!(found, [("a", &[0.1, 0.2][..]), ("b", &[0.5, 0.6])]);
}

#[test]
fn the_last_start_of_ten_rows_is_the_run() {
    let row = |step: usize| format!("{{\"step\": {step}, \"reward\": {}}}\n", step as f64 / 10.0);
    let starts = |lengths: &[usize]| lengths.iter().flat_map(|n| (0..*n).map(row)).collect::<String>();
    let run = only("x.jsonl", &starts(&[6, 29]));
    assert_eq!(run.steps.len(), 29);
    assert_eq!(run.notes, ["other starts left out: 6 rows (0..5)"]);
    assert_eq!(only("x.jsonl", &starts(&[29, 3])).steps.len(), 29);
    let run = only("x.jsonl", &starts(&[3, 12, 9, 2]));
    assert_eq!(run.steps.len(), 12);
    assert_eq!(run.notes, ["other starts left out: 3 rows (0..2), 9 rows (0..8), 2 rows (0..1)"]);
}

#[test]
fn a_last_row_in_other_columns_is_left_out() {
    let rows: String = (1..=20).map(|s| format!("{s},0.5,0.{s:02},0.1,1e-6,0.2\n")).collect();
    let run = only("x.csv", &format!("step,loss,reward,kl,lr,entropy\n{rows}21,4760.2,,,,\n"));
    assert_eq!(run.steps.last(), Some(&20.0));
    assert_eq!(run.notes, ["last row is short or shifted: left out"]);
}

#[test]
fn of_a_step_that_stands_twice_the_first_value_counts() {
    let run = only("x.csv", "Step,train/global_step,reward,kl\n0,1,0.1,\n1,1,0.9,0.5\n2,2,0.2,0.6\n3,,,\n");
    assert_eq!(values(&run, CanonicalName::Reward), [0.1, 0.2]);
    assert_eq!(values(&run, CanonicalName::Kl), [0.5, 0.6]);
}

#[test]
fn values_that_stay_for_rows_are_counted_once() {
    let rows: String = (0..200).map(|s| format!("{s},{}\n", f64::from(s / 10) * 0.013)).collect();
    let run = only("x.csv", &format!("step,reward\n{rows}"));
    assert_eq!(values(&run, CanonicalName::Reward).len(), 20);
    assert_eq!(run.notes, ["reward: 200 rows hold 20 values"]);
}

#[test]
fn numbers_that_end_are_not_finite() {
    let row = |s: u32| {
        let loss = if s < 15 { "0.5".to_owned() } else { "NaN".to_owned() };
        format!("{{\"step\": {s}, \"reward\": 0.{s:02}, \"loss\": {loss}}}\n")
    };
    let run = only("x.jsonl", &(1..=20).map(row).collect::<String>());
    let verdict = judge(&run);
    assert_eq!(verdict.state, RunState::NotFinite);
    assert_eq!(verdict.sentence, "loss is NaN or infinite from step 15 to the end.");
}

#[test]
fn unknown_names_are_told_and_mapped() {
    let text = "step,points,banana,loss\n1,0.5,7,1\n2,0.6,8,1\n3,0.7,x,1\n4,0.8,9,1\n";
    let run = only("x.csv", text);
    assert_eq!(run.unknown, ["banana", "points"]);
    let names = Names::with_map(&["reward=points".into()]).unwrap();
    let curves =
        read_bytes("x.csv", text.as_bytes(), &ReadOptions { names, ..ReadOptions::default() }).unwrap();
    assert_eq!(values(&curves.runs[0], CanonicalName::Reward), [0.5, 0.6, 0.7, 0.8]);
    assert_eq!(curves.runs[0].unknown, ["banana"]);
}

#[test]
fn what_is_left_out_is_told_with_its_place() {
    let run = only("x.csv", "step,reward\n1,0.5\n2,later\n3,0.7,8,9\n4,0.8\n");
    assert_eq!(
        run.notes,
        [
            "1 row left out with more values than the header has columns; the first is line 4 with 4 for 2",
            "column `reward`: 1 value that is no number; the first in row 2: `later`"
        ]
    );
    let run = only(
        "x.jsonl",
        "{\"step\": 1, \"reward\": 0.5}\nnoise\n{\"step\": 2, \"reward\": 0.6}\n{\"step\": 3, \"rew",
    );
    assert_eq!(run.notes, ["2 lines left out that are no JSON objects; the first is line 2"]);
    assert_eq!(values(&run, CanonicalName::Reward), [0.5, 0.6]);
}

#[test]
fn files_without_curves_are_refused_with_what_to_do() {
    let refused = |name: &str, text: &str| {
        let error = read_bytes(name, text.as_bytes(), &ReadOptions::default()).unwrap_err();
        (error.to_string(), error.hint().unwrap())
    };
    assert_eq!(refused("x.csv", " \n").0, "x.csv: the file is empty");
    let (message, hint) = refused("x.csv", "a,b\n1,2\n");
    assert_eq!(message, "x.csv: 1 row, and no column is known (a, b)");
    assert!(hint.ends_with("name a column with --map reward=COLUMN"), "{hint}");
    let cut = "{\"log_history\": [\n{\"step\": 1";
    assert!(refused("trainer_state.json", cut).0.contains("trainer_state.json: no JSON: EOF while parsing"));
    assert!(refused("x.log", "nothing here\n").0.contains("x.log: it has no rows of numbers"));
    let few = ReadOptions { memory: 2_000, ..ReadOptions::default() };
    let error = read_bytes("x.csv", forms::csv(&learned(30)).as_bytes(), &few).unwrap_err();
    assert_eq!(error.to_string(), "x.csv: row 12: curves of more than 2.0 kB");
}
