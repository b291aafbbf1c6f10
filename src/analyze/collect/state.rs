//! What was collected of a run or of a part of it, without what collecting needs: it is written to
//! parts, read from them and merged, and becomes what is [`Collected`].

use rayon::prelude::*;

use super::batches::{BatchTable, Batches};
use super::by_sign::BySign;
use super::candidates::CandidateStore;
use super::clusters::Clusters;
use super::collector::{Collected, Collector, Gates};
use super::entropy_histogram::level_for;
use super::groups::GroupTable;
use super::kept::Kept;
use super::kept_entropies::KeptCount;
use super::plane;
use super::questions::{CollectedQuestions, QuestionCollector};
use super::run_sample::Sample;
use super::sample::SampledToken;
use super::signs::{CollectedSigns, SignState};
use super::tally::BatchKey;
use super::views::KeptResponses;
use super::vocabulary::VocabularyCounts;
use crate::analyze::plan::Plan;
use crate::analyze::right::SeenRewards;
use crate::error::Result;
use crate::parts::{Part, PartReader, PartWriter, small_part};

/// Sections that are read side by side: so many each, of about the same size.
const BESIDE: [usize; 4] = [3, 4, 4, 4];

/// What was collected of a part of a run.
pub struct State {
    batches: Batches,
    kept: KeptCount,
    groups: GroupTable,
    rewards: SeenRewards,
    plane: BySign,
    vocabulary: VocabularyCounts,
    candidates: CandidateStore,
    rare: Kept<SampledToken>,
    common: Kept<SampledToken>,
    idle: Kept<SampledToken>,
    views: KeptResponses,
    signs: SignState,
    clusters: Option<Clusters>,
    questions: CollectedQuestions,
    placed: bool,
}

small_part!(Batches, |into, other| {
    into.extend(other);
    *into = BatchTable::merge_entries(std::mem::take(into));
});
small_part!(KeptCount, |into, other| into.merge(other));
small_part!(GroupTable, |into, other| into.merge(other));
small_part!(SeenRewards, |into, other| into.merge(&other));
small_part!(BySign, |into, other| into.merge(&other));
small_part!(VocabularyCounts, |into, other| into.merge(other));
small_part!(Kept<SampledToken>, |into, other| into.merge(other));
small_part!(KeptResponses, |into, other| into.merge(other));
small_part!(SignState, |into, other| into.merge(other));
small_part!(CollectedQuestions, |into, other| into.merge(other));
small_part!(bool, |into, other| *into |= other);
small_part!(Option<Clusters>, |into, other| add_clusters(into, other));

impl Part for CandidateStore {
    fn write(&self, name: &str, out: &mut PartWriter) -> Result<()> {
        out.section(name, |out| Self::write(self, out))
    }

    fn read(name: &str, input: &mut PartReader) -> Result<Self> {
        let (unit, memory) = (input.unit.clone(), input.memory);
        input.section(name, |from| Self::read(from, memory, &*unit))
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        Self::merge(self, other)
    }
}

impl Part for State {
    /// The state has to be settled.
    fn write(&self, _: &str, out: &mut PartWriter) -> Result<()> {
        let Self {
            batches,
            kept,
            groups,
            rewards,
            plane,
            vocabulary,
            candidates,
            rare,
            common,
            idle,
            views,
            signs,
            clusters,
            questions,
            placed,
        } = self;
        batches.write("batches", out)?;
        kept.write("kept", out)?;
        groups.write("groups", out)?;
        rewards.write("rewards", out)?;
        plane.write("plane", out)?;
        vocabulary.write("vocabulary", out)?;
        Part::write(candidates, "candidates", out)?;
        rare.write("rare", out)?;
        common.write("common", out)?;
        idle.write("idle", out)?;
        views.write("views", out)?;
        signs.write("signs", out)?;
        clusters.write("clusters", out)?;
        questions.write("questions", out)?;
        placed.write("placed", out)
    }

