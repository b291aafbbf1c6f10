//! The document of one run.

mod charts;
mod first;
mod groups;
mod norms;
mod proof;
mod responses;
mod s2t;
mod shown;
mod signals;
mod tokens;

#[cfg(test)]
mod tests;

use stapo_base::format::counted;
use stapo_result::partial::TextUnit;
use stapo_result::{Answers, PartialAnalysis, Provenance, RunAnalysis, Warning};

use crate::document::{Document, Section, Term, Text};
use crate::hostile::Hostile;
use crate::told::Told;

/// What a page of a run is made from.
#[derive(Clone, Debug)]
struct Run<'a> {
    told: Told,
    answers: &'a Answers,
    provenance: &'a Provenance,
    tokens: u64,
    responses: u64,
    steps: Vec<i64>,
    /// Tokens with A > 0 and with A < 0, where advantages are logged.
    signs: Option<(u64, u64)>,
    /// Everything, where entropies and advantages are logged.
    full: Option<&'a RunAnalysis>,
    /// Whether the log holds texts, and in what their lengths are counted.
    texts_in: Option<TextUnit>,
    /// What is odd about the log.
    warnings: &'a [Warning],
    /// Columns that are not in the log, and how to log them.
    missing: Option<(String, String)>,
}

/// The document of a run.
#[must_use]
pub fn run(analysis: &RunAnalysis) -> Document {
    document(&Run {
        told: Told::of(&analysis.diagnosis),
        answers: &analysis.answers,
        provenance: &analysis.provenance,
        tokens: analysis.totals.tokens,
        responses: analysis.totals.responses,
        steps: analysis.steps.iter().map(|row| row.step).collect(),
        signs: Some((analysis.totals.positive, analysis.totals.negative)),
        full: Some(analysis),
        texts_in: None,
        warnings: &analysis.warnings,
        missing: None,
    })
}

/// The document of a run without entropies or without advantages.
#[must_use]
pub fn run_in_part(analysis: &PartialAnalysis) -> Document {
    let partial = &analysis.partial;
    let has_signs = !partial.missing_columns.iter().any(|column| column.contains("advantage"));
    document(&Run {
        told: Told::of(&analysis.diagnosis),
        answers: &analysis.answers,
        provenance: &analysis.provenance,
        tokens: analysis.totals.tokens,
        responses: analysis.totals.responses,
        steps: analysis.steps.iter().map(|row| row.step).collect(),
        signs: has_signs.then_some((analysis.totals.positive, analysis.totals.negative)),
        full: None,
        texts_in: partial.texts_in,
        warnings: &analysis.warnings,
        missing: Some((partial.missing_columns.join(", "), partial.hint.clone())),
    })
}

fn document(run: &Run<'_>) -> Document {
    let store = responses::Store::of(run);
    let mut sections: Vec<Section> = first::sections(run, &store);
    sections.extend(signals::sections(run));
    sections.extend(tokens::sections(run, store));
    sections.extend(groups::sections(run));
    sections.extend(s2t::sections(run));
    Document {
        name: Hostile::new(run.name()),
        size: run.size(),
        tone: run.told.state.tone(),
        word: run.told.state.word(),
        sections,
        terms: TERMS.to_vec(),
    }
}

const TERMS: &[Term] = &[
    Term {
        id: "s2t",
        word: "S2T",
        meaning: "STAPO's mask: leaves rare tokens out of the loss where A > 0, probability below τₚ and entropy below \
                  τₕ, a quantile of such tokens. It helps where they carry much of the update and were no ordinary draws.",
    },
    Term {
        id: "gap",
        word: "Typical ratio",
        meaning: "By what factor two probabilities of one token typically differ: exp of the root mean square of \
                  their log ratio. 1.00× is equal; the clip of a token is 1.28×.",
    },
];

impl Run<'_> {
    /// Its file, or how many there are.
    fn name(&self) -> String {
        let names: Vec<&str> = self.provenance.files.iter().map(|file| stem(&file.path)).collect();
        match names.as_slice() {
            [] => "run".into(),
            [one] => (*one).to_owned(),
            [first, .., last] => format!("{first} … {last}, {} files", names.len()),
        }
    }

    /// How the run is named in a command.
    fn path(&self) -> Hostile {
        match self.provenance.files.as_slice() {
            [file] => Hostile::new(&*file.path),
            _ => "RUN".into(),
        }
    }

    fn size(&self) -> Vec<Text> {
        let steps = counted(self.steps.len() as u64, "logged step", "logged steps");
        let range = self.steps.first().zip(self.steps.last()).filter(|(first, last)| first != last);
        let range = range.map(|(first, last)| format!(", {first} to {last}")).unwrap_or_default();
        let answers = counted(self.responses, "answer", "answers");
        let mut rest = Text::new().say(format!("{answers}, {}", self.counted_tokens()));
        let about = |key: &str| self.provenance.metadata.get(key).filter(|value| !value.is_empty());
        let known: Vec<&String> = ["model", "algorithm"].into_iter().filter_map(about).collect();
        for (i, value) in known.into_iter().enumerate() {
            rest = rest.say(if i == 0 { " · " } else { ", " }).log(value.as_str());
        }
        vec![Text::new().say(steps + &range), rest]
    }

    fn counted_tokens(&self) -> String {
        match self.texts_in {
            Some(TextUnit::Characters) => counted(self.tokens, "character", "characters"),
            _ => counted(self.tokens, "token", "tokens"),
        }
    }

    fn last_step(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| *step as f64)
    }
}

/// The name of a file without its folder and its ending.
fn stem(path: &str) -> &str {
    let name = path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(path);
    name.split_once('.').map_or(name, |parts| parts.0)
}

/// A quantity by name, in words.
fn in_words(signal: &str) -> String {
    let known = [
        ("reward", "reward"),
        ("pass_rate", "right answers"),
        ("held_out", "held-out score"),
        ("entropy", "entropy"),
        ("length", "length"),
        ("truncated", "cut answers"),
        ("repetition", "loops"),
        ("advantage_size", "size of advantages"),
        ("dead_groups", "groups without signal"),
        ("effective_number", "tokens that carry it"),
        ("update_k3", "move within a step"),
        ("engine_k3", "trainer against sampler"),
        ("reference_k3", "distance to reference"),
        ("largest_ratio", "largest ratio"),
        ("clipped_share", "clipped tokens"),
        ("spurious_energy_share", "S2T's share of gradient"),
    ];
    let own = signal.strip_prefix("reward/").unwrap_or(signal).replace('_', " ");
    known.into_iter().find(|(name, _)| *name == signal).map_or(own, |(_, words)| words.into())
}
