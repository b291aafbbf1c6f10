//! Made-up logs with known truth: a policy whose logits depend on the prompt, the position and the last token, and move
//! away from the reference's by step.

use stapo_evidence::{Evidence, Response, mix};

pub const SIBLINGS: u64 = 8;

/// How the sampler differs from the trainer.
#[derive(Clone, Copy)]
pub enum Sampler {
    /// By rounding alone.
    Sound,
    /// By its temperature; logged values hold it.
    Tempered(f64),
    /// By its temperature; logged values are those before it.
    TemperedRaw(f64),
    /// It leaves out all but so many tokens.
    TopK(usize),
    /// Its weights are rounded: logits are off by so much.
    Coarse(f64),
    /// Its weights are those of this share of the way.
    Behind(f64),
    /// It keeps the weights of the start.
    Frozen,
    /// It has another prompt, whose part fades along the response.
    OtherPrompt,
    /// From this step on its weights are spoilt.
    SpoiltFrom(i64),
    /// It counts positions without the padding, which is so many tokens less than the longest prompt.
    NoPadding,
}

/// What is written.
#[derive(Clone, Copy, PartialEq)]
pub enum Text {
    /// Of twelve tokens, each of which may come.
    Toy,
    /// As a language model writes: 49,152 tokens, of which some dozens may come, often one alone; the sampler computes in
    /// bfloat16 with a cache, so that its first token is the trainer's and the gap grows from there.
    Language,
}

/// Ids of a language.
pub const IDS: u64 = 49_152;

impl Text {
    /// Tokens that may come.
    fn choices(self) -> usize {
        match self {
            Self::Toy => 12,
            Self::Language => 32,
        }
    }

    /// The logit of the `i`-th of them at the start of training.
    fn logit(self, context: u64, i: usize) -> f64 {
        let own = normal(context, i as u64);
        match self {
            Self::Toy => 1.5 * own,
            Self::Language => own - 4.0 * uniform(context, 77) * ((i + 1) as f64).ln(),
        }
    }

    fn id(self, context: u64, i: usize) -> i32 {
        match self {
            Self::Toy => i as i32,
            Self::Language => (mix(context, 5_000 + i as u64) % IDS) as i32,
        }
    }

