//! What is counted of a response, and that order and split change nothing.

use super::*;
use proptest::prelude::*;

const NAN: f32 = f32::NAN;

/// A response of these tokens; `mask` and `drawn` as long as they are.
fn response<'a>(tokens: &'a [i32], mask: &'a [u8], drawn: &'a [f32]) -> Response<'a> {
    Response {
        step: 1,
        group: 2,
        place: 3,
        hash: 3,
        slice: "",
        held_out: false,
        update: None,
        version: None,
        reward: 1.0,
        parts: &[],
        advantage: Some(0.5),
        prompt: None,
        prompt_len: None,
        finish: Some("stop"),
        truncated: Some(false),
        tokens: Some(tokens),
        mask: Some(mask),
        logprob: drawn,
        entropy: None,
        rollout: Some(drawn),
        new: None,
        reference: None,
        advantages: None,
        is_weight: None,
        grad_norm: None,
        turns: None,
    }
}

#[test]
fn undrawn_tokens_are_counted_by_where_they_stand() {
    // A row of two, one at the start of a trained run, one at the end of another, and the last token.
    let drawn = [-1.0, NAN, NAN, -1.0, NAN, NAN, -1.0, NAN, NAN, NAN];
    let mask = [1, 1, 1, 1, 0, 1, 1, 1, 0, 1];
    let inner = ResponseFacts::of(&response(&[7; 10], &mask, &drawn)).inner;
    assert_eq!((inner.all, inner.undrawn), (6, 4));
    assert_eq!((inner.in_rows, inner.at_starts, inner.at_ends), (2, 1, 1));
    assert_eq!((inner.first, inner.last), (Some(false), Some(true)));
    let none = ResponseFacts::of(&response(&[7; 10], &mask, &[NAN; 10])).inner;
    assert_eq!(none, Default::default(), "a whole response that an engine leaves out");
}

#[test]
fn ends_are_trained_or_not() {
    let end = |mask: &[u8], finish| {
        let facts = ResponseFacts::of(&Response { finish, ..response(&[7; 5], mask, &[-1.0; 5]) });
        facts.end_trained
    };
    assert_eq!(end(&[1, 1, 1, 1, 1], Some("stop")), Some(true));
    assert_eq!(end(&[1, 1, 1, 1, 0], Some("STOP")), Some(false));
    assert_eq!(end(&[1, 1, 1, 0, 0], Some("eos")), Some(false));
    assert_eq!(end(&[1, 1, 0, 0, 0], Some("stop")), None, "an observation");
    assert_eq!(end(&[0, 0, 0, 0, 0], Some("stop")), None, "left out");
    assert_eq!(end(&[1, 1, 1, 1, 0], Some("length")), None);
    assert_eq!(end(&[1, 1, 1, 1, 0], None), None);
}

#[test]
fn advantages_of_tokens() {
    let advantage = |values: &[f32], mask: &[u8]| {
        let facts =
            ResponseFacts::of(&Response { advantages: Some(values), ..response(&[7; 4], mask, &[-1.0; 4]) });
        (facts.advantage.value, facts.advantage.zeros, facts.advantage.varies)
    };
    assert_eq!(advantage(&[-0.5, -0.5, 9.0, -0.5], &[1, 1, 0, 1]), (-0.5, 0.0, false));
    assert_eq!(advantage(&[0.0, 0.5, 0.5, 0.5], &[1; 4]), (0.5, 0.25, false));
    assert_eq!(advantage(&[0.1, -0.5, 0.3, NAN], &[1; 4]), (-0.5, 0.0, true));
    assert_eq!(advantage(&[0.0; 4], &[1; 4]), (0.0, 1.0, false));
    assert!(advantage(&[1.0; 4], &[0; 4]).0.is_nan());
}

#[test]
fn statuses_of_engines() {
    let ending = |finish, truncated| Ending::of(&Response { finish, truncated, ..response(&[], &[], &[]) });
    assert_eq!(ending(Some("stop"), None), Ending::Finished);
    assert_eq!(ending(Some("length"), None), Ending::Cut);
    assert_eq!(ending(Some("SandboxTimeout"), None), Ending::Failed);
    assert_eq!(ending(Some("aborted"), Some(true)), Ending::Failed);
    assert_eq!(ending(Some("tool_calls"), None), Ending::Unknown);
    assert_eq!(ending(None, Some(true)), Ending::Cut);
}

#[test]
fn copies_of_another_question_have_another_hash() {
    let tokens =
        |prompt| ResponseFacts::of(&Response { prompt, ..response(&[7, 8, 9], &[1; 3], &[-1.0; 3]) }).tokens;
    assert_eq!(tokens(Some(1)), tokens(Some(1)));
    assert_ne!(tokens(Some(1)), tokens(Some(2)));
    let other = ResponseFacts::of(&response(&[7, 9, 8], &[1; 3], &[-1.0; 3])).tokens;
    assert_ne!(tokens(None), other, "another order");
    let unknown = ResponseFacts::of(&response(&[7, i32::MIN], &[1; 2], &[-1.0; 2])).tokens;
    assert_eq!(unknown, None);
}

/// What a made-up log holds of a response.
type Made = (u8, u8, f32, f32, bool);

fn collected(log: &[(u64, Made)]) -> Rewards {
    let mut rewards = Rewards::default();
    for &(place, (step, group, reward, advantage, held_out)) in log {
        let slice = ["a", "b"][usize::from(group % 2)];
        let of = response(&[7, 8], &[1, 1], &[-1.0, -2.0]);
        rewards.add(&Response {
            step: step.into(),
            group: group.into(),
            place,
            slice,
            held_out,
            reward,
            advantage: Some(advantage),
            ..of
        });
    }
    rewards
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_and_split_gives_the_same_bytes(
        made in prop::collection::vec((0..4_u8, 0..5_u8, -1.0..2.0_f32, -3.0..3.0_f32, prop::bool::weighted(0.2)), 1..60),
        order in any::<u64>(),
        pieces in 1..6_usize,
    ) {
        let mut log: Vec<(u64, Made)> = made.into_iter().enumerate().map(|(at, made)| (at as u64, made)).collect();
        let mut whole = collected(&log);
        whole.settle();
        log.sort_by_key(|(place, _)| crate::mix(order, *place));
        let mut merged = Rewards::default();
        log.chunks(log.len().div_ceil(pieces)).for_each(|piece| merged.merge(collected(piece)));
        merged.settle();
        prop_assert_eq!(postcard::to_allocvec(&merged).unwrap(), postcard::to_allocvec(&whole).unwrap());
    }
}
