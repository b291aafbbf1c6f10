//! Made-up runs of every size with one known fault: tokens are drawn from distributions whose p, H and
//! Σπ² are exact, so that only the fault is wrong. The table of `docs/diagnosis.md` comes from here:
//! `cargo test --release --test analyze pathologies::table -- --ignored --nocapture`.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use stapo_analyze::analyze::result::{CauseCode, Confidence};
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis};
use stapo_analyze::stats::random::Random;

use super::analyzed;
use super::support::{float_lists, floats, int_lists, ints, write_parquet};

/// What is wrong with a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Nothing,
    Hot,
    Temperature(f64),
    TopP(f64),
    Stale,
    Imprecise,
    Flipped(f64),
    Noise,
    Hacked,
    PositiveOnly,
    NegativeOnly,
    Solved,
    HugeRatio,
    Phantom,
    Cut,
    Observed,
    Shifted,
    OtherEntropy,
}

impl Fault {
    /// The faults of the table, with the cause that is to be named.
    const ALL: [(Self, CauseCode); 18] = [
        (Self::Hot, CauseCode::LargeUpdates),
        (Self::Temperature(0.6), CauseCode::SamplerTemperature),
        (Self::Temperature(1.4), CauseCode::SamplerTemperature),
        (Self::TopP(0.9), CauseCode::SamplerTruncation),
        (Self::Stale, CauseCode::StaleSampler),
        (Self::Imprecise, CauseCode::PrecisionGap),
        (Self::Flipped(0.35), CauseCode::AdvantageContradictsReward),
        (Self::Noise, CauseCode::UninformativeReward),
        (Self::Hacked, CauseCode::RewardHacking),
        (Self::PositiveOnly, CauseCode::NoNegativeSignal),
        (Self::NegativeOnly, CauseCode::NoPositiveSignal),
        (Self::Solved, CauseCode::DeadGroups),
        (Self::HugeRatio, CauseCode::UnboundedRatio),
        (Self::Phantom, CauseCode::PhantomAdvantage),
        (Self::Cut, CauseCode::Truncation),
        (Self::Observed, CauseCode::ObservationTrained),
        (Self::Shifted, CauseCode::MisalignedLog),
        (Self::OtherEntropy, CauseCode::EntropyOfAnotherPolicy),
    ];
}

/// The size of a run.
#[derive(Clone, Copy, Debug)]
struct Shape {
    steps: usize,
    groups: usize,
    group: usize,
    length: usize,
    vocabulary: usize,
    /// Scale of the advantages.
    scale: f64,
}

impl Shape {
    /// A shape by chance: about as many tokens whatever the number of steps.
    fn draw(random: &mut Random, steps: usize) -> Self {
        let group = [4, 8, 16, 64][random.below(4)];
        let responses = (6_000 / steps).clamp(2 * group, 16 * group);
        Self {
            steps,
            groups: (responses / group).max(2),
            group,
            length: 8 + random.below(24),
            vocabulary: [12, 32, 64][random.below(3)],
            scale: 10.0_f64.powf(4.0 * random.unit() - 2.0),
        }
    }
}

/// A categorical distribution.
struct Policy(Vec<f64>);

impl Policy {
    fn draw(random: &mut Random, vocabulary: usize) -> Self {
        let sharpness = 1.0 + 3.0 * random.unit();
        Self::normalised((0..vocabulary).map(|_| (sharpness * random.normal()).exp()).collect())
    }

    fn normalised(mut weights: Vec<f64>) -> Self {
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w = (*w / sum).max(1e-30));
        Self(weights)
    }

    fn at_temperature(&self, t: f64) -> Self {
        Self::normalised(self.0.iter().map(|p| p.powf(1.0 / t)).collect())
    }

    fn top_p(&self, mass: f64) -> Self {
        let mut sorted = self.0.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let mut sum = 0.0;
        let last = sorted.iter().find(|p| {
            sum += **p;
            sum >= mass
        });
        let cut = last.copied().unwrap_or(0.0);
        let sum: f64 = self.0.iter().filter(|p| **p >= cut).sum();
        Self(self.0.iter().map(|p| if *p >= cut { p / sum } else { 0.0 }).collect())
    }

    fn moved(&self, random: &mut Random, by: f64) -> Self {
        Self::normalised(self.0.iter().map(|p| p * (by * random.normal()).exp()).collect())
    }

    fn sample(&self, random: &mut Random) -> usize {
        let mut left = random.unit();
        let found = self.0.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        found.unwrap_or(0)
    }

    fn rarest(&self) -> usize {
        (0..self.0.len()).min_by(|a, b| self.0[*a].total_cmp(&self.0[*b])).unwrap_or(0)
    }

    fn entropy(&self) -> f64 {
        self.0.iter().map(|p| -p * p.ln()).sum()
    }
}

