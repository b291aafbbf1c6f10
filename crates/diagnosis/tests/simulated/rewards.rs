//! Rewards of a run whose truth is known: groups differ by half-normal odds, responses within a group by chance.

use super::draws::Draws;
use stapo_evidence::series::{Form, Observed};
use std::sync::OnceLock;

/// How far groups differ, in logits: a few prompts are always solved, a few never.
const SPREAD: f64 = 1.7;
/// Logits that are looked up, and between two of them.
const LOGITS: usize = 561;
const GRID: f64 = 0.05;

/// The logit at which a share of the responses is right, groups having [`SPREAD`].
fn logit_of(share: f64) -> f64 {
    static SHARES: OnceLock<Vec<f64>> = OnceLock::new();
    let logit = |at: usize| GRID * at as f64 - 14.0;
    let shares = SHARES.get_or_init(|| {
        let nodes: Vec<(f64, f64)> =
            (0..41).map(|i| 0.2 * f64::from(i) - 4.0).map(|h| (h, (-h * h / 2.0).exp())).collect();
        let all: f64 = nodes.iter().map(|node| node.1).sum();
        let share = |at| nodes.iter().map(|(h, w)| w / all / (1.0 + (-logit(at) - SPREAD * h).exp())).sum();
        (0..LOGITS).map(share).collect()
    });
    let right = shares.partition_point(|known| *known < share).clamp(1, LOGITS - 1);
    let (below, above) = (shares[right - 1], shares[right]);
    logit(right - 1) + GRID * ((share - below) / (above - below)).clamp(0.0, 1.0)
}

/// How a level becomes a reward.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// 1 for a right answer, 0 for a wrong one.
    Right,
    /// 1 and −1.
    Signed,
    Normal,
    /// With two degrees of freedom.
    Heavy,
    /// With one tail, of mean 0.
    Skewed,
}

/// The task of a group: by step, by place in the step.
pub type Task = fn(&mut Draws, usize, usize) -> usize;

/// What a run is drawn from.
pub struct Plan {
    /// By step, of every task or of each.
    pub level: Vec<Vec<f64>>,
    /// Groups a step.
    pub groups: usize,
    /// Responses a group.
    pub size: usize,
    /// Scatter of steps in logits, and its correlation from step to step.
    pub scatter: f64,
    pub correlation: f64,
    /// Whether groups differ.
    pub spread: bool,
    pub kind: Kind,
    pub task: Option<Task>,
    /// Whether the log begins with the first step of training.
    pub start: bool,
}

impl Plan {
    /// 32 groups of 8 a step, from the start.
    pub fn new(level: Vec<f64>) -> Self {
        Self::of_tasks(level.into_iter().map(|level| vec![level]).collect())
    }

    /// The same with a level for each task.
    pub fn of_tasks(level: Vec<Vec<f64>>) -> Self {
        Self {
            level,
            groups: 32,
            size: 8,
            scatter: 0.0,
            correlation: 0.0,
            spread: true,
            kind: Kind::Right,
            task: None,
            start: true,
        }
    }

    /// The log does not hold the start of training.
    pub fn later(self) -> Self {
        Self { start: false, ..self }
    }

    /// Groups a step, responses a group.
    pub fn sized(self, groups: usize, size: usize) -> Self {
        Self { groups, size, ..self }
    }

    /// Steps scatter by a process of this deviation, in logits, and correlation.
    pub fn scattered(self, scatter: f64, correlation: f64) -> Self {
        Self { scatter, correlation, ..self }
    }

    pub fn kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    pub fn task(self, task: Task) -> Self {
        Self { task: Some(task), ..self }
    }

