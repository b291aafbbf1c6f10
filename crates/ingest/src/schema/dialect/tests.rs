#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::schema::raw_field::{Primitive, RawField, Shape};

const I: Shape = Shape::Scalar(Primitive::Int);
const F: Shape = Shape::Scalar(Primitive::Float);
const T: Shape = Shape::Scalar(Primitive::Text);
const LI: Shape = Shape::List(Primitive::Int);
const LF: Shape = Shape::List(Primitive::Float);
const LT: Shape = Shape::List(Primitive::Text);
const LO: Shape = Shape::List(Primitive::Other);

fn detect(fields: &[(&str, Shape)]) -> Dialect {
    let fields: Vec<_> = fields.iter().map(|(n, s)| RawField::new(*n, *s)).collect();
    Dialect::detect(&fields)
}

#[test]
fn per_token_logs() {
    use Dialect as D;
    let cases: [(D, &[(&str, Shape)]); 13] = [
        (D::Canonical, &[("step", I), ("token_id", LI), ("logprob", LF), ("entropy", LF)]),
        (D::Canonical, &[("token_id", I), ("position", I), ("logprob", F)]),
        (
            D::PrimeRlExport,
            &[("schema_version", I), ("token_ids", LI), ("trainer_logprobs", LF), ("inference_logprobs", LF)],
        ),
        (
            D::NemoRl,
            &[
                ("token_ids", Shape::ListOfLists(Primitive::Int)),
                ("token_loss_mask", Shape::ListOfLists(Primitive::Float)),
                ("generation_logprobs", Shape::ListOfLists(Primitive::Float)),
                ("prev_logprobs", Shape::ListOfLists(Primitive::Float)),
            ],
        ),
        (
            D::Miles,
            &[
                ("sample_index", I),
                ("response_length", I),
                ("total_length", I),
                ("tokens", LI),
                ("loss_mask", LI),
                ("rollout_log_probs", LF),
            ],
        ),
        (
            D::OpenInstruct,
            &[
                ("prompt_tokens", LI),
                ("response_tokens", LI),
                ("prompt_idx", I),
                ("finish_reason", T),
                ("logprobs", LF),
            ],
        ),
        (D::LoggingBoard, &[("response_tokens", LT), ("logprobs", LF), ("ref_logprobs", LF)]),
        (
            D::RollBoard,
            &[("response_tokens", LT), ("logprobs", LF), ("ref_logprobs", LF), ("new_response_mask", LI)],
        ),
        (D::Tinker, &[("prompt_tokens", LI), ("sampled_tokens", LI), ("logprobs", LF), ("iteration", I)]),
        (
            D::Atropos,
            &[
                ("tokens", Shape::ListOfLists(Primitive::Int)),
                ("masks", Shape::ListOfLists(Primitive::Int)),
                ("scores", LF),
            ],
        ),
        (D::PrimeRlTraces, &[("id", T), ("task", Shape::Struct), ("traces", LO)]),
        (D::PrimeRlTraces, &[("id", T), ("task", Shape::Struct), ("nodes", LO)]),
        (
            D::PrimeRlTraces,
            &[("example_id", I), ("trajectory", LO), ("prompt", T), ("completion", T), ("reward", F)],
        ),
    ];
    for (dialect, fields) in cases {
        assert_eq!(detect(fields), dialect, "{fields:?}");
        assert!(!dialect.writes_texts(), "{dialect:?}");
        assert!(dialect.alignment().is_some(), "{dialect:?}");
    }
}

#[test]
fn text_logs() {
    use Dialect as D;
    let cases: [(D, &[(&str, Shape)]); 12] = [
        (D::VerlText, &[("input", T), ("output", T), ("gts", T), ("score", F), ("step", I), ("uid", T)]),
        (D::TrlText, &[("step", I), ("prompt", T), ("completion", T), ("accuracy", F), ("advantage", F)]),
        (
            D::SwiftText,
            &[("step", LT), ("prompt", LT), ("completion", LT), ("advantages", LF), ("entropy", LF)],
        ),
        (D::RollDumpText, &[("global_step", LI), ("id", LT), ("responses", LT), ("scores", LF)]),
        (D::ArtText, &[("group_index", I), ("messages", LO), ("reward", F)]),
        (
            D::PrimePlatformText,
            &[("run_id", T), ("step", I), ("problem_id", I), ("sample_id", I), ("completion", T)],
        ),
        (
            D::ARealText,
            &[("task_id", T), ("head_version", I), ("tail_version", I), ("prompt", T), ("completion", T)],
        ),
        (D::RllmText, &[("training_step", I), ("episode_id", T), ("task_hash", T), ("reward", F)]),
        (D::SkyRlText, &[("input_prompt", T), ("output_response", T), ("score", F), ("stop_reason", T)]),
        (D::VerifiersText, &[("example_id", I), ("prompt", LO), ("completion", LO), ("reward", F)]),
        (D::OpenAiText, &[("id", T), ("choices", LO)]),
        (D::SglangText, &[("text", T), ("meta_info", Shape::Struct)]),
    ];
    for (dialect, fields) in cases {
        assert_eq!(detect(fields), dialect, "{fields:?}");
        assert!(dialect.writes_texts(), "{dialect:?}");
    }
    assert_eq!(detect(&[("a", I), ("b", LF)]), D::Unknown);
    assert_eq!(detect(&[]), D::Unknown);
}

#[test]
fn response_tokens_are_told_apart_by_type() {
    let board = [("response_tokens", LT), ("logprobs", LF)];
    assert_eq!(detect(&board).logprobs_are_trainers(), Some(true));
    let open = [("prompt_tokens", LI), ("response_tokens", LI), ("prompt_idx", I), ("finish_reason", T)];
    assert_eq!(detect(&open).logprobs_are_trainers(), Some(false));
}

#[test]
fn verl_uids_lose_session_and_index() {
    assert_eq!(group_of_uid("3f_a-b_0_12"), "3f_a-b");
    assert_eq!(group_of_uid("plain"), "plain");
    assert_eq!(group_of_uid("a_b_c"), "a_b_c");
    assert_eq!(group_of_uid("_0_1"), "_0_1");
}
