//! What the workers of one process collected becomes one state.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::State;
use super::joining::{add_clusters, forget_too_many_entropies, numbers};
use crate::collect::batches::{BatchTable, Batches};
use crate::collect::by_sign::BySign;
use crate::collect::candidates::CandidateStore;
use crate::collect::clusters::Clusters;
use crate::collect::collector::Collector;
use crate::collect::diagnostics::Diagnostics;
use crate::collect::entropy_histogram::level_for;
use crate::collect::gates::Gates;
use crate::collect::groups::GroupTable;
use crate::collect::kept_entropies::KeptCount;
use crate::collect::kept_sample::KeptSample;
use crate::collect::plane;
use crate::collect::questions::QuestionCollector;
use crate::collect::sample::{SampleBuffer, SampledToken};
use crate::collect::signs::SignState;
use crate::collect::tally::BatchKey;
use crate::collect::views::KeptResponses;
use crate::collect::vocabulary::VocabularyCounts;
use crate::plan::Plan;
use stapo_accumulate::Accumulate;
use stapo_ingest::right::SeenRewards;

impl State {
    /// Gathers what the workers of one process collected.
    pub fn gather(collectors: Vec<Collector<'_>>, gates: &Gates, plan: &Plan) -> Self {
        let mut tables = Tables::default();
        let (mut counted, mut buffers, mut questions, mut signs) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut claims = Vec::new();
        for collector in collectors {
            tables.groups.push(collector.groups);
            tables.rewards.push(collector.rewards);
            tables.planes.push(collector.plane);
            tables.vocabularies.push(collector.vocabulary);
            tables.views.push(collector.views);
            tables.diagnostics.push(collector.diagnostics);
            tables.clusters.push(collector.clusters);
            tables.placed |= collector.placed;
            counted.push((collector.batches, [collector.rare, collector.common, collector.idle]));
            buffers.push(collector.candidates);
            claims.push(collector.claims);
            questions.push(collector.questions);
            signs.push(collector.signs);
        }
        let keys: BTreeSet<BatchKey> = counted.iter().flat_map(|(batches, _)| batches.keys()).collect();
        let level = level_for(keys.len());
        let kept = KeptCount::of(&gates.kept);
        let batches = || gather_batches(counted, gates, &kept);
        let questions = || QuestionCollector::gather(questions, &gates.questions, level);
        let candidates = || CandidateStore::gather(buffers, plan.limits.candidate_bytes);
        let signs = || SignState::gather(signs, &gates.signs);
        let (((batches, [rare, common, idle]), questions), ((tables, candidates), signs)) = rayon::join(
            || rayon::join(batches, questions),
            || rayon::join(|| (tables.merge(), candidates()), signs),
        );
        let Merged { groups, rewards, plane, vocabulary, views, diagnostics, clusters, placed } = tables;
        Self {
            kept,
            groups,
            rewards,
            plane,
            vocabulary,
            candidates,
            rare,
            common,
            idle,
            claims: KeptSample::gather(claims, &gates.claims),
            views,
            diagnostics,
            signs,
            clusters,
            questions,
            batches,
            placed,
        }
    }
}

/// The samples of one worker: rare, common and idle tokens.
type Samples = [SampleBuffer<SampledToken>; 3];

/// Batches and the tokens that were kept of them, which know the numbers of their batches.
fn gather_batches(
    workers: Vec<(BatchTable, Samples)>,
    gates: &Gates,
    kept: &KeptCount,
) -> (Batches, [KeptSample<SampledToken>; 3]) {
    let (tables, mut samples): (Vec<BatchTable>, Vec<Samples>) = workers.into_iter().unzip();
    let keys: Vec<Vec<BatchKey>> = tables.iter().map(BatchTable::keys).collect();
    let mut batches = BatchTable::merge(tables);
    samples.par_iter_mut().zip(&keys).for_each(|(samples, keys)| {
        let numbers = numbers(&batches, keys);
        for sample in samples {
            sample.for_each(|token| token.batch = numbers[token.batch as usize]);
        }
    });
    forget_too_many_entropies(kept, &mut batches);
    let mut of_kinds: [Vec<_>; 3] = Default::default();
    for samples in samples {
        of_kinds.iter_mut().zip(samples).for_each(|(all, mine)| all.push(mine));
    }
    let [rare, common, idle] = of_kinds;
    let rare = KeptSample::gather(rare, &gates.rare);
    (batches, [rare, KeptSample::gather(common, &gates.common), KeptSample::gather(idle, &gates.idle)])
}

/// Tables of all workers that are added up.
#[derive(Default)]
struct Tables {
    groups: Vec<GroupTable>,
    rewards: Vec<SeenRewards>,
    planes: Vec<BySign>,
    vocabularies: Vec<VocabularyCounts>,
    views: Vec<KeptResponses>,
    diagnostics: Vec<Diagnostics>,
    clusters: Vec<Option<Clusters>>,
    placed: bool,
}

/// What they add up to.
struct Merged {
    groups: GroupTable,
    rewards: SeenRewards,
    plane: BySign,
    vocabulary: VocabularyCounts,
    views: KeptResponses,
    diagnostics: Diagnostics,
    clusters: Option<Clusters>,
    placed: bool,
}

impl Tables {
    fn merge(self) -> Merged {
        let mut merged = Merged {
            groups: GroupTable::default(),
            rewards: SeenRewards::default(),
            plane: BySign::new(plane::CELLS),
            vocabulary: VocabularyCounts::default(),
            views: KeptResponses::default(),
            diagnostics: Diagnostics::default(),
            clusters: None,
            placed: self.placed,
        };
        self.groups.into_iter().for_each(|groups| merged.groups.merge(groups));
        self.rewards.iter().for_each(|rewards| merged.rewards.merge(rewards));
        self.planes.iter().for_each(|plane| merged.plane.merge(plane));
        self.vocabularies.into_iter().for_each(|vocabulary| merged.vocabulary.merge(vocabulary));
        self.views.into_iter().for_each(|views| merged.views.merge(views));
        self.diagnostics.into_iter().for_each(|found| merged.diagnostics.merge(found));
        self.clusters.into_iter().for_each(|clusters| add_clusters(&mut merged.clusters, clusters));
        merged.clusters.iter_mut().for_each(Clusters::close);
        merged
    }
}