    /// What rounding adds to the sampler's logits.
    fn rounding(self, position: usize) -> f64 {
        match self {
            Self::Toy => 0.03,
            Self::Language => 0.08 * (1.0 - (-(position as f64) / 4.0).exp()),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Made {
    /// Another one gives another run.
    pub seed: u64,
    pub text: Text,
    pub steps: i64,
    pub groups: u64,
    pub length: usize,
    /// How far logits move in a step.
    pub drift: f64,
    pub sampler: Sampler,
    /// Noise of each look of the trainer.
    pub noise: f64,
    /// ln π_θ − ln π_old a unit of advantage, of the way to the reference, of rarity.
    pub gain: f64,
    pub pull: f64,
    pub push: f64,
    /// What is changed in a response last.
    pub edit: fn(&mut Columns),
}

impl Default for Made {
    fn default() -> Self {
        Self {
            seed: 0,
            text: Text::Toy,
            steps: 8,
            groups: 16,
            length: 30,
            drift: 0.06,
            sampler: Sampler::Sound,
            noise: 0.0,
            gain: 0.03,
            pull: 0.0,
            push: 0.0,
            edit: |_| {},
        }
    }
}

/// The columns of one response.
pub struct Columns {
    pub step: i64,
    pub group: u64,
    pub prompt: Option<u64>,
    pub place: u64,
    pub update: i64,
    pub version: i64,
    pub reward: f32,
    pub advantage: f32,
    pub prompt_len: Option<i64>,
    pub tokens: Vec<i32>,
    pub logprob: Vec<f32>,
    pub entropy: Vec<f32>,
    pub rollout: Vec<f32>,
    pub new: Vec<f32>,
    pub reference: Option<Vec<f32>>,
    pub is_weight: Option<Vec<f32>>,
}

/// Uniform in 0..1.
pub fn uniform(a: u64, b: u64) -> f64 {
    (mix(a, b) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Close to normal: four uniform numbers of one hash.
pub fn normal(a: u64, b: u64) -> f64 {
    let hash = mix(a, b);
    let sum: f64 = (0..4).map(|i| f64::from((hash >> (16 * i)) as u16) / 65_536.0).sum();
    (sum - 2.0) * 3.0_f64.sqrt()
}

type Logits = Vec<f64>;

/// ln of the softmax.
fn log_softmax(logits: &Logits, temperature: f64) -> Logits {
    let top = logits.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = logits.iter().map(|x| ((x - top) / temperature).exp()).sum();
    logits.iter().map(|x| (x - top) / temperature - sum.ln()).collect()
}

fn entropy(log_p: &Logits) -> f64 {
    -log_p.iter().map(|p| p.exp() * p).sum::<f64>()
}

impl Made {
    /// Logits after `way` of training; `context` is what came before.
    fn logits(&self, context: u64, way: f64) -> Logits {
        let moved = |i: usize| if way == 0.0 { 0.0 } else { way * normal(context, 100 + i as u64) };
        (0..self.text.choices()).map(|i| self.text.logit(context, i) + moved(i)).collect()
    }

    fn sampler_logits(&self, at: &At, trainer: &Logits) -> Logits {
        let off = |size: f64, what: u64| -> Logits {
            let off = |(i, x): (usize, &f64)| x + size * normal(at.context ^ what, 200 + i as u64);
            trainer.iter().enumerate().map(off).collect()
        };
        match self.sampler {
            Sampler::Sound | Sampler::Tempered(_) | Sampler::TemperedRaw(_) => {
                off(self.text.rounding(at.position), at.place)
            }
            Sampler::TopK(_) => trainer.clone(),
            Sampler::Coarse(size) => off(size, 0),
            Sampler::Behind(share) => self.logits(at.context, at.way * share),
            Sampler::Frozen => self.logits(at.context, 0.0),
            Sampler::OtherPrompt => off(1.2 * 0.85_f64.powi(at.position as i32).max(0.2), 0),
            Sampler::SpoiltFrom(step) if at.step >= step => off(0.9, 0),
            Sampler::SpoiltFrom(_) => off(0.03, at.place),
            Sampler::NoPadding => off(0.03 * (at.padding as f64), 0),
        }
    }

    fn sampler_probabilities(&self, logits: &Logits) -> (Logits, Logits) {
        match self.sampler {
            Sampler::Tempered(t) => (log_softmax(logits, t), log_softmax(logits, t)),
            Sampler::TemperedRaw(t) => (log_softmax(logits, t), log_softmax(logits, 1.0)),
            Sampler::TopK(k) => {
                let mut sorted = logits.clone();
                sorted.sort_by(|a, b| b.total_cmp(a));
                let kept = logits.iter().map(|x| if *x >= sorted[k - 1] { *x } else { -100.0 }).collect();
                (log_softmax(&kept, 1.0), log_softmax(&kept, 1.0))
            }
            _ => (log_softmax(logits, 1.0), log_softmax(logits, 1.0)),
        }
    }

    fn response(&self, step: i64, group: u64, sibling: u64) -> Columns {
        let place = (step.unsigned_abs() * self.groups + group) * SIBLINGS + sibling + (self.seed << 32);
        let padding = mix(group, 3) % 12;
        let mut context = mix(group + (self.seed << 32), step.unsigned_abs());
        let mut columns = Columns {
            step,
            group: mix(group, 9),
            prompt: Some(context),
            place,
            update: (group % 4).cast_signed(),
            version: step,
            reward: f32::from(u8::from(sibling.is_multiple_of(2))),
            advantage: if sibling.is_multiple_of(2) { 1.0 } else { -1.0 },
            prompt_len: Some(40 - padding.cast_signed()),
            tokens: vec![],
            logprob: vec![],
            entropy: vec![],
            rollout: vec![],
            new: vec![],
            reference: Some(vec![]),
            is_weight: None,
        };
        for position in 0..self.length {
            let way = self.drift * step as f64;
            let at = At { context, place, position, step, padding, way };
            let look = |which: u64| -> Logits {
                let mut logits = self.logits(context, way);
                if self.noise != 0.0 {
                    let seed = mix(place, position as u64);
                    let noise = |i: usize| self.noise * normal(seed, 300 + 20 * which + i as u64);
                    logits.iter_mut().enumerate().for_each(|(i, x)| *x += noise(i));
                }
                logits
            };
            let trainer = log_softmax(&look(0), 1.0);
            let again = log_softmax(&look(1), 1.0);
            let reference = log_softmax(&self.logits(context, 0.0), 1.0);
            let sampler = self.sampler_logits(&at, &self.logits(context, way));
            let (drawn, logged) = self.sampler_probabilities(&sampler);
            let mut left = uniform(place, 7 + position as u64);
            let token = drawn
                .iter()
                .position(|p| {
                    left -= p.exp();
                    left < 0.0
                })
                .unwrap_or(0);
            let (old, h) = (trainer[token], entropy(&trainer));
            // Nothing has moved at the step's first update.
            let far = columns.update as f64 / 3.0;
            let advantage = f64::from(columns.advantage);
            let moved = far
                * (self.gain * advantage + self.pull * (reference[token] - old) - self.push * (old + h)
                    + 0.01 * normal(place, 900 + position as u64));
            columns.tokens.push(self.text.id(context, token));
            columns.logprob.push(old as f32);
            columns.entropy.push(h as f32);
            columns.rollout.push(logged[token] as f32);
            columns.new.push((again[token] + moved) as f32);
            if let Some(values) = columns.reference.as_mut() {
                values.push(reference[token] as f32)
            }
            context = mix(context, token as u64 + 1);
        }
        (self.edit)(&mut columns);
        columns
    }

    /// What is collected of the log.
    pub fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::new(vec![]);
        self.each(|response| evidence.add(response));
        evidence
    }

    /// Shows each response.
    pub fn each(&self, mut show: impl FnMut(&Response<'_>)) {
        for step in 0..self.steps {
            for group in 0..self.groups {
                for sibling in 0..SIBLINGS {
                    show(&self.response(step, group, sibling).response());
                }
            }
        }
    }
}

/// Where a token stands.
struct At {
    context: u64,
    place: u64,
    position: usize,
    step: i64,
    padding: u64,
    way: f64,
}

impl Columns {
    fn response(&self) -> Response<'_> {
        Response {
            step: self.step,
            group: self.group,
            place: self.place,
            hash: self.place,
            slice: "",
            held_out: false,
            update: Some(self.update),
            version: Some(self.version),
            reward: self.reward,
            parts: &[],
            advantage: Some(self.advantage),
            prompt: self.prompt,
            prompt_len: self.prompt_len,
            finish: None,
            truncated: None,
            tokens: Some(&self.tokens),
            mask: None,
            logprob: &self.logprob,
            entropy: Some(&self.entropy),
            rollout: Some(&self.rollout),
            new: Some(&self.new),
            reference: self.reference.as_deref(),
            advantages: None,
            is_weight: self.is_weight.as_deref(),
            grad_norm: None,
            turns: None,
        }
    }
}
