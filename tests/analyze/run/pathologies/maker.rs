//! Makes a log: tokens are drawn from known distributions, so that only the fault is wrong.

use stapo_analyze::stats::random::Random;

use super::log::Log;
use super::policy::{Policy, State};
use super::run::{Fault, Kind, Shape};

/// States that tokens are drawn in.
const STATES: usize = 256;

/// One response before its tokens are drawn.
struct Sample {
    answer: f64,
    format: f64,
    coin: f64,
    length: usize,
    reward: f64,
}

/// A run being made.
pub struct Maker {
    fault: Fault,
    shape: Shape,
    random: Random,
    states: Vec<State>,
    log: Log,
}

impl Maker {
    pub fn run(fault: Fault, shape: Shape, seed: u64) -> Log {
        let mut random = Random::new(seed, 77);
        let mut states: Vec<State> = (0..STATES).map(|_| state(fault, shape, &mut random)).collect();
        states.sort_by(|a, b| a.entropy.total_cmp(&b.entropy));
        let mut maker = Self { fault, shape, random, states, log: Log::default() };
        let parts = match (fault, shape.kind) {
            (_, Kind::NoParts) => vec![],
            (Fault::NoiseAsPart, _) => vec!["reward/answer", "reward/coin", "reward/format"],
            _ => vec!["reward/answer", "reward/format"],
        };
        maker.log.parts = parts.into_iter().map(|name| (name, Vec::new())).collect();
        for step in 0..shape.steps {
            maker.step(step);
        }
        maker.log
    }

    fn way(&self, step: usize) -> f64 {
        step as f64 / (self.shape.steps - 1).max(1) as f64
    }

    /// The share of right answers in a group.
    fn share(&mut self, way: f64) -> f64 {
        let ease = 0.3 * self.random.normal();
        match (self.fault, self.shape.kind) {
            (Fault::Hot | Fault::Warm | Fault::Hacked, _) if way > 0.4 => 0.02,
            (Fault::MostlyCut, _) if self.random.unit() < 0.65 => 0.0,
            (Fault::Solved, _) => 0.98,
            (Fault::Phantom, _) => 0.0,
            (Fault::Hacked, _) => 0.6,
            (Fault::Negated, _) if way > 0.7 => (0.1 + 0.1 * ease).clamp(0.03, 0.97),
            (_, Kind::LearnsFast) => (0.05 + 0.9 * way + 0.1 * ease).clamp(0.01, 0.99),
            (_, Kind::Flat) => (0.5 + ease).clamp(0.03, 0.97),
            (_, Kind::Hard) => (0.05 + 0.1 * way + 0.1 * ease).clamp(0.0, 0.97),
            _ => (0.35 + 0.3 * way + ease).clamp(0.03, 0.97),
        }
    }

    fn sample(&mut self, way: f64, share: f64) -> Sample {
        let mut chance = |p: f64| f64::from(u8::from(self.random.unit() < p));
        let (answer, coin) = (chance(share), chance(0.5));
        let format = chance(match self.fault {
            Fault::Solved => 1.0,
            Fault::MostlyCut if share == 0.0 => 0.0,
            _ => 0.85,
        });
        let grows = self.fault == Fault::Hacked || self.shape.kind == Kind::Grows;
        let longer = if grows { 1.0 + way } else { 1.0 };
        let length = (self.shape.length as f64 * longer * (0.6 + 0.8 * self.random.unit())) as usize;
        let relative = length as f64 / self.shape.length as f64;
        let reward = match self.fault {
            Fault::Noise | Fault::NoiseAsPart => coin,
            Fault::Hacked => 0.2 * answer + relative,
            Fault::Negated if way >= 0.5 => -answer - 0.2 * format,
            Fault::Paid => 0.1 * answer + 2.0 * relative,
            _ => answer + 0.2 * format,
        };
        Sample { answer, format, coin, length: length.max(4), reward }
    }

    fn step(&mut self, step: usize) {
        let way = self.way(step);
        let groups: Vec<Vec<Sample>> = (0..self.shape.groups)
            .map(|_| {
                let share = self.share(way);
                (0..self.shape.group).map(|_| self.sample(way, share)).collect()
            })
            .collect();
        let moments = |rewards: &mut dyn Iterator<Item = f64>| {
            let rewards: Vec<f64> = rewards.collect();
            let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
            let square = rewards.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / rewards.len() as f64;
            (mean, square.sqrt())
        };
        let whole = moments(&mut groups.iter().flatten().map(|s| s.reward));
        for (number, group) in groups.into_iter().enumerate() {
            let own = moments(&mut group.iter().map(|s| s.reward));
            let (mean, deviation) = if self.shape.kind == Kind::BatchBaseline { whole } else { own };
            let sign = match self.fault {
                Fault::Flipped(share) if self.random.unit() < share => -1.0,
                _ => 1.0,
            };
            for (index, sample) in group.into_iter().enumerate() {
                let a = if deviation > 1e-9 { sign * (sample.reward - mean) / deviation } else { 0.0 };
                let a = match self.fault {
                    Fault::PositiveOnly => a.max(0.0),
                    Fault::NegativeOnly => a.min(0.0),
                    _ => a,
                };
                self.row(step, (number, index), &sample, a);
            }
        }
    }

