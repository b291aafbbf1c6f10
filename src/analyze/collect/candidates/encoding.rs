//! Candidates as bytes of a temporary file.

use std::io::{self, Read, Write};

use super::{Candidate, CandidateFacts};
use crate::analyze::collect::tally::BatchKey;
use crate::framework::corrections::ResponseRatios;
use crate::ingest::Id;

/// Writes one candidate.
pub fn write(candidate: &Candidate, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let c = candidate;
    put(out, &c.batch.step.to_le_bytes())?;
    put_option(out, c.batch.update)?;
    put_option(out, c.update)?;
    put_id(out, &c.group)?;
    put_id(out, &c.sample)?;
    put(out, &c.place.0.to_le_bytes())?;
    put(out, &c.place.1.to_le_bytes())?;
    put(out, &c.position.to_le_bytes())?;
    put(out, &c.token_id.to_le_bytes())?;
    for value in [c.logprob, c.entropy, c.advantage, c.reward, c.measured_change] {
        put(out, &value.to_le_bytes())?;
    }
    for value in c.energy.iter().chain(&c.change) {
        put(out, &value.to_le_bytes())?;
    }
    put(out, &[c.flags])?;
    put(out, &c.centre.to_le_bytes())?;
    put_length(out, c.context.len())?;
    for id in &c.context {
        put(out, &id.to_le_bytes())?;
    }
    put(out, &[u8::from(c.texts.is_some())])?;
    let texts = c.texts.as_deref().unwrap_or_default();
    put_length(out, texts.len())?;
    texts.iter().try_for_each(|text| put_text(out, text))?;
    put_facts(out, &c.facts)
}

fn put_facts(out: &mut (impl Write + ?Sized), facts: &CandidateFacts) -> io::Result<()> {
    let ResponseRatios { tokens, sum, k3, largest_k3, smallest } = facts.response;
    put(out, &tokens.to_le_bytes())?;
    for value in [facts.engine, sum, k3, largest_k3, smallest] {
        put(out, &value.to_le_bytes())?;
    }
    put(out, &[facts.replicate])?;
    put_length(out, facts.slices.len())?;
    facts.slices.iter().try_for_each(|key| put(out, &key.to_le_bytes()))
}

fn get_facts(input: &mut (impl Read + ?Sized)) -> io::Result<CandidateFacts> {
    let tokens = u64::from_le_bytes(get(input)?);
    let mut double = || Ok::<_, io::Error>(f64::from_le_bytes(get(input)?));
    let [engine, sum, k3, largest_k3, smallest] = [double()?, double()?, double()?, double()?, double()?];
    let [replicate] = get(input)?;
    let mut slices = Vec::new();
    for _ in 0..get_length(input)? {
        slices.push(u64::from_le_bytes(get(input)?));
    }
    let response = ResponseRatios { tokens, sum, k3, largest_k3, smallest };
    Ok(CandidateFacts { engine, response, replicate, slices })
}

/// Reads the next candidate; `None` at the end.
pub fn read(input: &mut (impl Read + ?Sized)) -> io::Result<Option<Candidate>> {
    let mut step = [0; 8];
    // Nothing more is the end; a piece of a candidate is not.
    match input.read_exact(&mut step[..1]) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    input.read_exact(&mut step[1..])?;
    let step = i64::from_le_bytes(step);
    let batch = BatchKey { step, update: get_option(input)? };
    let update = get_option(input)?;
    let group = get_id(input)?;
    let sample = get_id(input)?;
    let place = (u32::from_le_bytes(get(input)?), u64::from_le_bytes(get(input)?));
    let position = i32::from_le_bytes(get(input)?);
    let token_id = i32::from_le_bytes(get(input)?);
    let mut float = || Ok::<_, io::Error>(f32::from_le_bytes(get(input)?));
    let [logprob, entropy, advantage, reward, measured_change] =
        [float()?, float()?, float()?, float()?, float()?];
    let mut double = || Ok::<_, io::Error>(f64::from_le_bytes(get(input)?));
    let energy = [double()?, double()?, double()?];
    let change = [double()?, double()?];
    let [flags] = get(input)?;
    let centre = u32::from_le_bytes(get(input)?);
    let mut context = Vec::new();
    for _ in 0..get_length(input)? {
        context.push(i32::from_le_bytes(get(input)?));
    }
    let [has_texts] = get(input)?;
    let mut texts = Vec::new();
    for _ in 0..get_length(input)? {
        texts.push(get_text(input)?.into_boxed_str());
    }
    Ok(Some(Candidate {
        batch,
        update,
        group,
        sample,
        place,
        position,
        token_id,
        logprob,
        entropy,
        advantage,
        reward,
        measured_change,
        energy,
        change,
        flags,
        context,
        texts: (has_texts == 1).then_some(texts),
        centre,
        facts: get_facts(input)?,
    }))
}

fn put(out: &mut (impl Write + ?Sized), bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes)
}

fn put_length(out: &mut (impl Write + ?Sized), length: usize) -> io::Result<()> {
    put(out, &(length as u64).to_le_bytes())
}

fn put_option(out: &mut (impl Write + ?Sized), value: Option<i64>) -> io::Result<()> {
    put(out, &[u8::from(value.is_some())])?;
    put(out, &value.unwrap_or(0).to_le_bytes())
}

fn put_text(out: &mut (impl Write + ?Sized), text: &str) -> io::Result<()> {
    put_length(out, text.len())?;
    put(out, text.as_bytes())
}

fn put_id(out: &mut (impl Write + ?Sized), id: &Id) -> io::Result<()> {
    match id {
        Id::Missing => put(out, &[0]),
        Id::Int(value) => {
            put(out, &[1])?;
            put(out, &value.to_le_bytes())
        }
        Id::Text(text) => {
            put(out, &[2])?;
            put_text(out, text)
        }
    }
}

fn get<const N: usize>(input: &mut (impl Read + ?Sized)) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn get_length(input: &mut (impl Read + ?Sized)) -> io::Result<usize> {
    usize::try_from(u64::from_le_bytes(get(input)?)).map_err(io::Error::other)
}

fn get_option(input: &mut (impl Read + ?Sized)) -> io::Result<Option<i64>> {
    let [some] = get(input)?;
    let value = i64::from_le_bytes(get(input)?);
    Ok((some == 1).then_some(value))
}

fn get_text(input: &mut (impl Read + ?Sized)) -> io::Result<String> {
    let length = get_length(input)?;
    let mut bytes = Vec::new();
    // Room for what is there, whatever the length says.
    Read::take(&mut *input, length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    String::from_utf8(bytes).map_err(io::Error::other)
}

fn get_id(input: &mut (impl Read + ?Sized)) -> io::Result<Id> {
    let [kind] = get(input)?;
    Ok(match kind {
        0 => Id::Missing,
        1 => Id::Int(i64::from_le_bytes(get(input)?)),
        _ => Id::Text(get_text(input)?.into()),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub mod tests {
    use super::*;

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

    #[test]
    fn candidates_survive_the_file() {
        let mut without_texts = candidate(1, 2);
        without_texts.texts = None;
        without_texts.group = Id::Missing;
        let all = [candidate(-5, 0), without_texts];
        let mut bytes = Vec::new();
        all.iter().for_each(|c| write(c, &mut bytes).unwrap());
        let mut input = &bytes[..];
        for expected in &all {
            assert_eq!(read(&mut input).unwrap().as_ref(), Some(expected));
        }
        assert_eq!(read(&mut input).unwrap(), None);
        assert!(read(&mut &bytes[..20]).is_err());
    }
}