    fn read(_: &str, input: &mut PartReader) -> Result<Self> {
        let (counted, listed, sampled, asked) = match input.beside(BESIDE)? {
            Some([mut first, mut second, mut third, mut fourth]) => {
                let ((counted, listed), (sampled, asked)) = rayon::join(
                    || rayon::join(|| Self::read_counted(&mut first), || Self::read_listed(&mut second)),
                    || rayon::join(|| Self::read_sampled(&mut third), || Self::read_asked(&mut fourth)),
                );
                (counted?, listed?, sampled?, asked?)
            }
            None => (
                Self::read_counted(input)?,
                Self::read_listed(input)?,
                Self::read_sampled(input)?,
                Self::read_asked(input)?,
            ),
        };
        let (batches, kept, groups) = counted;
        let (rewards, plane, vocabulary, candidates) = listed;
        let ([rare, common, idle], views) = sampled;
        let (signs, clusters, questions, placed) = asked;
        let mut state = Self {
            batches,
            kept,
            groups,
            rewards,
            plane,
            vocabulary,
            candidates,
            rare,
            common,
            idle,
            views,
            signs,
            clusters,
            questions,
            placed,
        };
        // Candidates got their numbers while they were read.
        state.views.renumber(&*input.unit);
        state.signs.renumber(&*input.unit);
        Ok(state)
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        let Self {
            batches,
            kept,
            groups,
            rewards,
            plane,
            vocabulary,
            candidates,
            mut rare,
            mut common,
            mut idle,
            views,
            signs,
            clusters,
            questions,
            placed,
        } = other;
        let keys = |batches: &Batches| batches.iter().map(|(key, _)| *key).collect::<Vec<_>>();
        let (mine, theirs) = (keys(&self.batches), keys(&batches));
        Part::merge(&mut self.batches, batches)?;
        let (mine, theirs) = (numbers(&self.batches, &mine), numbers(&self.batches, &theirs));
        for (numbers, samples) in [
            (mine, [&mut self.rare, &mut self.common, &mut self.idle]),
            (theirs, [&mut rare, &mut common, &mut idle]),
        ] {
            for token in samples.into_iter().flat_map(|sample| &mut sample.tokens) {
                token.batch = numbers[token.batch as usize];
            }
        }
        self.rare.merge(rare);
        self.common.merge(common);
        self.idle.merge(idle);
        self.kept.merge(kept);
        forget_too_many_entropies(&self.kept, &mut self.batches);
        self.groups.merge(groups);
        self.rewards.merge(&rewards);
        self.plane.merge(&plane);
        self.vocabulary.merge(vocabulary);
        self.candidates.merge(candidates)?;
        self.views.merge(views);
        self.signs.merge(signs);
        Part::merge(&mut self.clusters, clusters)?;
        self.questions.merge(questions);
        Part::merge(&mut self.placed, placed)
    }
}

impl State {
    fn read_counted(input: &mut PartReader) -> Result<(Batches, KeptCount, GroupTable)> {
        Ok((Part::read("batches", input)?, Part::read("kept", input)?, Part::read("groups", input)?))
    }

    fn read_listed(
        input: &mut PartReader,
    ) -> Result<(SeenRewards, BySign, VocabularyCounts, CandidateStore)> {
        Ok((
            Part::read("rewards", input)?,
            Part::read("plane", input)?,
            Part::read("vocabulary", input)?,
            Part::read("candidates", input)?,
        ))
    }

    fn read_sampled(input: &mut PartReader) -> Result<([Kept<SampledToken>; 3], KeptResponses)> {
        let mut sample = |name: &str| Part::read(name, input);
        Ok(([sample("rare")?, sample("common")?, sample("idle")?], Part::read("views", input)?))
    }