    fn row(&mut self, step: usize, (group, index): (usize, usize), sample: &Sample, advantage: f64) {
        let way = self.way(step);
        let cut = match self.fault {
            Fault::Cut => sample.answer == 0.0,
            Fault::MostlyCut => sample.answer == 0.0 && sample.format == 0.0,
            Fault::Hot | Fault::Warm if way > 0.4 => self.random.unit() < 0.9,
            // A budget that longer and longer responses run into.
            Fault::Hacked if self.shape.kind == Kind::NoParts => 2 * sample.length > 3 * self.shape.length,
            _ => self.random.unit() < 0.02,
        };
        let log = &mut self.log;
        log.steps.push(step as i64);
        log.groups.push((step * self.shape.groups + group) as i64);
        log.samples.push(index as i64);
        log.rewards.push(sample.reward as f32);
        for (name, values) in &mut log.parts {
            let value = match *name {
                "reward/answer" => sample.answer,
                "reward/coin" => sample.coin,
                _ => sample.format,
            };
            values.push(value as f32);
        }
        log.advantages.push((self.shape.scale * advantage) as f32);
        if self.shape.kind == Kind::LearnedBaseline {
            let error = 1.5 * self.random.normal();
            let mut token = || (self.shape.scale * (advantage + error + 0.7 * self.random.normal())) as f32;
            log.token_advantages.push((0..sample.length).map(|_| token()).collect());
        }
        log.truncated.push(cut);
        let update = (self.shape.kind == Kind::TwoEpochs).then_some((group % 2) as i64);
        log.updates.extend(update);
        self.tokens(step, sample.length, group == 0 && index == 0, update == Some(1));
    }

    fn tokens(&mut self, step: usize, length: usize, first: bool, second_epoch: bool) {
        let (fault, kind) = (self.fault, self.shape.kind);
        let old = matches!(fault, Fault::Stale | Fault::StaleImprecise) && self.random.unit() < 0.5;
        let lag = match kind {
            _ if old => 3,
            Kind::Async => self.random.below(5) as i64,
            _ => 0,
        };
        self.log.versions.push(step as i64 - lag);
        let mut rows: [Vec<f32>; 5] = Default::default();
        let (mut ids, mut turns) = (Vec::new(), Vec::new());
        let turn_at = length / 2;
        let moves = match (fault, kind) {
            (Fault::Hot, _) => 0.6,
            (Fault::Warm, _) => 0.15,
            (Fault::Brisk, _) => 0.35,
            (_, Kind::TwoEpochs) if second_epoch => 0.1,
            _ => 0.03,
        };
        for t in 0..length {
            let at = self.place(step);
            let state = &self.states[at];
            let sampler = if old { &state.old } else { &state.sampler };
            let observed = fault == Fault::Observed && (turn_at..turn_at + 3).contains(&t);
            let huge = fault == Fault::HugeRatio && step == self.shape.steps / 2 && first && t == 1;
            let id = match (observed, huge) {
                (true, _) => self.random.below(self.shape.vocabulary),
                (_, true) => state.policy.rarest(),
                _ => sampler.sample(&mut self.random),
            };
            let logprob = state.policy.0[id].ln();
            let mut rollout = sampler.0[id].ln();
            match (fault, kind) {
                (Fault::Imprecise, _) => rollout += 0.25 * self.random.normal(),
                (Fault::StaleImprecise, _) => rollout += 0.15 * self.random.normal(),
                (_, Kind::Rounded) => rollout *= 1.0 + 0.004 * (self.random.unit() - 0.5),
                _ => {}
            }
            let mut new = logprob + moves * self.random.normal();
            if kind == Kind::FirstJump && step == 0 && logprob < -5.0 {
                new = logprob + 2.0 * self.random.unit();
            }
            if huge {
                new = -0.01;
                if let Some(advantage) = self.log.advantages.last_mut() {
                    *advantage = -3.0 * self.shape.scale as f32;
                }
            }
            let entropy = match fault {
                Fault::OtherEntropy => self.states[self.random.below(STATES)].entropy,
                Fault::Bits => state.entropy / std::f64::consts::LN_2,
                _ => state.entropy,
            };
            let collision = self.states[at].collision;
            ids.push(id as i32);
            turns.push(i32::from(t >= turn_at));
            let values = [logprob, rollout.min(0.0), new.clamp(logprob - 9.0, 0.0), entropy, collision];
            rows.iter_mut().zip(values).for_each(|(row, value)| row.push(value as f32));
        }
        if fault == Fault::Shifted {
            rows[3].rotate_right(1);
        }
        self.log.ids.push(ids);
        if kind != Kind::OneTurn {
            self.log.turns.push(turns);
        }
        let logged = match kind {
            Kind::NoRatio => [true, true, false, true, true],
            Kind::Bare => [true, false, false, true, true],
            _ => [true; 5],
        };
        for ((all, row), logged) in self.log.values.iter_mut().zip(rows).zip(logged) {
            if logged {
                all.push(row);
            }
        }
    }

    /// Which state a token is drawn in: states are in the order of their entropy.
    fn place(&mut self, step: usize) -> usize {
        let way = self.way(step);
        let any = self.random.unit();
        let place = match self.shape.kind {
            Kind::Sharpens => any.powf(1.0 + way),
            Kind::Widens => any.powf(1.0 / (1.0 + 0.8 * way)),
            _ => any,
        };
        ((place * STATES as f64) as usize).min(STATES - 1)
    }
}

fn state(fault: Fault, shape: Shape, random: &mut Random) -> State {
    let policy = Policy::draw(random, shape.vocabulary);
    let sampler = match fault {
        Fault::Temperature(temperature) => policy.at_temperature(temperature),
        Fault::TopP(mass) => policy.top_p(mass),
        _ => policy.moved(random, 0.004),
    };
    let old = policy.moved(random, 0.4);
    State { entropy: policy.entropy(), collision: policy.collision(), policy, sampler, old }
}
