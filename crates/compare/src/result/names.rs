//! What a metric is, and how it was tested.

use stapo_base::named;

// In the order in which a reader asks for them.
named! {
    /// What metrics are of.
    #[derive(Default)]
    pub enum Family {
        /// Metrics of the framework.
        #[default]
        Framework = "framework",
        /// Scalars of the trainer.
        Trainer = "trainer",
        /// What engineers ask beyond the framework, by step.
        Questions = "questions",
        /// Shares of the classes of the taxonomy.
        Classes = "classes",
    }
}

named! {
    /// The unit of a metric.
    #[derive(Default)]
    pub enum Unit {
        /// Nats.
        Nats = "nats",
        /// A part of a whole; shown in per cent.
        Share = "share",
        /// Tokens.
        Tokens = "tokens",
        /// A number without a unit.
        #[default]
        Number = "number",
    }
}

named! {
    /// The test of a difference.
    #[derive(Default)]
    pub enum Test {
        /// Wilcoxon's signed ranks of paired differences.
        WilcoxonSignedRank = "wilcoxon_signed_rank",
        /// Mann and Whitney's ranks of two sides that are not paired.
        MannWhitney = "mann_whitney",
        /// Welch's t of the means of two sides.
        WelchT = "welch_t",
        /// Too little to test.
        #[default]
        None = "none",
    }
}

named! {
    /// What a test counts, or an interval draws.
    #[derive(Default)]
    pub enum Drawn {
        /// Aligned steps.
        Steps = "steps",
        /// Prompts that both sides have.
        Prompts = "prompts",
        /// Groups of responses.
        Groups = "groups",
        /// Runs of an arm.
        Seeds = "seeds",
        /// Nothing.
        #[default]
        None = "none",
    }
}

impl Drawn {
    /// “11 steps”, “1 step”.
    #[must_use]
    pub fn counted(self, count: u64) -> String {
        let name = if count == 1 { self.name().trim_end_matches('s') } else { self.name() };
        format!("{} {name}", stapo_base::format::grouped(count))
    }
}

named! {
    /// What can be said of a metric.
    #[derive(Default)]
    pub enum Finding {
        /// It differs.
        Differs = "differs",
        /// Test and interval disagree: only one of the two says that it differs.
        Unclear = "unclear",
        /// No difference beyond noise; one could have been found.
        NoDifference = "no_difference",
        /// No difference was found, but the interval does not even exclude that the metric vanished, or that a
        /// share is all.
        TooWide = "too_wide",
        /// Not even the clearest result would have been significant.
        TooFew = "too_few",
        /// It is 0 on both sides.
        NoneSeen = "none_seen",
        /// There is no test.
        #[default]
        NotTested = "not_tested",
    }
}
