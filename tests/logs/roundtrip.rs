//! Converting between the layouts loses nothing, whatever the log holds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::support::{describe_all, read};
use arrow_array::StringArray;
use proptest::prelude::*;
use stapo_analyze::convert::{BatchWriter, OutputSchema, convert};
use stapo_analyze::ingest::{
    Column, Id, IngestSettings, Layout, MISSING_FLAG, MISSING_ID, ResponseColumns, Run, Silent, TokenBatch,
    TokenColumns,
};

#[derive(Clone, Debug)]
struct Token {
    id: Option<i32>,
    text: Option<String>,
    logprob: Option<f32>,
    entropy: Option<f32>,
    sum_pi_sq: Option<f64>,
    mask: bool,
    clipped: Option<bool>,
    turn: Option<i32>,
}

#[derive(Clone, Debug)]
struct Response {
    step: i64,
    update: Option<i64>,
    group: Option<String>,
    reward: Option<f32>,
    part: Option<f32>,
    advantage: Option<f32>,
    prompt: Option<Vec<i32>>,
    prompt_text: Option<String>,
    truncated: Option<bool>,
    tokens: Vec<Token>,
}

fn token() -> impl Strategy<Value = Token> {
    let scalar = (proptest::option::of(0..200_000i32), proptest::option::of("\\PC{0,4}"));
    // A log-probability of exactly zero is a placeholder on untrained tokens, so it is not drawn.
    let logprob = proptest::option::of(-40.0f32..-1e-6);
    let numbers = (logprob, proptest::option::of(0.0f32..12.0), proptest::option::of(0.0f64..1.0));
    let flags = (any::<bool>(), any::<Option<bool>>(), proptest::option::of(0..9i32));
    (scalar, numbers, flags).prop_map(|((id, text), (logprob, entropy, sum_pi_sq), (mask, clipped, turn))| {
        Token { id, text, logprob, entropy, sum_pi_sq, mask, clipped, turn }
    })
}

fn response() -> impl Strategy<Value = Response> {
    let ids = (
        0..4i64,
        proptest::option::of(prop_oneof![3 => 0..3i64, 1 => any::<i64>()]),
        proptest::option::of("[a-c]{1,2}"),
    );
    let number = || proptest::option::of(-5.0f32..5.0);
    let prompt = (
        proptest::option::of(prop::collection::vec(0..500i32, 0..5)),
        proptest::option::of("\\PC{0,8}"),
        any::<Option<bool>>(),
    );
    let tokens = prop_oneof![1 => Just(Vec::new()), 6 => prop::collection::vec(token(), 1..9)];
    (ids, (number(), number(), number()), prompt, tokens).prop_map(
        |((step, update, group), numbers, prompt, tokens)| Response {
            step,
            update,
            group,
            reward: numbers.0,
            part: numbers.1,
            advantage: numbers.2,
            prompt: prompt.0,
            prompt_text: prompt.1,
            truncated: prompt.2,
            tokens,
        },
    )
}

