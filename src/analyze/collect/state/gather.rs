//! What the workers of one process collected becomes one state.

use super::{State, add_clusters, forget_too_many_entropies, numbers};
use crate::analyze::collect::batches::BatchTable;
use crate::analyze::collect::by_sign::BySign;
use crate::analyze::collect::candidates::CandidateStore;
use crate::analyze::collect::clusters::Clusters;
use crate::analyze::collect::collector::Collector;
use crate::analyze::collect::entropy_histogram::level_for;
use crate::analyze::collect::gates::Gates;
use crate::analyze::collect::groups::GroupTable;
use crate::analyze::collect::kept_entropies::KeptCount;
use crate::analyze::collect::kept_sample::KeptSample;
use crate::analyze::collect::plane;
use crate::analyze::collect::questions::QuestionCollector;
use crate::analyze::collect::signs::SignState;
use crate::analyze::collect::tally::BatchKey;
use crate::analyze::collect::views::KeptResponses;
use crate::analyze::collect::vocabulary::VocabularyCounts;
use crate::analyze::plan::Plan;
use crate::analyze::right::SeenRewards;

impl State {
    /// Gathers what the workers of one process collected.
    pub fn gather(collectors: Vec<Collector<'_>>, gates: &Gates, plan: &Plan) -> Self {
        let mut groups = GroupTable::default();
        let mut rewards = SeenRewards::default();
        let mut plane = BySign::new(plane::CELLS);
        let mut vocabulary = VocabularyCounts::default();
        let mut views = KeptResponses::default();
        let mut clusters: Option<Clusters> = None;
        let mut placed = false;
        let (mut tables, mut buffers, mut questions) = (Vec::new(), Vec::new(), Vec::new());
        let mut samples: [Vec<_>; 3] = Default::default();
        let mut signs = Vec::new();
        for collector in collectors {
            groups.merge(collector.groups);
            rewards.merge(&collector.rewards);
            plane.merge(&collector.plane);
            vocabulary.merge(collector.vocabulary);
            views.merge(collector.views);
            add_clusters(&mut clusters, collector.clusters);
            placed |= collector.placed;
            tables.push(collector.batches);
            questions.push(collector.questions);
            buffers.push(collector.candidates);
            let mine = [collector.rare, collector.common, collector.idle];
            samples.iter_mut().zip(mine).for_each(|(all, mine)| all.push(mine));
            signs.push(collector.signs);
        }
        clusters.iter_mut().for_each(Clusters::close);
        let keys: Vec<Vec<BatchKey>> = tables.iter().map(BatchTable::keys).collect();
        let mut batches = BatchTable::merge(tables);
        for (worker, keys) in keys.iter().enumerate() {
            let numbers = numbers(&batches, keys);
            for sample in &mut samples {
                sample[worker].for_each(|token| token.batch = numbers[token.batch as usize]);
            }
        }
        let kept = KeptCount::of(&gates.kept);
        forget_too_many_entropies(&kept, &mut batches);
        let [rare, common, idle] = samples;
        Self {
            kept,
            groups,
            rewards,
            plane,
            vocabulary,
            candidates: CandidateStore::gather(buffers, plan.limits.candidate_bytes),
            rare: KeptSample::gather(rare, &gates.rare),
            common: KeptSample::gather(common, &gates.common),
            idle: KeptSample::gather(idle, &gates.idle),
            views,
            signs: SignState::gather(signs, &gates.signs),
            clusters,
            questions: QuestionCollector::gather(questions, &gates.questions, level_for(batches.len())),
            batches,
            placed,
        }
    }
}
