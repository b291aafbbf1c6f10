//! What is kept of a response beside its tokens: its reward, its place in its group, the response itself.

use super::Collector;
use super::wave::InHand;
use crate::collect::groups::{GroupTally, Highest, group_hash};
use crate::collect::rows::Row;
use crate::plan::Purpose;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_batch::columns::Column;

impl Collector<'_> {
    /// Keeps what is wanted of a response whose tokens were added.
    pub(super) fn keep_response(&mut self, one: &InHand<'_>) {
        let InHand { response, trained, .. } = one;
        if self.keeps && !self.plan.stand_in.logprob && self.gates.kept.admit(trained.len()) {
            let tally = self.batches.tally(response.batch);
            tally.kept.add(trained.entropy, trained.advantage);
        }
        let responses = &response.source.responses;
        let verdict = self.plan.questions.verdict(responses, response.index);
        self.rewards.add(response.reward, verdict);
        if let Some(rival) = self.plan.questions.rival(responses, response.index) {
            self.rewards.add_rival(response.reward, verdict, rival);
        }
        if let Some(groups) = response.source.ids(Column::GroupId) {
            let tally = GroupTally {
                responses: 1,
                largest: one.largest,
                highest: Highest::of(response.reward),
                verdict: Highest::of(verdict),
                tokens: trained.len() as u64,
                energy: sum_of(one.sums.energy()),
            };
            let id = &groups[response.index];
            self.groups.add(response.key.step, id, &tally);
            if self.plan.questions.several_rows {
                let group = group_hash(response.key.step, id).word();
                let row = Row::of(response.source, response.index, group, response.reward, verdict);
                self.groups.add_row(row);
            }
        }
        if self.plan.purpose == Purpose::Report {
            self.keep_view(response, &one.whole, one.risk);
        }
    }
}

/// The sum of one term.
fn sum_of(value: f64) -> ExactSum {
    let mut sum = ExactSum::new();
    sum.add(value);
    sum
}