/// The columns of a log.
#[derive(Default)]
struct Log {
    steps: Vec<i64>,
    groups: Vec<i64>,
    samples: Vec<i64>,
    versions: Vec<i64>,
    rewards: Vec<f32>,
    answers: Vec<f32>,
    formats: Vec<f32>,
    advantages: Vec<f32>,
    truncated: Vec<bool>,
    ids: Vec<Vec<i32>>,
    turns: Vec<Vec<i32>>,
    /// ln π_old, ln μ, ln π_θ, H, Σπ².
    values: [Vec<Vec<f32>>; 5],
}

impl Log {
    fn write(&self, path: &Path) {
        let lists = |rows: &[Vec<f32>]| float_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let int_rows = |rows: &[Vec<i32>]| int_lists(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("step", ints(&self.steps)),
            ("group_id", ints(&self.groups)),
            ("sample_id", ints(&self.samples)),
            ("policy_version", ints(&self.versions)),
            ("reward", floats(&self.rewards)),
            ("reward/answer", floats(&self.answers)),
            ("reward/format", floats(&self.formats)),
            ("advantage", floats(&self.advantages)),
            ("truncated", Arc::new(BooleanArray::from(self.truncated.clone()))),
            ("token_ids", int_rows(&self.ids)),
            ("turn", int_rows(&self.turns)),
            ("logprob", lists(&self.values[0])),
            ("logprob_rollout", lists(&self.values[1])),
            ("logprob_new", lists(&self.values[2])),
            ("entropy", lists(&self.values[3])),
            ("sum_pi_sq", lists(&self.values[4])),
        ];
        write_parquet(path, columns, 4_096);
    }
}

/// A run being made.
struct Maker {
    fault: Fault,
    shape: Shape,
    random: Random,
    log: Log,
}

impl Maker {
    fn run(fault: Fault, shape: Shape, seed: u64) -> Log {
        let mut maker = Self { fault, shape, random: Random::new(seed, 77), log: Log::default() };
        for step in 0..shape.steps {
            for group in 0..shape.groups {
                maker.group(step, group);
            }
        }
        maker.log
    }

    fn way(&self, step: usize) -> f64 {
        step as f64 / (self.shape.steps - 1).max(1) as f64
    }

    fn group(&mut self, step: usize, group: usize) {
        let way = self.way(step);
        let ease = 0.3 * self.random.normal();
        let share = match self.fault {
            Fault::Hot | Fault::Hacked if way > 0.4 => 0.02,
            Fault::Solved => 0.98,
            Fault::Phantom => 0.0,
            Fault::Hacked => 0.6,
            _ => (0.35 + 0.3 * way + ease).clamp(0.03, 0.97),
        };
        let mut facts = Vec::new();
        for _ in 0..self.shape.group {
            let answer = f64::from(u8::from(self.random.unit() < share));
            let format = f64::from(u8::from(self.random.unit() < 0.85 || self.fault == Fault::Solved));
            let longer = if self.fault == Fault::Hacked { 1.0 + way } else { 1.0 };
            let length = (self.shape.length as f64 * longer * (0.6 + 0.8 * self.random.unit())) as usize;
            let reward = match self.fault {
                Fault::Noise => f64::from(u8::from(self.random.unit() < 0.5)),
                Fault::Hacked => 0.2 * answer + length as f64 / self.shape.length as f64,
                _ => answer + 0.2 * format,
            };
            facts.push((answer, format, length.max(4), reward));
        }
        let n = facts.len() as f64;
        let mean = facts.iter().map(|f| f.3).sum::<f64>() / n;
        let deviation = (facts.iter().map(|f| (f.3 - mean).powi(2)).sum::<f64>() / n).sqrt();
        let sign = match self.fault {
            Fault::Flipped(share) if self.random.unit() < share => -1.0,
            _ => 1.0,
        };
        for (sample, (answer, format, length, reward)) in facts.into_iter().enumerate() {
            let a = if deviation > 1e-9 { sign * (reward - mean) / deviation } else { 0.0 };
            let a = match self.fault {
                Fault::PositiveOnly => a.max(0.0),
                Fault::NegativeOnly => a.min(0.0),
                _ => a,
            };
            let cut = match self.fault {
                Fault::Cut => answer == 0.0,
                Fault::Hot if way > 0.4 => self.random.unit() < 0.9,
                _ => self.random.unit() < 0.02,
            };
            self.log.steps.push(step as i64);
            self.log.groups.push((step * self.shape.groups + group) as i64);
            self.log.samples.push(sample as i64);
            self.log.rewards.push(reward as f32);
            self.log.answers.push(answer as f32);
            self.log.formats.push(format as f32);
            self.log.advantages.push((self.shape.scale * a) as f32);
            self.log.truncated.push(cut);
            self.response(step, length, group == 0 && sample == 0);
        }
    }

