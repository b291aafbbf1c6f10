//! Runs made up from a few numbers: the same responses, bit for bit, as in `expect.py`.

use crate::simulated::draws::Stream;
use serde::Deserialize;
use stapo_accumulate::Accumulate;
use stapo_evidence::series::{Form, Observed};

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Right,
    Signed,
    Graded,
    Bounded,
    Zeros,
    Bell,
    Heavy,
    Mean,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    Copy,
    Own,
    Bell,
    Price,
    Absent,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Part {
    pub name: String,
    pub kind: PartKind,
    pub level: Option<Vec<f64>>,
    pub weight: f64,
}

/// A change of the reward from a step on.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    Scale,
    Zero,
    Malus,
}

#[derive(Clone, Debug, Deserialize)]
pub struct MadeUp {
    pub seed: u64,
    /// Mean by step, of every slice or of each.
    pub level: Vec<Vec<f64>>,
    /// Added to that, by step.
    pub noise: Vec<f64>,
    /// Groups a step.
    pub groups: usize,
    /// Responses a group.
    pub size: usize,
    /// How far groups differ.
    pub spread: f64,
    pub kind: Kind,
    pub slices: usize,
    /// Share of the second slice of two, by step.
    pub mix: Option<Vec<f64>>,
    /// Whether slices are logged.
    pub column: bool,
    /// The first step's number.
    pub first: i64,
    pub parts: Vec<Part>,
    pub edits: Vec<(Edit, usize, f64)>,
    /// Share of the rewards that is missing.
    pub missing: f64,
    pub curve: bool,
}

pub struct Row {
    pub step: i64,
    pub group: u64,
    pub slice: String,
    pub values: Vec<f32>,
}

impl MadeUp {
    pub fn names(&self) -> Vec<&str> {
        std::iter::once("reward").chain(self.parts.iter().map(|part| part.name.as_str())).collect()
    }

    pub fn form(&self) -> Form {
        if self.curve { Form::Curve } else { Form::Responses }
    }

    pub fn observed(&self) -> Observed {
        self.observed_of(&self.rows())
    }

    pub fn observed_of(&self, rows: &[Row]) -> Observed {
        let mut observed = Observed::new(self.form(), &self.names());
        rows.iter().for_each(|row| observed.push(row.step, row.group, &row.slice, &row.values));
        observed.settle();
        observed
    }

    pub fn rows(&self) -> Vec<Row> {
        (0..self.level.len() * self.groups * self.size).map(|response| self.row(response)).collect()
    }

    fn row(&self, response: usize) -> Row {
        let stream = |number| Stream::new(self.seed, number);
        let group = response / self.size;
        let step = group / self.groups;
        let slice = match &self.mix {
            Some(share) => usize::from(stream(0).unit(group) < share[step]),
            None => (stream(0).unit(group) * self.slices as f64) as usize,
        };
        let levels = &self.level[step];
        let level = levels[slice.min(levels.len() - 1)];
        let centre = level + self.noise[step] + self.spread * stream(1).bell(group);
        let right = stream(2).unit(response) < centre;
        let u = stream(3).unit(response);
        let b = stream(4).bell(response);
        let x = match self.kind {
            Kind::Right => f64::from(u8::from(right)),
            Kind::Signed => {
                if right {
                    1.0
                } else {
                    -1.0
                }
            }
            Kind::Graded => (centre.clamp(0.0, 1.0) * 4.0 + u).floor().min(4.0) / 4.0,
            Kind::Bounded => {
                if right {
                    1.0 - 0.4 * u
                } else {
                    0.3 * u
                }
            }
            Kind::Zeros => {
                if right {
                    u
                } else {
                    0.0
                }
            }
            Kind::Bell => centre + b,
            Kind::Heavy => centre + b * b * b * b * b,
            Kind::Mean => centre,
        };
        let mut reward = x;
        let mut values = vec![f32::NAN];
        for (number, part) in (10..).zip(&self.parts) {
            let level = part.level.as_ref().map_or(0.0, |level| level[step]);
            let own = stream(number);
            let value = match part.kind {
                PartKind::Copy => x,
                PartKind::Own => f64::from(u8::from(own.unit(response) < level)),
                PartKind::Bell => level + 0.3 * own.bell(response),
                PartKind::Price => -level * own.unit(response),
                PartKind::Absent => f64::NAN,
            };
            if !value.is_nan() {
                reward += part.weight * value;
            }
            values.push(value as f32);
        }
        for (edit, _, value) in self.edits.iter().filter(|(_, from, _)| step >= *from) {
            match edit {
                Edit::Scale => reward *= value,
                Edit::Zero => reward = 0.0,
                Edit::Malus if x == 0.0 && stream(5).unit(response) < *value => reward = -1.0,
                Edit::Malus => {}
            }
        }
        if stream(6).unit(response) >= self.missing {
            values[0] = reward as f32;
        }
        let named = self.column && self.slices > 1;
        Row {
            step: self.first + step as i64,
            group: group as u64,
            slice: if named { format!("task {slice:02}") } else { String::new() },
            values,
        }
    }
}

impl MadeUp {
    /// 16 groups of 8 a step, of right and wrong answers.
    pub fn new(seed: u64, level: &[f64]) -> Self {
        Self {
            seed,
            level: level.iter().map(|level| vec![*level]).collect(),
            noise: vec![0.0; level.len()],
            groups: 16,
            size: 8,
            spread: 0.5,
            kind: Kind::Right,
            slices: 1,
            mix: None,
            column: true,
            first: 0,
            parts: Vec::new(),
            edits: Vec::new(),
            missing: 0.0,
            curve: false,
        }
    }
}
