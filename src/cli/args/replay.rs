//! Arguments of `replay`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::input::InputArgs;
use super::questions::condition;
use super::showing::ShowingArgs;
use super::values::{first_steps, memory, non_negative, on_disk, positive, probability};
use stapo_base::condition::Condition;
use stapo_framework::corrections::{GEOMETRIC_MIS_BOUNDS, ICEPOP_BOUNDS, MIS_BOUNDS, TIS_CAP};
use stapo_framework::rules::{DUAL_CLIP, RATIO_CAP, Rule, STARE_TARGET};
use stapo_framework::s2t::{DEFAULT_TAU_P, LATE_QUANTILE};
use stapo_replay::objective::{NAMES, ObjectiveSettings};
use stapo_replay::{OptimizerSettings, ReplaySettings};

/// Objectives that others can be put on.
fn bases() -> Vec<&'static str> {
    Rule::OBJECTIVES.into_iter().filter(|rule| !rule.is_wrapper()).map(Rule::name).collect()
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Folder for the report, replay.json and the arms' token logs
    #[arg(long, value_name = "DIR", help_heading = "Output", value_parser = on_disk)]
    pub report: PathBuf,

    /// How it is shown.
    #[command(flatten)]
    pub showing: ShowingArgs,

    /// Keep the final policy of every arm in DIR, as Hugging Face checkpoints (adapters as PEFT's)
    #[arg(long, value_name = "DIR", help_heading = "Output", value_parser = on_disk)]
    pub save: Option<PathBuf>,

    /// Show what the policy would rather have said, for flagged tokens
    #[arg(long, help_heading = "Output")]
    pub explain: bool,

    /// Go on with a replay that was stopped, to the same result
    #[arg(long, help_heading = "Output")]
    pub resume: bool,

    /// Stop after so many minutes with what is done; --resume goes on
    #[arg(long, value_name = "MIN", value_parser = positive, help_heading = "Output")]
    pub max_minutes: Option<f64>,

    /// Seconds between checkpoints; 0 after every step
    #[arg(long, value_name = "S", default_value_t = ReplaySettings::default().checkpoint_seconds, value_parser = non_negative, help_heading = "Output")]
    pub checkpoint_seconds: f64,

    /// Objectives, separated by commas; the first is the baseline
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "dapo,stapo,random", value_parser = rule(NAMES.to_vec()), help_heading = "Objectives")]
    pub objective: Vec<Rule>,

    /// A token is improbable below this probability
    #[arg(long, value_name = "P", default_value_t = DEFAULT_TAU_P, value_parser = probability, help_heading = "Objectives")]
    pub tau_p: f64,

    /// The entropy threshold is this quantile of the candidates
    #[arg(long, value_name = "Q", default_value_t = LATE_QUANTILE, value_parser = probability, help_heading = "Objectives")]
    pub entropy_quantile: f64,

    /// Clip range below 1 [default: each objective's own]
    #[arg(long, value_name = "EPS", value_parser = non_negative, requires = "clip_high", help_heading = "Objectives")]
    pub clip_low: Option<f64>,

    /// Clip range above 1 [default: each objective's own]
    #[arg(long, value_name = "EPS", value_parser = non_negative, requires = "clip_low", help_heading = "Objectives")]
    pub clip_high: Option<f64>,

    /// Objective that dual_clip, ratio_cap, tis, icepop and mis_* are put on
    #[arg(long, value_name = "NAME", default_value_t = ObjectiveSettings::default().base, value_parser = rule(bases()), help_heading = "Objectives")]
    pub base: Rule,

    /// Bound of the dual clip of justrl and dual_clip: where A < 0 the loss is at most −C·A
    #[arg(long, value_name = "C", default_value_t = DUAL_CLIP, value_parser = positive, help_heading = "Objectives")]
    pub dual_clip: f64,

    /// Cap of ρ in the gradient of ratio_cap
    #[arg(long, value_name = "C", default_value_t = RATIO_CAP, value_parser = positive, help_heading = "Objectives")]
    pub ratio_cap: f64,

    /// Cap of π_old/μ in tis
    #[arg(long, value_name = "C", default_value_t = TIS_CAP, value_parser = positive, help_heading = "Objectives")]
    pub tis_cap: f64,

    /// Bounds of π_old/μ in icepop
    #[arg(long, value_name = "LOW,HIGH", default_value_t = Pair(ICEPOP_BOUNDS), value_parser = bounds, help_heading = "Objectives")]
    pub icepop_bounds: Pair,

    /// Bounds of μ/π_old in mis_token (a token's) and mis_sequence (a response's)
    #[arg(long, value_name = "LOW,HIGH", default_value_t = Pair(MIS_BOUNDS), value_parser = bounds, help_heading = "Objectives")]
    pub mis_bounds: Pair,

    /// Bounds of the geometric mean of μ/π_old in mis_geometric
    #[arg(long, value_name = "LOW,HIGH", default_value_t = Pair(GEOMETRIC_MIS_BOUNDS), value_parser = bounds, help_heading = "Objectives")]
    pub geometric_bounds: Pair,

    /// Mean entropy below which stare is active
    #[arg(long, value_name = "NATS", default_value_t = STARE_TARGET, value_parser = non_negative, help_heading = "Objectives")]
    pub stare_target: f64,

    /// Tokens that random draws from
    #[arg(long, value_enum, default_value_t = RandomFromArg::All, help_heading = "Objectives")]
    pub random_from: RandomFromArg,

    /// Tokens of a response in dr_grpo's denominator [default: the log's longest response]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Objectives")]
    pub constant_length: Option<u64>,

    /// Weight of the divergence (k3) from the starting policy
    #[arg(long, value_name = "BETA", default_value_t = ReplaySettings::default().kl_beta, value_parser = non_negative, help_heading = "Objectives")]
    pub kl_beta: f64,

    /// Checkpoint folder of Hugging Face: qwen3, qwen2 or llama [default: a surrogate fitted to the log]
    #[arg(long, value_name = "DIR", help_heading = "Policy")]
    pub model: Option<PathBuf>,

    /// Train a low-rank adapter of this rank on all linear layers of attention and feed-forward part; the
    /// model stays as it is and takes a fraction of the memory
    #[arg(long, value_name = "RANK", value_parser = clap::value_parser!(u64).range(1..), requires = "model", help_heading = "Policy")]
    pub lora: Option<u64>,

    /// The adapter's part is multiplied by ALPHA over its rank [default: twice the rank]
    #[arg(long, value_name = "ALPHA", value_parser = positive, requires = "lora", help_heading = "Policy")]
    pub lora_alpha: Option<f64>,

    /// Go on with a LoRA adapter of PEFT's: a folder with adapter_config.json and adapter_model.safetensors
    #[arg(long, value_name = "DIR", conflicts_with = "lora", requires = "model", help_heading = "Policy")]
    pub adapter: Option<PathBuf>,

    /// Where the policy runs: cpu, or wgpu and cuda:N where they are built in
    #[arg(long, value_name = "DEVICE", default_value_t = ReplaySettings::default().device, help_heading = "Policy")]
    pub device: String,

    /// Tokens of a micro-batch [default: what suits the device]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Policy")]
    pub tokens_per_microbatch: Option<u64>,

    /// Recompute activations in the backward pass: less memory, more time
    #[arg(long, help_heading = "Policy")]
    pub gradient_checkpointing: bool,

    /// Matrix products in bfloat16 where the device can; weights stay in single precision
    #[arg(long, help_heading = "Policy")]
    pub bf16: bool,

    /// Memory of the device to plan with, such as 24G [default: what is free when the replay begins]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = "Policy")]
    pub device_memory: Option<u64>,

    /// Updates of the surrogate's fit at most; it ends where its log-probabilities correlate with the
    /// logged ones by 0.9
    #[arg(long, value_name = "N", default_value_t = ReplaySettings::default().surrogate_updates, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Policy")]
    pub surrogate_updates: u64,

    /// Only the first N responses of the log
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Data")]
    pub responses: Option<u64>,

    /// Only the first N steps of the log; others with `convert RUN --steps 10..40 -o part.parquet` before
    #[arg(long, value_name = "N", value_parser = first_steps, help_heading = "Data")]
    pub steps: Option<u64>,

    /// Responses of a mini-batch [default: the log's own mini-batches, else 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Data")]
    pub minibatch: Option<u64>,

    /// When a held-out response is right, for example reward/answer>0.5 [default: a part of the reward
    /// whose name says so, else the higher of two rewards, else better than its group]
    #[arg(long, value_name = "CONDITION", value_parser = condition, help_heading = "Data")]
    pub pass: Option<Condition>,

    /// Share of the prompts that no arm trains on
    #[arg(long, value_name = "SHARE", default_value_t = ReplaySettings::default().holdout, value_parser = below_one, help_heading = "Data")]
    pub holdout: f64,

    /// Seeds of every objective: order of mini-batches, random masks
    #[arg(long, value_name = "N", default_value_t = ReplaySettings::default().seeds, value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = "Data")]
    pub seeds: u64,

    /// Mini-batches in the log's order, whatever the seed
    #[arg(long, help_heading = "Data")]
    pub no_shuffle: bool,

    /// Old log-probabilities: the log's, the replayed policy's at the step's start, or the log's
    /// while the drift is small
    #[arg(long, value_enum, default_value_t = OldArg::Auto, help_heading = "Data")]
    pub old: OldArg,

    /// Mean |ln ρ| at which auto stops to trust the log
    #[arg(long, value_name = "D", default_value_t = ReplaySettings::default().drift_limit, value_parser = non_negative, help_heading = "Data")]
    pub drift_limit: f64,

    /// Passes over each step
    #[arg(long, value_name = "N", default_value_t = ReplaySettings::default().epochs, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Optimizer")]
    pub epochs: u64,

    /// Learning rate of AdamW [default: the log's, else 1e-6]
    #[arg(long, value_name = "RATE", value_parser = non_negative, help_heading = "Optimizer")]
    pub lr: Option<f64>,

    /// β₁ and β₂ of AdamW
    #[arg(long, value_name = "B1,B2", default_value_t = Pair(OptimizerSettings::default().betas), value_parser = betas, help_heading = "Optimizer")]
    pub betas: Pair,

    /// ε of AdamW
    #[arg(long, value_name = "EPS", default_value_t = OptimizerSettings::default().eps, value_parser = non_negative, help_heading = "Optimizer")]
    pub eps: f64,

    /// Weight decay of AdamW
    #[arg(long, value_name = "DECAY", default_value_t = OptimizerSettings::default().weight_decay, value_parser = non_negative, help_heading = "Optimizer")]
    pub weight_decay: f64,

    /// Updates over which the learning rate rises
    #[arg(long, value_name = "N", default_value_t = OptimizerSettings::default().warmup, help_heading = "Optimizer")]
    pub warmup: u64,

    /// The gradient's global norm is clipped to this
    #[arg(long, value_name = "NORM", default_value_t = OptimizerSettings::default().max_grad_norm, value_parser = positive, help_heading = "Optimizer")]
    pub max_grad_norm: f64,
}

