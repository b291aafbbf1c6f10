//! Candidates as bytes: of a temporary file, and of a section of a part.
//!
//! A record is its length and its fields, so that one read brings all of them: a merge goes over
//! millions of records several times.

use std::io::{self, Read, Write};

use super::{Candidate, CandidateFacts};
use crate::collect::tally::BatchKey;
use stapo_batch::batch::Id;
use stapo_framework::corrections::ResponseRatios;

/// Writes candidates one after another.
pub struct RecordWriter<W> {
    out: W,
    record: Vec<u8>,
}

impl<W: Write> RecordWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out, record: Vec::new() }
    }

    /// Writes one candidate.
    pub fn write(&mut self, candidate: &Candidate) -> io::Result<()> {
        self.record.clear();
        put_candidate(&mut self.record, candidate)?;
        self.out.write_all(&length(self.record.len())?)?;
        self.out.write_all(&self.record)
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Reads candidates one after another.
pub struct RecordReader<R> {
    input: R,
    record: Vec<u8>,
}

impl<R: Read> RecordReader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self { input, record: Vec::new() }
    }

    /// Reads the next candidate into `candidate`, whose room is used again; says whether there was one.
    pub fn read_into(&mut self, candidate: &mut Candidate) -> io::Result<bool> {
        let mut length = [0; 4];
        // Nothing more is the end; a piece of a record is not.
        match self.input.read_exact(&mut length[..1]) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            other => other?,
        }
        self.input.read_exact(&mut length[1..])?;
        let length = u32::from_le_bytes(length);
        self.record.clear();
        // Room for what is there, whatever the length says.
        self.input.by_ref().take(u64::from(length)).read_to_end(&mut self.record)?;
        if self.record.len() < length as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut fields = Fields(&self.record);
        fields.candidate(candidate)?;
        match fields.0 {
            [] => Ok(true),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn length(length: usize) -> io::Result<[u8; 4]> {
    u32::try_from(length).map(u32::to_le_bytes).map_err(io::Error::other)
}

fn put_candidate(out: &mut Vec<u8>, c: &Candidate) -> io::Result<()> {
    out.extend(c.batch.step.to_le_bytes());
    put_option(out, c.batch.update);
    put_option(out, c.update);
    put_id(out, &c.group)?;
    put_id(out, &c.sample)?;
    out.extend(c.place.0.to_le_bytes());
    out.extend(c.place.1.to_le_bytes());
    out.extend(c.position.to_le_bytes());
    out.extend(c.token_id.to_le_bytes());
    for value in [c.logprob, c.entropy, c.advantage, c.reward, c.measured_change] {
        out.extend(value.to_le_bytes());
    }
    for value in c.energy.iter().chain(&c.change) {
        out.extend(value.to_le_bytes());
    }
    out.push(c.flags);
    out.extend(c.norm.value.to_le_bytes());
    out.push(u8::from(c.norm.known));
    out.extend(c.centre.to_le_bytes());
    out.extend(length(c.context.len())?);
    c.context.iter().for_each(|id| out.extend(id.to_le_bytes()));
    out.push(u8::from(c.texts.is_some()));
    let texts = c.texts.as_deref().unwrap_or_default();
    out.extend(length(texts.len())?);
    texts.iter().try_for_each(|text| put_text(out, text))?;
    let CandidateFacts { engine, response, replicate, slices } = &c.facts;
    let ResponseRatios { tokens, sum, k3, largest_k3, smallest } = *response;
    out.extend(tokens.to_le_bytes());
    for value in [*engine, sum, k3, largest_k3, smallest] {
        out.extend(value.to_le_bytes());
    }
    out.push(*replicate);
    out.extend(length(slices.len())?);
    slices.iter().for_each(|key| out.extend(key.to_le_bytes()));
    Ok(())
}

fn put_option(out: &mut Vec<u8>, value: Option<i64>) {
    out.push(u8::from(value.is_some()));
    out.extend(value.unwrap_or(0).to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) -> io::Result<()> {
    out.extend(length(text.len())?);
    out.extend(text.as_bytes());
    Ok(())
}

fn put_id(out: &mut Vec<u8>, id: &Id) -> io::Result<()> {
    match id {
        Id::Missing => out.push(0),
        Id::Int(value) => {
            out.push(1);
            out.extend(value.to_le_bytes());
        }
        Id::Text(text) => {
            out.push(2);
            put_text(out, text)?;
        }
    }
    Ok(())
}

/// What is left of a record.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn candidate(&mut self, c: &mut Candidate) -> io::Result<()> {
        c.batch = BatchKey { step: self.long()?, update: self.option()? };
        c.update = self.option()?;
        self.id(&mut c.group)?;
        self.id(&mut c.sample)?;
        c.place = (self.int()? as u32, self.long()? as u64);
        c.position = self.int()?;
        c.token_id = self.int()?;
        for value in [&mut c.logprob, &mut c.entropy, &mut c.advantage, &mut c.reward, &mut c.measured_change]
        {
            *value = f32::from_le_bytes(self.bytes()?);
        }
        for value in c.energy.iter_mut().chain(&mut c.change) {
            *value = self.double()?;
        }
        c.flags = self.byte()?;
        c.norm.value = self.double()?;
        c.norm.known = self.byte()? != 0;
        c.centre = self.int()? as u32;
        c.context.clear();
        c.context.extend(self.many()?.iter().map(|id| i32::from_le_bytes(*id)));
        let has_texts = self.byte()? == 1;
        let texts =
            (0..self.int()? as u32).map(|_| self.text().map(Into::into)).collect::<io::Result<_>>()?;
        c.texts = has_texts.then_some(texts);
        let facts = &mut c.facts;
        facts.response.tokens = self.long()? as u64;
        facts.engine = self.double()?;
        let ResponseRatios { sum, k3, largest_k3, smallest, .. } = &mut facts.response;
        for value in [sum, k3, largest_k3, smallest] {
            *value = self.double()?;
        }
        facts.replicate = self.byte()?;
        facts.slices.clear();
        facts.slices.extend(self.many()?.iter().map(|key| u64::from_le_bytes(*key)));
        Ok(())
    }

    fn take(&mut self, length: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(io::ErrorKind::InvalidData)?;
        self.0 = rest;
        Ok(taken)
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(io::ErrorKind::InvalidData)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// A length, and so many values of `N` bytes.
    fn many<const N: usize>(&mut self) -> io::Result<&'a [[u8; N]]> {
        let count = self.int()? as u32 as usize;
        let bytes = count.checked_mul(N).ok_or(io::ErrorKind::InvalidData)?;
        Ok(self.take(bytes)?.as_chunks().0)
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.bytes().map(|[byte]| byte)
    }

    fn int(&mut self) -> io::Result<i32> {
        self.bytes().map(i32::from_le_bytes)
    }

    fn long(&mut self) -> io::Result<i64> {
        self.bytes().map(i64::from_le_bytes)
    }

    fn double(&mut self) -> io::Result<f64> {
        self.bytes().map(f64::from_le_bytes)
    }

    fn option(&mut self) -> io::Result<Option<i64>> {
        let (some, value) = (self.byte()?, self.long()?);
        Ok((some == 1).then_some(value))
    }

    fn text(&mut self) -> io::Result<&'a str> {
        let length = self.int()? as u32 as usize;
        std::str::from_utf8(self.take(length)?).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Reads an id; a text that is there already stays.
    fn id(&mut self, id: &mut Id) -> io::Result<()> {
        match self.byte()? {
            0 => *id = Id::Missing,
            1 => *id = Id::Int(self.long()?),
            _ => {
                let text = self.text()?;
                if !matches!(id, Id::Text(known) if **known == *text) {
                    *id = Id::Text(text.into());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub mod tests {
    use super::*;
    use crate::collect::claim_tokens::UnitNorm;

    pub fn candidate(step: i64, position: i32) -> Candidate {
        Candidate {
            batch: BatchKey { step, update: Some(-3) },
            update: None,
            group: Id::Text("g\u{202e}é".into()),
            sample: Id::Int(i64::MIN),
            place: (7, u64::MAX),
            position,
            token_id: -1,
            logprob: -9.5,
            entropy: 0.25,
            advantage: 1.5,
            reward: 0.0,
            measured_change: 0.125,
            energy: [0.5, 0.75, 1.0],
            change: [-1e-300, 3.0],
            flags: 9,
            norm: UnitNorm { value: 0.75, known: true },
            context: vec![1, 2, i32::MIN],
            texts: Some(vec!["a".into(), "".into(), "</script>".into()]),
            centre: 1,
            facts: CandidateFacts {
                engine: -0.5,
                response: ResponseRatios {
                    tokens: 3,
                    sum: -800.0,
                    k3: 0.5,
                    largest_k3: 0.25,
                    smallest: -700.0,
                },
                replicate: 31,
                slices: vec![0, u64::MAX],
            },
        }
    }

    fn read(reader: &mut RecordReader<&[u8]>) -> io::Result<Option<Candidate>> {
        let mut candidate = Candidate::default();
        Ok(reader.read_into(&mut candidate)?.then_some(candidate))
    }

    #[test]
    fn candidates_survive_the_file() {
        let mut without_texts = candidate(1, 2);
        without_texts.texts = None;
        without_texts.group = Id::Missing;
        without_texts.context.clear();
        let all = [candidate(-5, 0), without_texts, candidate(2, 1)];
        let mut writer = RecordWriter::new(Vec::new());
        all.iter().for_each(|c| writer.write(c).unwrap());
        let bytes = writer.into_inner();
        let mut reader = RecordReader::new(&bytes[..]);
        let mut reused = RecordReader::new(&bytes[..]);
        let mut same = Candidate::default();
        for expected in &all {
            assert_eq!(read(&mut reader).unwrap().as_ref(), Some(expected));
            assert!(reused.read_into(&mut same).unwrap());
            assert_eq!(same, *expected);
        }
        assert_eq!(read(&mut reader).unwrap(), None);
        assert!(read(&mut RecordReader::new(&bytes[..20])).is_err());
    }

    /// Whatever a record says of its lengths, it is refused without room for them.
    #[test]
    fn a_record_that_lies_is_refused() {
        let mut writer = RecordWriter::new(Vec::new());
        writer.write(&candidate(1, 2)).unwrap();
        let bytes = writer.into_inner();
        let mut refused = 0;
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0xff;
            refused += usize::from(read(&mut RecordReader::new(&wrong[..])).is_err());
        }
        // Its own length, those of four texts, three lists, and the characters of a text.
        assert!(refused >= 8 * 4, "{refused}");
        let mut longer = bytes;
        longer[0] += 1;
        longer.push(0);
        assert!(read(&mut RecordReader::new(&longer[..])).is_err());
    }
}
