//! Sums by group of responses: what comparisons resample. Only collected where asked for.

/// Random groups that token counts are kept in; their scatter gives the error of a share.
pub const REPLICATES: usize = 16;

macro_rules! sums {
    ($($variant:ident $doc:literal;)*) => {
        /// What is summed over a cluster.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ClusterSum { $(#[doc = $doc] $variant,)* }

        impl ClusterSum {
            /// How many sums there are.
            pub const COUNT: usize = [$(Self::$variant,)*].len();
        }
    };
}

sums! {
    Responses "Responses.";
    Rewarded "Responses with a reward.";
    Reward "Rewards.";
    Tokens "Trained tokens.";
    Complete "Trained tokens with all values.";
    Entropy "H.";
    Positive "Tokens with A > 0.";
    Zero "Tokens with A = 0.";
    Clipped "Tokens that clipping cuts.";
    PositiveEnergy "‖g‖² where A > 0.";
    NegativeEnergy "‖g‖² where A < 0.";
    Risk "(−ln p − H)₊ where A > 0.";
    Candidates "Candidates.";
    Silenced "Silenced tokens.";
    SilencedEnergy "‖g‖² of the silenced tokens.";
    ExploratoryEnergy "‖g‖² of the other candidates.";
}

/// The sums of a cluster, by [`ClusterSum`].
pub type ClusterSums = [f64; ClusterSum::COUNT];

/// The responses to one prompt at one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// A hash of the prompt, where logged.
    pub prompt: Option<u64>,
    /// Its sums.
    pub sums: ClusterSums,
}

/// The clusters of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepClusters {
    /// Step.
    pub step: i64,
    /// Its clusters, in an order that depends on their ids alone.
    pub clusters: Vec<Cluster>,
}

/// Tokens of one sign of the advantage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassSums {
    /// Tokens.
    pub tokens: f64,
    /// Their energy.
    pub energy: f64,
    /// Of these, tokens with p < τ_p.
    pub rare_tokens: f64,
    /// Their energy.
    pub rare_energy: f64,
}

impl ClassSums {
    /// Adds other tokens.
    pub fn merge(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.energy += other.energy;
        self.rare_tokens += other.rare_tokens;
        self.rare_energy += other.rare_energy;
    }
}

/// The tokens of one step by entropy: classes can be cut at any edge of its bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepEntropies {
    /// Step.
    pub step: i64,
    /// For each bin of [`RunClusters::entropy_edges`]: A > 0, A < 0.
    pub bins: Vec<[ClassSums; 2]>,
    /// Tokens with A = 0.
    pub zero: f64,
}

/// All clusters of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunClusters {
    /// By step, ascending.
    pub steps: Vec<StepClusters>,
    /// What a cluster is.
    pub unit: ClusterUnit,
    /// Whether groups were so many that several share a cluster.
    pub coarse: bool,
    /// Tokens of every cell of the plane, by random group; cells as in `Plane` (x, y).
    pub plane: Vec<((u16, u16), [u64; REPLICATES])>,
    /// Tokens of every id, by random group.
    pub ids: Vec<(i32, [u64; REPLICATES])>,
    /// Where the bins of [`Self::entropies`] begin, in nats, ascending. The edges of a run with
    /// coarser bins are edges of every run.
    pub entropy_edges: Vec<f64>,
    /// Tokens by entropy, by step, ascending.
    pub entropies: Vec<StepEntropies>,
}

/// What a cluster is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterUnit {
    /// The responses of one group.
    Group,
    /// One response: groups are not logged.
    #[default]
    Response,
}