    fn response(&mut self, step: usize, length: usize, first: bool) {
        let old = self.fault == Fault::Stale && self.random.unit() < 0.5;
        let lag = if old { 3 } else { 0 };
        self.log.versions.push(step as i64 - lag);
        let mut rows: [Vec<f32>; 5] = Default::default();
        let (mut ids, mut turns) = (Vec::new(), Vec::new());
        let turn_at = length / 2;
        for t in 0..length {
            let policy = Policy::draw(&mut self.random, self.shape.vocabulary);
            let sampler = match self.fault {
                Fault::Temperature(temperature) => policy.at_temperature(temperature),
                Fault::TopP(mass) => policy.top_p(mass),
                Fault::Stale if old => policy.moved(&mut self.random, 0.4),
                _ => policy.moved(&mut self.random, 0.004),
            };
            let observed = self.fault == Fault::Observed && (turn_at..turn_at + 3).contains(&t);
            let huge = self.fault == Fault::HugeRatio && step == self.shape.steps / 2 && first && t == 1;
            let id = match (observed, huge) {
                (true, _) => self.random.below(self.shape.vocabulary),
                (_, true) => policy.rarest(),
                _ => sampler.sample(&mut self.random),
            };
            let moves = match self.fault {
                Fault::Hot => 0.6,
                _ => 0.03,
            };
            let logprob = policy.0[id].ln();
            let mut rollout = sampler.0[id].ln();
            if self.fault == Fault::Imprecise {
                rollout += 0.25 * self.random.normal();
            }
            let mut new = logprob + moves * self.random.normal();
            if huge {
                new = -0.01;
                if let Some(advantage) = self.log.advantages.last_mut() {
                    *advantage = -9.0 * self.shape.scale as f32;
                }
            }
            let entropy = match self.fault {
                Fault::OtherEntropy => Policy::draw(&mut self.random, self.shape.vocabulary).entropy(),
                _ => policy.entropy(),
            };
            let collision: f64 = policy.0.iter().map(|p| p * p).sum();
            ids.push(id as i32);
            turns.push(i32::from(t >= turn_at));
            let values = [logprob, rollout.min(0.0), new.min(0.0).max(logprob - 9.0), entropy, collision];
            rows.iter_mut().zip(values).for_each(|(row, value)| row.push(value as f32));
        }
        if self.fault == Fault::Shifted {
            rows[3].rotate_right(1);
        }
        self.log.ids.push(ids);
        self.log.turns.push(turns);
        for (all, row) in self.log.values.iter_mut().zip(rows) {
            all.push(row);
        }
    }
}

fn analysis(fault: Fault, shape: Shape, seed: u64) -> RunAnalysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.parquet");
    Maker::run(fault, shape, seed).write(&path);
    let settings = AnalyzeSettings { vocab_size: Some(shape.vocabulary as u32), ..Default::default() };
    analyzed(&[path], &settings)
}

fn among_first_two(analysis: &RunAnalysis, code: CauseCode) -> bool {
    analysis.diagnosis.causes.iter().take(2).any(|cause| cause.code == code)
}