    fn read_asked(input: &mut PartReader) -> Result<(SignState, Option<Clusters>, CollectedQuestions, bool)> {
        Ok((
            Part::read("signs", input)?,
            Part::read("clusters", input)?,
            Part::read("questions", input)?,
            Part::read("placed", input)?,
        ))
    }

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
            rare: Kept::gather(rare, &gates.rare),
            common: Kept::gather(common, &gates.common),
            idle: Kept::gather(idle, &gates.idle),
            views,
            signs: SignState::gather(signs, &gates.signs),
            clusters,
            questions: QuestionCollector::gather(questions, &gates.questions, level_for(batches.len())),
            batches,
            placed,
        }
    }

    /// Puts what may come in any order into one: the same content is then the same bytes.
    pub fn settle(&mut self) {
        self.batches.iter_mut().for_each(|(_, tally)| tally.settle());
        self.rewards.settle();
        self.plane.settle();
        self.vocabulary.settle();
        self.arrange();
        self.signs.settle();
        self.questions.settle();
    }

    /// Puts what is looked at in its order into one.
    fn arrange(&mut self) {
        let Self { rare, common, idle, signs, questions, .. } = self;
        let level = level_for(self.batches.len());
        rayon::join(
            || [rare, common, idle].into_par_iter().for_each(Kept::settle),
            || rayon::join(|| signs.arrange(), || questions.arrange(level)),
        );
    }

    /// Gates for another part of the same run: what both together would not keep is not kept.
    pub fn gates_beside(&self, plan: &Plan) -> Gates {
        let gates = Gates::new(plan);
        gates.kept.follow(&self.kept);
        gates.rare.follow(self.rare.census.level());
        gates.common.follow(self.common.census.level());
        gates.idle.follow(self.idle.census.level());
        self.signs.bound(&gates.signs);
        self.questions.bound(&gates.questions);
        gates
    }

    /// Whether it was collected for this plan, and its tables are of the right sizes.
    pub fn fits(&self, plan: &Plan) -> bool {
        let gates = Gates::new(plan);
        let samples = [(&self.rare, &gates.rare), (&self.common, &gates.common), (&self.idle, &gates.idle)];
        let batches = self.batches.len();
        self.batches.is_sorted_by(|a, b| a.0 < b.0)
            && self.batches.iter().all(|(_, tally)| tally.histogram.fits())
            && self.kept.fits(&gates.kept)
            && self.plane.fits()
            && self.plane.len() == plane::CELLS
            && self.vocabulary.fits()
            && samples.iter().all(|(sample, gate)| {
                sample.census.fits(gate) && sample.tokens.iter().all(|token| (token.batch as usize) < batches)
            })
            && self.signs.fits(&gates.signs)
            && self.clusters.is_some() == Collector::new(plan, &gates, 1).clusters.is_some()
            && self.clusters.as_ref().is_none_or(Clusters::fits)
            && self.questions.fits(&gates.questions, &plan.questions)
    }

    /// Whether the numbers of scan units were hashed: they cannot be changed any more.
    pub fn is_placed(&self) -> bool {
        self.placed
    }

    /// What was collected of the whole run.
    pub fn finish(mut self, plan: &Plan) -> Collected {
        self.arrange();
        if let Some(clusters) = &self.clusters {
            self.plane.set_zero(&clusters.tokens_by_cell());
            self.vocabulary.dense().set_zero(&clusters.tokens_by_id());
        }
        let kept_all = self.kept.is_open();
        Collected {
            kept_all,
            sortable: kept_all && self.kept.seen() <= plan.limits.kept_entropies,
            batches: self.batches,
            groups: self.groups,
            rewards: self.rewards,
            plane: plane::finish(&self.plane),
            vocabulary: self.vocabulary,
            candidates: self.candidates,
            rare: Sample::new(self.rare),
            common: Sample::new(self.common),
            idle: Sample::new(self.idle),
            views: self.views,
            signs: CollectedSigns::new(self.signs),
            clusters: self.clusters,
            questions: self.questions,
        }
    }
}

/// Drops the entropies that were kept one by one, where there are too many of them.
fn forget_too_many_entropies(kept: &KeptCount, batches: &mut Batches) {
    if !kept.is_open() {
        batches.iter_mut().for_each(|(_, tally)| tally.kept.clear());
    }
}

fn add_clusters(into: &mut Option<Clusters>, other: Option<Clusters>) {
    match (into.as_mut(), other) {
        (Some(into), Some(other)) => into.merge(other),
        (None, other) => *into = other,
        (Some(_), None) => {}
    }
}

/// The numbers that batches have in the table of all.
fn numbers(batches: &Batches, keys: &[BatchKey]) -> Vec<u32> {
    keys.iter().map(|key| batches.partition_point(|(known, _)| known < key) as u32).collect()
}
