#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use super::*;
use crate::json::parse::Parser;
use crate::schema::raw_field::RawField;

/// The dialect of a row, and its responses.
fn adapt(json: &str) -> (Dialect, Vec<Result<Object, Bad>>) {
    let Field::Object(row) = Parser::default().parse(json.as_bytes()).unwrap() else { panic!("{json}") };
    let fields: Vec<_> = row.iter().map(|(n, v)| RawField::new(n, v.shape())).collect();
    let dialect = refine(Dialect::detect(&fields), std::iter::once(&row));
    let mut context = Context::new(Path::new("dir/groups_7.jsonl.gz"));
    context.row = 3;
    (dialect, responses(dialect, row, &context).collect())
}

fn good(json: &str, expected: Dialect) -> Vec<Object> {
    let (dialect, rows) = adapt(json);
    assert_eq!(dialect, expected);
    rows.into_iter().map(Result::unwrap).collect()
}

fn bad(json: &str) -> Bad {
    adapt(json).1.into_iter().find_map(Result::err).expect("an error")
}

/// Numbers or flags of a column; missing ones are -1000.
fn list(row: &Object, column: &str) -> Vec<f64> {
    let field = row.get(column).unwrap_or_else(|| panic!("no {column} in {row:?}")).clone();
    let numbers = field.into_numbers().unwrap_or_else(|| panic!("{column} is no list"));
    numbers.into_iter().map(|v| if v.is_nan() { -1000.0 } else { v }).collect()
}

const NONE: f64 = -1000.0;

fn text<'a>(row: &'a Object, column: &str) -> &'a str {
    match row.get(column) {
        Some(Field::Text(t)) => t,
        other => panic!("{column}: {other:?}"),
    }
}

#[test]
fn nemo_rows_are_unwrapped_and_cut() {
    let row = |sample: f64| {
        format!(
            r#"{{"content":["hi"],"rewards":[1.0],"input_lengths":[5],"token_ids":[[1,2,3,4,5,0,0]],
            "token_loss_mask":[[0,0,1,0,1,0,0]],"sample_loss_mask":[{sample}],
            "advantages":[[0.5,0.5,0.5,0.5,0.5,0.5,0.5]],
            "generation_logprobs":[[0,0,-0.1,0,-0.2,0,0]],"prev_logprobs":[[0,-1,-0.3,-2,-0.4,0,0]],"idx":4}}"#
        )
    };
    let rows = good(&row(1.0), Dialect::NemoRl);
    assert_eq!(rows.len(), 1);
    assert_eq!(list(&rows[0], "prompt_ids"), [1.0, 2.0]);
    assert_eq!(list(&rows[0], "token_id"), [3.0, 4.0, 5.0]);
    assert_eq!(list(&rows[0], "mask"), [1.0, 0.0, 1.0]);
    assert_eq!(list(&rows[0], "logprob"), [-0.3, -2.0, -0.4]);
    assert_eq!(list(&rows[0], "logprob_rollout"), [-0.1, NONE, -0.2]);
    assert_eq!(list(&rows[0], "advantage"), [0.5, 0.5, 0.5]);
    assert_eq!(rows[0].get("reward"), Some(&Field::Float(1.0)));
    assert_eq!(rows[0].get("idx"), Some(&Field::Int(4)));
    assert_eq!(text(&rows[0], "content"), "hi");

    // A rejected sample keeps its response but trains nothing.
    let rejected = good(&row(0.0), Dialect::NemoRl);
    assert_eq!(list(&rejected[0], "token_id"), [3.0, 4.0, 5.0]);
    assert_eq!(list(&rejected[0], "mask"), [0.0, 0.0, 0.0]);

    let error = bad(
        r#"{"token_ids":[[1,2]],"token_loss_mask":[[0,1]],"generation_logprobs":[[0]],"prev_logprobs":[[0,0]]}"#,
    );
    assert_eq!(error.column, "generation_logprobs");
}

#[test]
fn prime_exports_lose_their_sentinels() {
    let rows = good(
        r#"{"schema_version":1,"step":2,"rank":1,"export_sequence_idx":7,"token_ids":[5,6,7],"position_ids":[0,1,2],
        "loss_mask":[false,true,true],"advantages":[0,1,1],"inference_logprobs":[0,-1,-2],
        "trainer_logprobs":[-11.9,-1.1,null],"entropy":[11.9,0.4,0.5],"is_masked":[null,null,null]}"#,
        Dialect::PrimeRlExport,
    );
    let row = &rows[0];
    assert_eq!(list(row, "trainer_logprobs"), [NONE, -1.1, NONE]);
    assert_eq!(list(row, "inference_logprobs"), [NONE, -1.0, -2.0]);
    assert_eq!(list(row, "entropy"), [NONE, 0.4, 0.5]);
    assert_eq!(list(row, "advantages"), [0.0, 1.0, 1.0]);
    assert_eq!(text(row, "sample_id"), "1-7");
    assert!(row.get("position_ids").is_none());
    assert_eq!(alignment(Dialect::PrimeRlExport), Some(ListAlignment::Full));
}