/// Likely causes beside dead groups, which healthy runs may have.
fn alarms(analysis: &RunAnalysis) -> Vec<&'static str> {
    let likely = |c: &&stapo_analyze::analyze::result::Cause| {
        c.confidence == Confidence::Likely && c.code != CauseCode::DeadGroups
    };
    analysis.diagnosis.causes.iter().filter(likely).map(|c| c.code.name()).collect()
}

fn told(analysis: &RunAnalysis) -> String {
    let diagnosis = &analysis.diagnosis;
    let causes: Vec<String> =
        diagnosis.causes.iter().map(|c| format!("{} {:?}", c.code.name(), c.confidence)).collect();
    format!("{:?} {:?} {causes:?}", diagnosis.state, diagnosis.damage)
}

#[test]
fn faults_are_named_and_none_without_one() {
    let mut random = Random::new(20, 0);
    for seed in 0..3 {
        let shape = Shape::draw(&mut random, [5, 12, 30][seed as usize]);
        let healthy = analysis(Fault::Nothing, shape, seed);
        assert_eq!(alarms(&healthy), Vec::<&str>::new(), "{shape:?}: {}", told(&healthy));
    }
    // The first of the list; `table` tries all of them in many shapes.
    for (fault, code) in Fault::ALL.into_iter().take(12) {
        let shape = Shape { steps: 12, groups: 16, group: 8, length: 16, vocabulary: 32, scale: 1.0 };
        let found = analysis(fault, shape, 5);
        assert!(among_first_two(&found, code), "{fault:?}: {}", told(&found));
    }
}

#[test]
fn three_steps_are_too_few_to_tell_a_change() {
    let shape = Shape { steps: 3, groups: 12, group: 8, length: 12, vocabulary: 32, scale: 1.0 };
    let found = analysis(Fault::Nothing, shape, 1);
    assert!(found.diagnosis.onsets.is_empty() && found.diagnosis.damage.is_empty());
    assert!(found.diagnosis.statement.contains("too few"), "{}", found.diagnosis.statement);
    assert!(found.verdict.health.starts_with("3 steps are too few"), "{}", found.verdict.health);
}

/// The table of `docs/diagnosis.md`.
#[test]
#[ignore = "minutes"]
fn table() {
    const STEPS: [usize; 5] = [3, 10, 30, 100, 1_000];
    let draws =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let mut lines = vec![format!("| run | {} |", STEPS.map(|s| format!("{s} steps")).join(" | "))];
    lines.push(format!("|---|{}", "---|".repeat(STEPS.len())));
    let mut random = Random::new(99, 0);
    let healthy = draws("HEALTHY_DRAWS", 500) / STEPS.len() as u64;
    let (mut quiet, mut undamaged, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for steps in STEPS {
        let (mut fine, mut whole) = (0, 0);
        for seed in 0..healthy {
            let found = analysis(Fault::Nothing, Shape::draw(&mut random, steps), 1_000 + seed);
            fine += u64::from(alarms(&found).is_empty());
            whole += u64::from(found.diagnosis.damage.is_empty());
            wrong.extend(alarms(&found));
        }
        quiet.push(format!("{} of {healthy}", healthy - fine));
        undamaged.push(format!("{} of {healthy}", healthy - whole));
    }
    lines.push(format!("| healthy: a likely cause | {} |", quiet.join(" | ")));
    lines.push(format!("| healthy: damage | {} |", undamaged.join(" | ")));
    let each = draws("FAULT_DRAWS", 100) / STEPS.len() as u64;
    for (fault, code) in Fault::ALL {
        let mut cells = Vec::new();
        for steps in STEPS {
            let named = (0..each).filter(|seed| {
                let found = analysis(fault, Shape::draw(&mut random, steps), 2_000 + seed);
                among_first_two(&found, code)
            });
            cells.push(format!("{} of {each}", named.count()));
        }
        lines.push(format!("| {fault:?} → `{}` | {} |", code.name(), cells.join(" | ")));
    }
    let text = format!("{}\nwrong: {wrong:?}\n", lines.join("\n"));
    std::fs::write(std::env::temp_dir().join("diagnosis_table.md"), &text).unwrap();
    assert!(!text.is_empty());
}
