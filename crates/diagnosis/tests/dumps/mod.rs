//! Reads logs that a script wrote as plain numbers: dev data, not committed.

use stapo_evidence::{Evidence, Response, mix};
use std::path::Path;

#[derive(Default)]
pub struct Row {
    pub step: i64,
    pub group: u64,
    pub place: u64,
    slice: String,
    update: Option<i64>,
    version: Option<i64>,
    reward: f32,
    parts: Vec<f32>,
    advantage: Option<f32>,
    prompt: Option<u64>,
    prompt_len: Option<i64>,
    finish: Option<String>,
    truncated: Option<bool>,
    ints: [Option<Vec<i32>>; 2],
    mask: Option<Vec<u8>>,
    floats: [Option<Vec<f32>>; 8],
}

pub struct Log {
    pub parts: Vec<String>,
    pub rows: Vec<Row>,
}

struct Bytes(Vec<u8>, usize);

impl Bytes {
    fn take(&mut self, n: usize) -> &[u8] {
        self.1 += n;
        &self.0[self.1 - n..self.1]
    }
    fn u8(&mut self) -> u8 {
        self.take(1)[0]
    }
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }
    fn i64(&mut self) -> i64 {
        self.u64().cast_signed()
    }
    fn maybe(&mut self) -> Option<i64> {
        Some(self.i64()).filter(|v| *v != i64::MIN)
    }
    fn f32(&mut self) -> f32 {
        f32::from_bits(self.u32())
    }
    fn text(&mut self) -> String {
        let n = self.u32() as usize;
        String::from_utf8(self.take(n).to_vec()).unwrap()
    }
}

impl Log {
    pub fn read(path: &Path) -> Self {
        let mut b = Bytes(std::fs::read(path).unwrap(), 0);
        let (n, parts) = (b.u32(), b.u32());
        let parts: Vec<String> = (0..parts).map(|_| b.text()).collect();
        let columns = b.u32();
        let rows = (0..n)
            .map(|_| {
                let mut row = Row { step: b.i64(), group: b.u64(), place: b.u64(), ..Row::default() };
                row.slice = b.text();
                b.u8();
                row.update = b.maybe();
                row.version = b.maybe();
                row.reward = b.f32();
                row.parts = parts.iter().map(|_| b.f32()).collect();
                row.advantage = Some(b.f32()).filter(|a| !a.is_nan());
                row.prompt = Some(b.u64()).filter(|p| *p != 0);
                row.prompt_len = b.maybe();
                row.finish = Some(b.text()).filter(|f| !f.is_empty());
                row.truncated = Some(b.u8()).filter(|t| *t < 2).map(|t| t == 1);
                let n = b.u32() as usize;
                for column in (0..11).filter(|c| columns >> c & 1 == 1) {
                    if column == 1 {
                        row.mask = Some(b.take(n).to_vec());
                        continue;
                    }
                    let raw = b.take(4 * n).as_chunks::<4>().0.to_vec();
                    match column {
                        0 => row.ints[0] = Some(raw.into_iter().map(i32::from_le_bytes).collect()),
                        10 => row.ints[1] = Some(raw.into_iter().map(i32::from_le_bytes).collect()),
                        c => row.floats[c - 2] = Some(raw.into_iter().map(f32::from_le_bytes).collect()),
                    }
                }
                row
            })
            .collect();
        Self { parts, rows }
    }

    pub fn evidence(&self, keep: impl Fn(&Row) -> bool) -> Evidence {
        let mut evidence = Evidence::new(self.parts.clone());
        self.rows.iter().filter(|row| keep(row)).for_each(|row| evidence.add(&row.response()));
        evidence
    }
}

impl Row {
    /// Without the columns named in `DROP`.
    pub fn response(&self) -> Response<'_> {
        let mut response = self.whole();
        for column in std::env::var("DROP").unwrap_or_default().split(',') {
            match column {
                "" => {}
                "update" => response.update = None,
                "version" => response.version = None,
                "prompt" => (response.prompt, response.prompt_len) = (None, None),
                "tokens" => response.tokens = None,
                "entropy" => response.entropy = None,
                "rollout" => response.rollout = None,
                "new" => response.new = None,
                "reference" => response.reference = None,
                other => panic!("no column {other}"),
            }
        }
        response
    }

    fn whole(&self) -> Response<'_> {
        let floats = |i: usize| self.floats[i].as_deref();
        Response {
            step: self.step,
            group: self.group,
            place: self.place,
            hash: self.place,
            slice: &self.slice,
            held_out: false,
            update: self.update,
            version: self.version,
            reward: self.reward,
            parts: &self.parts,
            advantage: self.advantage,
            prompt: self.prompt,
            prompt_len: self.prompt_len,
            finish: self.finish.as_deref(),
            truncated: self.truncated,
            tokens: self.ints[0].as_deref(),
            mask: self.mask.as_deref(),
            logprob: floats(0).unwrap(),
            entropy: floats(1),
            rollout: floats(2),
            new: floats(3),
            reference: floats(4),
            advantages: floats(5),
            is_weight: floats(6),
            grad_norm: floats(7),
            turns: self.ints[1].as_deref(),
        }
    }

    /// Halves of groups.
    pub fn half(&self) -> bool {
        mix(self.group, 1) & 1 == 1
    }
}