/// Tokens that the control draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RandomFromArg {
    /// All trained tokens
    All,
    /// Tokens with positive advantage
    Positive,
    /// Candidates
    Candidates,
}

/// Old log-probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OldArg {
    /// The log's
    Log,
    /// The replayed policy's at the step's start
    Recompute,
    /// The log's while the drift is below --drift-limit
    Auto,
}

/// One of the rules of these names.
fn rule(names: Vec<&'static str>) -> impl TypedValueParser<Value = Rule> {
    let named = |name: String| Rule::objective(&name).ok_or("there is no such objective");
    PossibleValuesParser::new(names).try_map(named)
}

fn below_one(text: &str) -> Result<f64, String> {
    probability(text).and_then(|v| if v < 1.0 { Ok(v) } else { Err("not a number below 1".into()) })
}

/// Two numbers, written with a comma between them.
#[derive(Clone, Copy, Debug)]
pub struct Pair(pub (f64, f64));

impl std::fmt::Display for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (first, second) = self.0;
        write!(f, "{first},{second}")
    }
}

fn bounds(text: &str) -> Result<Pair, String> {
    let wrong = || "not two numbers with a comma between them, the lower one first".to_owned();
    let (low, high) = text.split_once(',').ok_or_else(wrong)?;
    let (low, high) = (non_negative(low.trim())?, positive(high.trim())?);
    if low < high { Ok(Pair((low, high))) } else { Err(wrong()) }
}

fn betas(text: &str) -> Result<Pair, String> {
    let one = |text: &str| below_one(text.trim());
    match text.split_once(',') {
        Some((first, second)) => Ok(Pair((one(first)?, one(second)?))),
        None => Err("not two numbers with a comma between them".into()),
    }
}
