//! Made-up runs: a policy of independent tokens that learns, rewarded for being right and for a format, with advantages as GRPO
//! makes them. What is wrong is put in afterwards.

use crate::log::{Log, Row};

/// Responses of a question.
pub const SIBLINGS: usize = 8;
/// The token that ends a response.
pub const END: i32 = 2;

/// A generator of random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn is(&mut self, chance: f64) -> bool {
        self.unit() < chance
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// A healthy run of so many steps of 32 questions, of two tasks, rising from 0.2 to 0.9.
pub fn healthy(steps: usize, seed: u64) -> Log {
    let mut random = Random::new(seed);
    let mut log = Log { parts: vec!["correct".into(), "format".into()], rows: Vec::new() };
    for step in 0..steps {
        let pass = 0.2 + 0.7 * step as f64 / steps.max(2) as f64;
        for question in 0..32_u64 {
            let ability = (pass + 0.3 * random.normal()).clamp(0.02, 0.98);
            for _ in 0..SIBLINGS {
                let right = f32::from(u8::from(random.is(ability)));
                let format = f32::from(u8::from(random.is(pass.max(0.5))));
                let row = response(&mut random, [right, format]);
                log.rows.push(Row {
                    step: step as i64,
                    group: 1000 * step as u64 + question,
                    place: log.rows.len() as u64,
                    slice: ["sum", "words"][question as usize % 2].into(),
                    ..row
                });
            }
        }
    }
    set_advantages(&mut log.rows, |row| (row.step, row.group));
    log
}

fn response(random: &mut Random, parts: [f32; 2]) -> Row {
    // Eight tokens to choose from, evenly: each is drawn with ln μ = −ln 8.
    let len = 12 + random.below(20);
    let mut tokens: Vec<i32> = (0..len).map(|_| 10 + random.below(8) as i32).collect();
    tokens.push(END);
    let chance = vec![-(8.0_f32).ln(); tokens.len()];
    Row {
        step: 0,
        group: 0,
        place: 0,
        slice: String::new(),
        held_out: false,
        update: None,
        reward: parts[0] + 0.2 * parts[1],
        parts: parts.to_vec(),
        advantage: None,
        prompt: None,
        finish: Some("stop".into()),
        truncated: Some(false),
        mask: Some(vec![1; tokens.len()]),
        entropy: Some(vec![(8.0_f32).ln(); tokens.len()]),
        rollout: Some(chance.clone()),
        logprob: chance,
        turns: None,
        advantages: None,
        tokens: Some(tokens),
    }
}

/// (reward − mean) / (deviation + 10⁻⁴) within what has an equal key.
pub fn set_advantages<K: Ord>(rows: &mut [Row], key: impl Fn(&Row) -> K) {
    let mut groups = std::collections::BTreeMap::<K, Vec<usize>>::new();
    for (at, row) in rows.iter().enumerate() {
        groups.entry(key(row)).or_default().push(at);
    }
    for members in groups.into_values() {
        let n = members.len() as f32;
        let mean = members.iter().map(|at| rows[*at].reward).sum::<f32>() / n;
        let squares = members.iter().map(|at| (rows[*at].reward - mean).powi(2)).sum::<f32>();
        let deviation = (squares / (n - 1.0).max(1.0)).sqrt();
        for at in members {
            rows[at].advantage = Some((rows[at].reward - mean) / (deviation + 1e-4));
        }
    }
}

/// The response's advantage at each of its tokens, as most logs have it.
pub fn by_token(log: &mut Log) {
    for row in &mut log.rows {
        row.advantages = row.advantage.take().map(|advantage| vec![advantage; row.logprob.len()]);
    }
}
