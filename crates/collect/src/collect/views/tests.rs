#![allow(clippy::unwrap_used)]

use super::*;

fn response(number: u32, reward: f32) -> (Interest, KeptResponse) {
    let length = 3 * SAMPLED_TOKENS;
    let id = Id::Int(i64::from(number));
    let interest =
        Interest { risk: 0.0, reward, truncated: false, hash: number, drawn: (number, 0, id.clone()) };
    let kept = KeptResponse {
        risk: 0.0,
        hash: number,
        batch: BatchKey { step: 0, update: None },
        update: None,
        group: id,
        sample: Id::Missing,
        place: (0, u64::from(number)),
        reward,
        ending: None,
        prompt: None,
        length,
        centre: 2 * SAMPLED_TOKENS,
        first: 0,
        token_ids: (0..length as i32).collect(),
        texts: None,
        trained: vec![true; length],
        logprob: vec![-0.1; length],
        entropy: vec![0.2; length],
        advantage: vec![1.0; length],
        norm: vec![1.0; length],
    };
    (interest, kept)
}

/// As a worker does it: the stretch is as long as what the response is wanted for.
fn offer(all: &mut KeptResponses, (interest, response): &(Interest, KeptResponse)) {
    if let Some(tokens) = all.admits(interest) {
        all.add(interest, response.shortened(tokens));
    }
}

#[test]
fn what_is_drawn_does_not_depend_on_what_came_before() {
    // The first of them are no longer among the best once all were seen.
    let responses: Vec<_> = (0..40_u16).map(|i| response(u32::from(i), f32::from(i))).collect();
    let shown = |order: &[usize], workers: usize| {
        let mut all: Vec<KeptResponses> = (0..workers).map(|_| KeptResponses::default()).collect();
        order.iter().enumerate().for_each(|(i, r)| offer(&mut all[i % workers], &responses[*r]));
        let mut merged = KeptResponses::default();
        all.into_iter().for_each(|worker| merged.merge(worker));
        let found = merged.responses();
        found.iter().map(|(r, kinds)| (r.place, r.first, r.trained.len(), kinds.clone())).collect::<Vec<_>>()
    };
    let up: Vec<usize> = (0..40).collect();
    let down: Vec<usize> = (0..40).rev().collect();
    let expected = shown(&up, 1);
    assert!(expected.iter().any(|(_, _, length, _)| *length == SAMPLED_TOKENS));
    assert_eq!(expected, shown(&down, 1));
    assert_eq!(expected, shown(&up, 3));
}