#[test]
fn atropos_groups_are_taken_apart() {
    let rows = good(
        r#"{"tokens":[[1,2,3],[1,2,4,5]],"masks":[[-100,2,3],[-100,-100,4,5]],"scores":[1.0,-1],
        "inference_logprobs":[[1.0,-0.2,-0.3],[1.0,1.0,-0.4,-0.5]],"advantages":null,"ref_logprobs":[null,null]}"#,
        Dialect::Atropos,
    );
    assert_eq!(rows.len(), 2);
    assert_eq!(list(&rows[0], "prompt_ids"), [1.0]);
    assert_eq!(list(&rows[0], "token_id"), [2.0, 3.0]);
    assert_eq!(list(&rows[1], "logprob_rollout"), [-0.4, -0.5]);
    assert_eq!(list(&rows[1], "mask"), [1.0, 1.0]);
    assert_eq!(rows[1].get("reward"), Some(&Field::Float(-1.0)));
    assert_eq!(text(&rows[0], "group_id"), "groups_7-3");
    assert_eq!(text(&rows[1], "sample_id"), "groups_7-3-1");
    assert!(rows[0].get("logprob_ref").is_none() && rows[0].get("advantage").is_none());

    let zero_one = r#"{"tokens":[[9,8,7,6]],"masks":[[0,1,0,1]],"scores":[0],"inference_logprobs":[[1.0,-1,1.0,-2]],"advantages":[0.25]}"#;
    let rows = good(zero_one, Dialect::Atropos);
    assert_eq!(list(&rows[0], "mask"), [1.0, 0.0, 1.0]);
    assert_eq!(list(&rows[0], "logprob_rollout"), [-1.0, NONE, -2.0]);
    assert_eq!(rows[0].get("advantage_seq"), Some(&Field::Float(0.25)));

    assert_eq!(bad(r#"{"tokens":[[1],[2]],"masks":[[1]],"scores":[0,0]}"#).column, "masks");
    assert_eq!(bad(r#"{"tokens":[[1,2]],"masks":[[1]],"scores":[0]}"#).column, "masks");
}

#[test]
fn roll_lists_are_cut_at_the_mask() {
    let rows = good(
        r#"{"step":3,"prompt":"p","response":"ab","response_tokens":["a","b","<pad>","<pad>"],"logprobs":[-1,-2,0],
        "ref_logprobs":[-1.5,-2.5,0],"old_log_probs2_entropy":[0.1,0.2,0],"new_response_mask":[1,1,0],
        "token_rewards":[0,1,0],"values":[0,1,0],"reward":1}"#,
        Dialect::RollBoard,
    );
    let row = &rows[0];
    assert_eq!(list(row, "logprobs"), [-1.0, -2.0]);
    assert_eq!(list(row, "old_log_probs2_entropy"), [0.1, 0.2]);
    assert_eq!(row.get("response_tokens").unwrap().list_len(), 2);
    assert!(row.get("values").is_none());
}

#[test]
fn tinker_ids_are_unique() {
    let rows = good(
        r#"{"iteration":2,"group_idx":4,"traj_idx":1,"seq_id":9,"sample_idx":0,"policy_version":"tinker://x/12",
        "prompt_tokens":[1],"sampled_tokens":[2,3],"logprobs":[-1,-2]}"#,
        Dialect::Tinker,
    );
    assert_eq!(text(&rows[0], "sample_id"), "4-1-9-0");
    assert!(rows[0].get("policy_version").is_none());
}

#[test]
fn a_reason_that_is_an_object_is_its_type() {
    let (_, rows) =
        adapt(r#"{"step":0,"token_ids":[1],"logprob":[-1.0],"finish_reason":{"type":"length","length":90}}"#);
    assert_eq!(text(rows[0].as_ref().unwrap(), "finish_reason"), "length");
}

#[test]
fn lists_of_a_batch_of_texts_run_over_its_responses() {
    let (dialect, rows) = adapt(
        r#"{"step":["1","1"],"prompt":["a","b"],"completion":["c","d"],"advantages":[0.1,-0.1],"entropy":[0.3,0.4]}"#,
    );
    assert_eq!(dialect, Dialect::SwiftText);
    let rows: Vec<_> = rows.iter().map(|row| row.as_ref().unwrap()).collect();
    assert_eq!((rows.len(), text(rows[0], "completion"), text(rows[1], "prompt")), (2, "c", "b"));
    assert_eq!(rows[1].get("advantages"), Some(&Field::Float(-0.1)));
}

mod traces {
    use super::*;

    fn node(parent: &str, ids: &str, mask: &str, more: &str) -> String {
        format!(r#"{{"parent":{parent},"message":{{"role":"x"}},"token_ids":{ids},"mask":{mask}{more}}}"#)
    }

    fn episode(nodes: &[String], more: &str) -> String {
        format!(
            r#"{{"id":"e1","env":{{"id":"gsm8k"}},"task":{{"type":"T","key":"k1","data":{{}}}},"group":{{"id":"g9"}},
            "run":{{"type":"train","id":"r","work":{{"type":"train","step":4,"policy":{{"start":3,"end":4}}}}}},
            "traces":[{{"id":"t1","rewards":{{"right":{{"score":1.0,"weight":0.5}},"short":{{"score":2.0}},"none":null}},
            "nodes":[{}]{more}}}]}}"#,
            nodes.join(",")
        )
    }

    #[test]
    fn a_path_is_one_response_with_tool_gaps() {
        let nodes = [
            node("null", "[1,2]", "[false,false]", ""),
            node(
                "0",
                "[3,4,5]",
                "[false,true,true]",
                r#","logprobs":[-0.4,-0.5],"advantages":[1,1],"trainer_logprobs":[-0.41,-0.51],"entropies":[0.4,0.5]"#,
            ),
            node("1", "[6]", "[false]", ""),
            node("2", "[7,8]", "[false,true]", r#","logprobs":[-0.8],"finish_reason":"stop""#),
            node("3", "[9]", "[false]", ""),
        ];
        let rows = good(&episode(&nodes, ""), Dialect::PrimeRlTraces);
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!(list(row, "prompt_ids"), [1.0, 2.0, 3.0]);
        assert_eq!(list(row, "token_id"), [4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(list(row, "mask"), [1.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(list(row, "logprob_rollout"), [-0.4, -0.5, NONE, NONE, -0.8]);
        assert_eq!(list(row, "logprob"), [-0.41, -0.51, NONE, NONE, NONE]);
        assert_eq!(list(row, "entropy"), [0.4, 0.5, NONE, NONE, NONE]);
        assert_eq!(list(row, "advantage"), [1.0, 1.0, NONE, NONE, NONE]);
        assert_eq!(list(row, "turn"), [0.0, 0.0, 0.0, 1.0, 1.0]);
        assert!(row.get("logprob_ref").is_none());
        assert_eq!(row.get("reward"), Some(&Field::Float(2.5)));
        assert_eq!(row.get("reward/right"), Some(&Field::Float(1.0)));
        assert_eq!(row.get("policy_version"), Some(&Field::Int(3)));
        let texts =
            ["sample_id", "group_id", "source", "split", "run_id", "finish_reason"].map(|c| text(row, c));
        assert_eq!(texts, ["t1", "g9", "gsm8k", "train", "r", "stop"]);
        assert!(row.get("step").is_none(), "the dispatch step is not the step it was trained in");
    }

    #[test]
    fn shared_tokens_are_trained_once() {
        let nodes = [
            node("null", "[1]", "[false]", ""),
            node("0", "[2]", "[true]", r#","logprobs":[-0.2]"#),
            node("1", "[3]", "[true]", r#","logprobs":[-0.3]"#),
            node("1", "[4]", "[true]", r#","logprobs":[-0.4]"#),
        ];
        let rows = good(&episode(&nodes, ""), Dialect::PrimeRlTraces);
        assert_eq!(rows.len(), 2);
        assert_eq!(list(&rows[0], "mask"), [1.0, 1.0]);
        assert_eq!(list(&rows[1], "token_id"), [2.0, 4.0]);
        assert_eq!(list(&rows[1], "mask"), [0.0, 1.0]);
        assert_eq!(list(&rows[1], "logprob_rollout"), [-0.2, -0.4]);
        assert_eq!([text(&rows[0], "sample_id"), text(&rows[1], "sample_id")], ["t1-0", "t1-1"]);
    }

    #[test]
    fn what_does_not_train_claims_nothing() {
        let nodes = [
            node("null", "[1]", "[true]", ""),
            node("0", "[2]", "[true]", r#","semantic_parents":[{"node":0,"type":"compaction_attempt"}]"#),
            node("0", "[3]", "[true]", ""),
        ];
        let rows = good(&episode(&nodes, ""), Dialect::PrimeRlTraces);
        assert_eq!(list(&rows[0], "mask"), [0.0, 0.0]);
        assert_eq!(list(&rows[1], "mask"), [1.0, 1.0]);
        let judge = good(&episode(&nodes, r#","agent":{"trainable":false}"#), Dialect::PrimeRlTraces);
        assert!(judge.iter().all(|row| list(row, "mask") == [0.0, 0.0]));
    }

    #[test]
    fn a_trace_may_stand_alone() {
        let row = r#"{"id":"t","task":{"hash":"h","data":{}},"rewards":{"a":0.5},"nodes":[{"token_ids":[1,2],"mask":[false,true],"logprobs":[-1]}]}"#;
        let rows = good(row, Dialect::PrimeRlTraces);
        assert_eq!(text(&rows[0], "group_id"), "h");
        assert_eq!(rows[0].get("reward"), Some(&Field::Float(0.5)));
        assert_eq!(alignment(Dialect::PrimeRlTraces), Some(ListAlignment::Response));
    }

    #[test]
    fn broken_graphs_are_refused() {
        let circle = [node("1", "[1]", "[true]", ""), node("0", "[2]", "[true]", "")];
        assert!(bad(&episode(&circle, "")).message.contains("circle"));
        let hidden = [
            node("null", "[1]", "[true]", ""),
            node("2", "[1]", "[true]", ""),
            node("1", "[2]", "[true]", ""),
            node("2", "[9]", "[true]", ""),
        ];
        assert!(bad(&episode(&hidden, "")).message.contains("circle"));
        assert_eq!(bad(&episode(&[node("7", "[1]", "[true]", "")], "")).column, "nodes.parent");
        assert_eq!(bad(&episode(&[node("-1", "[1]", "[true]", "")], "")).column, "nodes.parent");
        assert_eq!(bad(&episode(&[node("null", "[1]", "[true,false]", "")], "")).column, "nodes.mask");
        let short = [node("null", "[1,2]", "[true,true]", r#","logprobs":[-1]"#)];
        assert_eq!(bad(&episode(&short, "")).column, "nodes.logprobs");
    }

    #[test]
    fn traces_without_tokens_are_texts() {
        let row = r#"{"id":"t","task":{"hash":"h"},"nodes":[{"message":{"content":"x"},"token_ids":[],"mask":[]}]}"#;
        assert_eq!(adapt(row).0, Dialect::VerifiersText);
        let legacy = r#"{"example_id":1,"reward":1,"trajectory":[{"prompt":[],"tokens":null}]}"#;
        assert_eq!(adapt(legacy).0, Dialect::VerifiersText);
    }

    #[test]
    fn older_trajectories_are_a_response_a_turn() {
        let rows = good(
            r#"{"example_id":5,"reward":1.0,"prompt":[{"role":"user"}],"trajectory_id":"x","trajectory":[
            {"reward":null,"advantage":0.5,"tokens":{"prompt_ids":[1],"prompt_mask":[0],"completion_ids":[2,3],"completion_mask":[1,1],"completion_logprobs":[-0.2,-0.3]}},
            {"tokens":null},
            {"reward":0.25,"tokens":{"prompt_ids":[1,2,3,4],"completion_ids":[5],"completion_mask":[0],"completion_logprobs":[-0.5]}}]}"#,
            Dialect::PrimeRlTraces,
        );
        assert_eq!(rows.len(), 2);
        assert_eq!(list(&rows[0], "token_id"), [2.0, 3.0]);
        assert_eq!(list(&rows[0], "logprob_rollout"), [-0.2, -0.3]);
        assert_eq!(rows[0].get("reward"), Some(&Field::Float(1.0)));
        assert_eq!(rows[0].get("advantage_seq"), Some(&Field::Float(0.5)));
        assert_eq!(list(&rows[1], "prompt_ids"), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(list(&rows[1], "mask"), [0.0]);
        assert_eq!(list(&rows[1], "turn"), [2.0]);
        assert_eq!(rows[1].get("reward"), Some(&Field::Float(0.25)));
        assert_eq!([text(&rows[0], "sample_id"), text(&rows[1], "sample_id")], ["x-0", "x-2"]);
    }
}
