//! The state as files: how it is written, read and merged.

use super::State;
use super::joining::{add_clusters, forget_too_many_entropies, numbers};
use crate::collect::batches::{BatchTable, Batches};
use crate::collect::by_sign::BySign;
use crate::collect::candidates::CandidateStore;
use crate::collect::claim_tokens::ClaimToken;
use crate::collect::clusters::Clusters;
use crate::collect::diagnostics::Diagnostics;
use crate::collect::groups::GroupTable;
use crate::collect::kept_entropies::KeptCount;
use crate::collect::kept_sample::KeptSample;
use crate::collect::questions::CollectedQuestions;
use crate::collect::sample::SampledToken;
use crate::collect::signs::SignState;
use crate::collect::views::KeptResponses;
use crate::collect::vocabulary::VocabularyCounts;
use crate::part::{Part, small_part};
use stapo_accumulate::Accumulate;
use stapo_base::error::Result;
use stapo_ingest::right::SeenRewards;
use stapo_store::parts::{PartReader, PartWriter};

/// Sections that are read side by side: so many each, of about the same size.
const BESIDE: [usize; 4] = [3, 4, 4, 6];

small_part!(Batches, |into, other| {
    into.extend(other);
    *into = BatchTable::merge_entries(std::mem::take(into));
});
small_part!(KeptCount, |into, other| into.merge(other));
small_part!(GroupTable, |into, other| into.merge(other));
small_part!(SeenRewards, |into, other| into.merge(&other));
small_part!(BySign, |into, other| into.merge(&other));
small_part!(VocabularyCounts, |into, other| into.merge(other));
small_part!(KeptSample<SampledToken>, |into, other| into.merge(other));
small_part!(KeptSample<ClaimToken>, |into, other| into.merge(other));
small_part!(KeptResponses, |into, other| into.merge(other));
small_part!(Diagnostics, |into, other| Accumulate::merge(into, other));
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
            claims,
            views,
            diagnostics,
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
        diagnostics.write("diagnostics", out)?;
        signs.write("signs", out)?;
        clusters.write("clusters", out)?;
        questions.write("questions", out)?;
        placed.write("placed", out)?;
        claims.write("claims", out)
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
        let (diagnostics, signs, clusters, questions, placed, claims) = asked;
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
            claims,
            views,
            diagnostics,
            signs,
            clusters,
            questions,
            placed,
        };
        // Candidates got their numbers while they were read.
        state.views.renumber(&*input.unit);
        state.diagnostics.renumber(&*input.unit);
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
            claims,
            views,
            diagnostics,
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
            for token in samples.into_iter().flat_map(|sample| sample.tokens.iter_mut()) {
                token.batch = numbers[token.batch as usize];
            }
        }
        self.rare.merge(rare);
        self.common.merge(common);
        self.idle.merge(idle);
        self.claims.merge(claims);
        self.kept.merge(kept);
        forget_too_many_entropies(&self.kept, &mut self.batches);
        self.groups.merge(groups);
        self.rewards.merge(&rewards);
        self.plane.merge(&plane);
        self.vocabulary.merge(vocabulary);
        self.candidates.merge(candidates)?;
        self.views.merge(views);
        Accumulate::merge(&mut self.diagnostics, diagnostics);
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

    fn read_sampled(input: &mut PartReader) -> Result<([KeptSample<SampledToken>; 3], KeptResponses)> {
        let mut sample = |name: &str| Part::read(name, input);
        Ok(([sample("rare")?, sample("common")?, sample("idle")?], Part::read("views", input)?))
    }

    fn read_asked(input: &mut PartReader) -> Result<Asked> {
        Ok((
            Part::read("diagnostics", input)?,
            Part::read("signs", input)?,
            Part::read("clusters", input)?,
            Part::read("questions", input)?,
            Part::read("placed", input)?,
            Part::read("claims", input)?,
        ))
    }
}

/// What is read last.
type Asked = (Diagnostics, SignState, Option<Clusters>, CollectedQuestions, bool, KeptSample<ClaimToken>);
