//! What a made-up run is like: its size, what is wrong with it, and how healthy runs differ.

use stapo_analyze::analyze::result::CauseCode;
use stapo_analyze::stats::random::Random;

/// What is wrong with a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    Nothing,
    Hot,
    /// Every update a little beyond the edge of the clip.
    Brisk,
    /// Ruined as a hot run is, by updates that stay within the clip.
    Warm,
    Temperature(f64),
    TopP(f64),
    Stale,
    /// Old weights, and another precision.
    StaleImprecise,
    Imprecise,
    Flipped(f64),
    Noise,
    NoiseAsPart,
    Hacked,
    Paid,
    PositiveOnly,
    NegativeOnly,
    Solved,
    HugeRatio,
    Phantom,
    Cut,
    /// Two thirds of the groups are cut throughout, and teach nothing.
    MostlyCut,
    Observed,
    Shifted,
    OtherEntropy,
    /// Entropies in bits.
    Bits,
    /// From the middle on, the reward has the wrong sign.
    Negated,
}

impl Fault {
    /// The faults of the table, with the cause that is to be named.
    pub const ALL: [(Self, CauseCode); 22] = [
        (Self::Hot, CauseCode::LargeUpdates),
        (Self::Temperature(0.6), CauseCode::SamplerTemperature),
        (Self::Temperature(1.4), CauseCode::SamplerTemperature),
        (Self::TopP(0.9), CauseCode::SamplerTruncation),
        (Self::Stale, CauseCode::StaleSampler),
        (Self::Imprecise, CauseCode::PrecisionGap),
        (Self::Flipped(0.35), CauseCode::AdvantageContradictsReward),
        (Self::Noise, CauseCode::UninformativeReward),
        (Self::NoiseAsPart, CauseCode::UninformativeReward),
        (Self::Hacked, CauseCode::RewardHacking),
        (Self::Paid, CauseCode::RewardHacking),
        (Self::PositiveOnly, CauseCode::NoNegativeSignal),
        (Self::NegativeOnly, CauseCode::NoPositiveSignal),
        (Self::Solved, CauseCode::DeadGroups),
        (Self::HugeRatio, CauseCode::UnboundedRatio),
        (Self::Phantom, CauseCode::PhantomAdvantage),
        (Self::Cut, CauseCode::Truncation),
        (Self::Observed, CauseCode::ObservationTrained),
        (Self::Shifted, CauseCode::MisalignedLog),
        (Self::OtherEntropy, CauseCode::EntropyOfAnotherPolicy),
        (Self::Bits, CauseCode::EntropyOfAnotherPolicy),
        (Self::Negated, CauseCode::AdvantageContradictsReward),
    ];
}

/// How a healthy run differs from the plain one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Plain,
    /// Entropy falls to about half.
    Sharpens,
    /// Entropy rises by about a third.
    Widens,
    /// From one right answer in twenty to nineteen.
    LearnsFast,
    /// The reward stands still.
    Flat,
    /// One right answer in twenty, three at the end.
    Hard,
    /// Responses grow twice as long, whatever their reward.
    Grows,
    /// Groups of two.
    Pairs,
    /// One group a step.
    OneGroup,
    /// One turn, no column for it.
    OneTurn,
    /// Samplers of up to four steps ago that differ by rounding alone.
    Async,
    /// No ratios.
    NoRatio,
    /// Neither ratios nor the sampler's log-probabilities.
    Bare,
    /// Each response in two updates; the second has moved.
    TwoEpochs,
    /// The first update of a fresh optimizer moves rare tokens far.
    FirstJump,
    /// No parts of the reward.
    NoParts,
    /// Advantages against the mean of the step, not of the group.
    BatchBaseline,
    /// A sampler in bfloat16.
    Rounded,
    /// Advantages of tokens, against a learned value that errs.
    LearnedBaseline,
}

impl Kind {
    pub const ALL: [Self; 19] = [
        Self::Plain,
        Self::Sharpens,
        Self::Widens,
        Self::LearnsFast,
        Self::Flat,
        Self::Hard,
        Self::Grows,
        Self::Pairs,
        Self::OneGroup,
        Self::OneTurn,
        Self::Async,
        Self::NoRatio,
        Self::Bare,
        Self::TwoEpochs,
        Self::FirstJump,
        Self::NoParts,
        Self::BatchBaseline,
        Self::Rounded,
        Self::LearnedBaseline,
    ];
}

/// Responses of a run of the smallest steps, two groups each, at most.
const MOST: usize = 40_000;

/// The size of a run.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub steps: usize,
    pub groups: usize,
    pub group: usize,
    pub length: usize,
    pub vocabulary: usize,
    /// Scale of the advantages.
    pub scale: f64,
    pub kind: Kind,
}

impl Shape {
    /// A shape by chance: about as many tokens whatever the number of steps.
    pub fn draw(random: &mut Random, steps: usize, kind: Kind) -> Self {
        let sizes: Vec<usize> = [4, 8, 16, 64].into_iter().filter(|g| 2 * g * steps <= MOST).collect();
        let group = sizes[random.below(sizes.len())];
        let group = if kind == Kind::Pairs { 2 } else { group };
        let responses = (6_000 / steps).clamp(2 * group, 16 * group);
        let groups = if kind == Kind::OneGroup { 1 } else { (responses / group).max(2) };
        Self {
            steps,
            groups,
            group,
            length: 8 + random.below(24),
            vocabulary: [12, 32, 64, 256][random.below(4)],
            scale: 10.0_f64.powf(4.0 * random.unit() - 2.0),
            kind,
        }
    }
}
