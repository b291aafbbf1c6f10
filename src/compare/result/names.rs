//! What a metric is, and how it was tested.

named! {
    /// Metrics whose p-values are adjusted together.
    #[derive(Default)]
    pub enum Family {
        /// Metrics of the framework.
        #[default]
        Framework = "framework",
        /// Scalars of the trainer.
        Trainer = "trainer",
        /// Shares of the classes of the taxonomy.
        Classes = "classes",
    }
}

impl Family {
    /// All, those that a reader asks for first before the others.
    pub const ALL: [Self; 3] = [Self::Framework, Self::Trainer, Self::Classes];
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
        /// Blocks of neighbouring steps.
        Blocks = "blocks",
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