/// One batch; sample ids make responses distinct, as real logs do.
fn batch(responses: &[Response]) -> TokenBatch {
    let tokens: Vec<&Token> = responses.iter().flat_map(|r| &r.tokens).collect();
    let mut r = ResponseColumns { step: responses.iter().map(|r| r.step).collect(), ..Default::default() };
    let group = |r: &Response| r.group.as_deref().map_or(Id::Missing, |g| Id::Text(Arc::from(g)));
    r.ids.set(Column::GroupId, responses.iter().map(group).collect());
    r.ids.set(Column::SampleId, (0..responses.len()).map(|i| Id::Int(i as i64)).collect());
    r.ints.set(Column::Update, responses.iter().map(|r| r.update).collect());
    r.floats.set(Column::Reward, responses.iter().map(|r| r.reward.unwrap_or(f32::NAN)).collect());
    r.floats.set(Column::AdvantageSeq, responses.iter().map(|r| r.advantage.unwrap_or(f32::NAN)).collect());
    r.texts
        .set(Column::PromptText, responses.iter().map(|r| r.prompt_text.as_deref().map(Arc::from)).collect());
    r.flags.set(Column::Truncated, responses.iter().map(|r| r.truncated).collect());
    r.prompt_ids = Some(responses.iter().map(|r| r.prompt.clone().map(Into::into)).collect());
    r.reward_parts =
        vec![(Arc::from("format"), responses.iter().map(|r| r.part.unwrap_or(f32::NAN)).collect())];
    let mut t = TokenColumns::default();
    let ints = |f: fn(&Token) -> Option<i32>| {
        tokens.iter().map(|t| f(t).unwrap_or(MISSING_ID)).collect::<Vec<_>>().into()
    };
    t.ints.set(Column::TokenId, ints(|t| t.id));
    t.ints.set(Column::Turn, ints(|t| t.turn));
    let floats = |f: fn(&Token) -> Option<f32>| {
        tokens.iter().map(|t| f(t).unwrap_or(f32::NAN)).collect::<Vec<_>>().into()
    };
    t.floats.set(Column::Logprob, floats(|t| t.logprob));
    t.floats.set(Column::Entropy, floats(|t| t.entropy));
    let doubles: Vec<f64> = tokens.iter().map(|t| t.sum_pi_sq.unwrap_or(f64::NAN)).collect();
    t.doubles.set(Column::SumPiSq, doubles.into());
    t.flags.set(Column::Mask, tokens.iter().map(|t| u8::from(t.mask)).collect::<Vec<_>>().into());
    let clipped: Vec<u8> = tokens.iter().map(|t| t.clipped.map_or(MISSING_FLAG, u8::from)).collect();
    t.flags.set(Column::Clipped, clipped.into());
    t.texts = Some(tokens.iter().map(|t| t.text.as_deref()).collect::<StringArray>());
    let mut end = 0;
    let ends = responses.iter().map(|r| {
        end += r.tokens.len();
        end
    });
    let offsets = std::iter::once(0).chain(ends.collect::<Vec<_>>()).collect();
    TokenBatch { origin: Default::default(), offsets, responses: r, tokens: t }
}

fn write(path: &Path, batch: &TokenBatch, layout: Layout) {
    let columns: Vec<Column> = Column::ALL
        .iter()
        .copied()
        .filter(|c| {
            let r = &batch.responses;
            *c == Column::Step
                || *c == Column::PromptIds
                || *c == Column::TokenText
                || (*c == Column::Position && layout == Layout::Long)
                || r.ids.get(*c).is_some()
                || r.ints.get(*c).is_some()
                || r.floats.get(*c).is_some()
                || r.texts.get(*c).is_some()
                || r.flags.get(*c).is_some()
                || batch.tokens.ints.get(*c).is_some()
                || batch.tokens.floats.get(*c).is_some()
                || batch.tokens.doubles.get(*c).is_some()
                || batch.tokens.flags.get(*c).is_some()
        })
        .collect();
    let schema = OutputSchema::new(layout, &columns, &|c| c == Column::GroupId, &BTreeSet::from(["format"]));
    let metadata = BTreeMap::from([("vocab_size".to_owned(), "200000".to_owned())]);
    let file = std::fs::File::create(path).unwrap();
    let mut writer = BatchWriter::new(file, path, schema, &metadata, 20).unwrap();
    for i in 0..batch.len() {
        writer.write(&batch.slice(i..i + 1)).unwrap();
    }
    writer.finish().unwrap();
}

fn converted(source: &Path, target: &Path, layout: Layout) {
    let run = Run::open(&[source.to_owned()], &IngestSettings { threads: 2, ..Default::default() }).unwrap();
    assert_eq!(run.metadata.get("vocab_size").map(String::as_str), Some("200000"));
    convert(&run, target, layout, &Silent).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..Default::default() })]

    #[test]
    fn both_layouts_hold_everything(responses in prop::collection::vec(response(), 1..20)) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let original = batch(&responses);
        let expected = describe_all(std::slice::from_ref(&original));
        write(&at("nested.parquet"), &original, Layout::Nested);
        prop_assert_eq!(&describe_all(&read(&at("nested.parquet"))), &expected);
        write(&at("direct.parquet"), &original, Layout::Long);
        prop_assert_eq!(&describe_all(&read(&at("direct.parquet"))), &expected);
        converted(&at("nested.parquet"), &at("long.parquet"), Layout::Long);
        prop_assert_eq!(&describe_all(&read(&at("long.parquet"))), &expected);
        converted(&at("long.parquet"), &at("back.parquet"), Layout::Nested);
        prop_assert_eq!(&describe_all(&read(&at("back.parquet"))), &expected);
        converted(&at("back.parquet"), &at("again.parquet"), Layout::Nested);
        prop_assert_eq!(std::fs::read(at("back.parquet")).unwrap(), std::fs::read(at("again.parquet")).unwrap());
    }
}
