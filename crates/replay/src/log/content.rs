//! A hash of what a replay reads of a log: the same for any file format, split or compression, another
//! where a value differs or is read from another column.

use stapo_base::stats::random::Random;
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;

/// Token columns whose values the result can depend on.
const FLOATS: [Column; 3] = [Column::Logprob, Column::LogprobRef, Column::LogprobRollout];

/// The hash so far with response `i` of a batch.
pub fn with_response(hash: u64, batch: &TokenBatch, i: usize) -> u64 {
    let range = batch.range(i);
    let r = &batch.responses;
    let mut hash = mixed(hash, r.step[i].cast_unsigned());
    let mut add = |word: u64| hash = mixed(hash, word);
    add(range.len() as u64);
    add(r.ints.get(Column::Update).and_then(|u| u[i]).map_or(u64::MAX, i64::cast_unsigned));
    add(r.floats.get(Column::Reward).map_or(1, |v| u64::from(v[i].to_bits())));
    for (_, part) in &r.reward_parts {
        add(u64::from(part[i].to_bits()));
    }
    for column in [Column::GroupId, Column::SampleId] {
        match batch.ids(column).map(|ids| &ids[i]) {
            None | Some(Id::Missing) => add(2),
            Some(Id::Int(id)) => add(id.cast_unsigned()),
            Some(Id::Text(text)) => text.bytes().for_each(|byte| add(u64::from(byte))),
        }
    }
    let prompt = r.prompt_ids.as_ref().and_then(|p| p[i].as_ref()).map_or(&[][..], |p| &p[..]);
    let ids = batch.token_ids().map_or(&[][..], |ids| &ids[range.clone()]);
    prompt.iter().chain(ids).for_each(|id| add(u64::from(id.cast_unsigned())));
    let advantages = batch.advantages();
    let columns = FLOATS.iter().map(|c| batch.floats(*c)).chain([advantages.as_deref()]);
    for (number, values) in columns.enumerate() {
        add(number as u64);
        values.map_or(&[][..], |v| &v[range.clone()]).iter().for_each(|v| add(u64::from(v.to_bits())));
    }
    if let Some(mask) = batch.mask() {
        mask[range].iter().for_each(|m| add(u64::from(*m)));
    }
    hash
}

fn mixed(hash: u64, word: u64) -> u64 {
    Random::splitmix(hash.wrapping_add(word)).bits()
}