    /// A log of it.
    pub fn draw(&self, draws: &mut Draws) -> Log {
        let steps = self.level.len();
        let process = draws.process(steps, self.correlation);
        let (mut tasks, mut reward) = (Vec::new(), Vec::new());
        for (step, shared) in process.iter().enumerate() {
            for group in 0..self.groups {
                let task = self.task.map_or(0, |task| task(draws, step, group));
                let levels = &self.level[step];
                let level = levels[task.min(levels.len() - 1)];
                let off = self.scatter * shared;
                tasks.push(task);
                let is_binary = matches!(self.kind, Kind::Right | Kind::Signed);
                let centre = match is_binary {
                    true => {
                        let own = if self.spread { SPREAD * draws.normal() } else { 0.0 };
                        1.0 / (1.0 + (-logit_of(level) - off - own).exp())
                    }
                    false => level + off + 0.7 * draws.normal(),
                };
                reward.extend((0..self.size).map(|_| match self.kind {
                    Kind::Right => f64::from(u8::from(draws.unit() < centre)),
                    Kind::Signed => {
                        if draws.unit() < centre {
                            1.0
                        } else {
                            -1.0
                        }
                    }
                    Kind::Normal => centre + draws.normal(),
                    Kind::Heavy => centre + draws.heavy(),
                    Kind::Skewed => centre + draws.normal().exp() - 1.65,
                }));
            }
        }
        Log {
            groups: self.groups,
            size: self.size,
            first: if self.start { 0 } else { 10 },
            tasks,
            reward,
            parts: vec![],
        }
    }
}

/// What was logged of a run.
pub struct Log {
    groups: usize,
    size: usize,
    first: i64,
    /// Of each group.
    tasks: Vec<usize>,
    /// Of each response.
    pub reward: Vec<f64>,
    parts: Vec<(&'static str, Vec<f64>)>,
}

impl Log {
    /// Makes the reward of each response anew from its step and what it was.
    pub fn edit(mut self, mut edit: impl FnMut(usize, f64) -> f64) -> Self {
        for at in 0..self.reward.len() {
            self.reward[at] = edit(self.step_of(at), self.reward[at]);
        }
        self
    }

    /// Logs a part of the reward, by step and the reward.
    pub fn part(mut self, name: &'static str, mut value: impl FnMut(usize, f64) -> f64) -> Self {
        let values = (0..self.reward.len()).map(|at| value(self.step_of(at), self.reward[at])).collect();
        self.parts.push((name, values));
        self
    }

    /// Adds a part to the reward, times a weight.
    pub fn plus(mut self, name: &str, weight: f64) -> Self {
        if let Some((_, values)) = self.parts.iter().find(|part| part.0 == name) {
            self.reward.iter_mut().zip(values).for_each(|(reward, value)| *reward += weight * value);
        }
        self
    }

    /// Does not log a part.
    pub fn without(mut self, name: &str) -> Self {
        self.parts.retain(|part| part.0 != name);
        self
    }

    /// Does not log the tasks.
    pub fn untold(mut self) -> Self {
        self.tasks.fill(0);
        self
    }

    fn step_of(&self, response: usize) -> usize {
        response / (self.groups * self.size)
    }

    /// The mean of each step.
    pub fn means(&self) -> Vec<f64> {
        let step = self.groups * self.size;
        self.reward.chunks(step).map(|rewards| rewards.iter().sum::<f64>() / step as f64).collect()
    }

    /// What is collected of it.
    pub fn observed(&self) -> Observed {
        let names: Vec<&str> =
            std::iter::once("reward").chain(self.parts.iter().map(|part| part.0)).collect();
        let mut observed = Observed::new(Form::Responses, &names);
        let told = self.tasks.iter().any(|task| *task > 0);
        let slices: Vec<String> = (0..=self.tasks.iter().copied().max().unwrap_or(0))
            .map(|task| format!("task {task:02}"))
            .collect();
        let mut values = vec![0.0; names.len()];
        for (at, reward) in self.reward.iter().enumerate() {
            values[0] = *reward as f32;
            values.iter_mut().skip(1).zip(&self.parts).for_each(|(value, part)| *value = part.1[at] as f32);
            let group = at / self.size;
            let slice = if told { slices[self.tasks[group]].as_str() } else { "" };
            observed.push(self.first + self.step_of(at) as i64, group as u64, slice, &values);
        }
        observed
    }
}
