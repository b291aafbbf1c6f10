//! Causes in plain words, and their pages in `docs/causes`.

use crate::document::{Block, Fact, Facts, FactsKind, Text};

/// A cause in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain {
    /// Its stable name.
    pub code: &'static str,
    /// The first sentence of the page, at most eight words.
    pub sentence: &'static str,
    /// A few words, for lists of what was ruled out.
    pub name: &'static str,
    /// Its page.
    page: &'static str,
}

macro_rules! causes { ($($code:literal $sentence:literal $name:literal)*) => {
    const CAUSES: &[Plain] = &[$(Plain {
        code: $code,
        sentence: $sentence,
        name: $name,
        page: include_str!(concat!("../../../docs/causes/", $code, ".md")),
    }),*];
} }
causes! {
    "not_finite" "The trainer's numbers stopped being finite." "numbers that are not finite"
    "trainer_disagrees_with_itself" "The trainer contradicts itself." "trainer against itself"
    "misaligned_log" "The log's columns are shifted." "shifted columns"
    "entropy_of_another_policy" "The entropies are of another policy." "entropies of another policy"
    "other_context" "Trainer and sampler see different prompts." "other prompts"
    "retokenised" "Responses were encoded again before training." "re-tokenised text"
    "sampler_frozen" "The sampler never received new weights." "frozen sampler"
    "stale_sampler" "The sampler writes with old weights." "old weights in the sampler"
    "sync_corrupts_weights" "Sending the weights changes them." "weights changed on the way"
    "position_shifted" "Padding shifts the trainer's positions." "positions shifted by padding"
    "sampler_truncation" "The sampler leaves out unlikely tokens." "top-k or top-p"
    "sampler_temperature" "Sampler and trainer use different temperatures." "temperature"
    "precision_gap" "Trainer and sampler compute differently." "precision"
    "observation_trained" "Tokens of the environment are trained on." "observations trained on"
    "end_untrained" "The end token is never trained." "end token"
    "failures_trained" "Failed requests are trained on." "failed requests trained on"
    "truncation" "Most responses are cut before they end." "truncation"
    "correction_empties_the_batch" "The correction throws most of the batch away." "correction of the sampler"
    "advantage_missing" "Some responses lack their advantage." "missing advantages"
    "advantage_blowup" "A few advantages are enormous." "enormous advantages"
    "wrong_groups" "The baseline is of other responses." "wrong groups"
    "advantage_contradicts_reward" "Better responses are pushed down." "advantage against reward"
    "no_negative_signal" "No response is ever pushed down." "no push down"
    "no_positive_signal" "No response is ever pushed up." "no push up"
    "duplicate_rollouts" "Siblings are copies of each other." "copied siblings"
    "uninformative_reward" "The reward ignores what responses say." "reward of chance"
    "reward_hacking" "The reward rises while its goal falls." "reward hacking"
    "phantom_advantage" "Groups without a better response teach." "advantages from nothing"
    "held_out_falls" "The held-out score falls." "held-out score"
    "dead_groups" "Most late groups teach nothing." "groups without signal"
    "kl_outweighs" "The KL term pulls the policy back." "KL term"
    "entropy_pushed" "The objective pushes the entropy up." "entropy bonus"
    "entropy_consumed" "The entropy was used up too early." "used-up entropy"
    "large_updates" "The policy moves too far a step." "large updates"
    "unbounded_ratio" "A few unbounded ratios carry the update." "unbounded ratios"
    "spurious_tokens" "Rare tokens carry much of the update." "spurious tokens"
    "wrong_start" "The run did not start from its reference." "wrong start"
    "resume_break" "The run broke where it was resumed." "broken resume"
}

/// A cause by its name.
#[must_use]
pub fn plain(code: &str) -> Option<&'static Plain> {
    CAUSES.iter().find(|cause| cause.code == code)
}

/// All of them.
#[must_use]
pub fn all() -> &'static [Plain] {
    CAUSES
}

/// A few words for a code: of an unknown one its own.
#[must_use]
pub fn name(code: &str) -> String {
    plain(code).map_or_else(|| code.replace('_', " "), |cause| cause.name.into())
}

/// Trainers that pages name.
const TRAINERS: [&str; 4] = ["verl", "TRL", "prime-rl", "slime"];

impl Plain {
    /// What to do: at most two sentences, then options by the names of the trainer that wrote the log; where it is
    /// none that is known, of the first two.
    #[must_use]
    pub fn to_do(&self, framework: &str) -> Vec<Block> {
        let lines = self.part("What to do");
        let (prose, options) =
            lines.split_at(lines.iter().position(|l| l.starts_with("* ")).unwrap_or(lines.len()));
        let prose = prose.join(" ");
        let framework = framework.to_lowercase();
        let known: Vec<&str> =
            TRAINERS.into_iter().filter(|name| framework.contains(&name.to_lowercase())).collect();
        let wanted = if known.is_empty() { TRAINERS[..2].to_vec() } else { known };
        let rows = wanted.into_iter().filter_map(|trainer| {
            let of = bullets(options)
                .into_iter()
                .find_map(|line| line.strip_prefix(trainer)?.strip_prefix(": ").map(str::to_owned))?;
            Some(Fact::new(trainer, first_option(&of)))
        });
        let rows: Vec<Fact> = rows.collect();
        let mut blocks: Vec<Block> =
            sentences(&prose).into_iter().take(2).map(|say| Block::step(marked(&say))).collect();
        if !rows.is_empty() {
            blocks.insert(blocks.len().min(1), Block::Facts(Facts { kind: FactsKind::Options, rows }));
        }
        blocks
    }

    /// Its page, but for the runs that are proof of it.
    #[must_use]
    pub fn page(&self) -> Vec<Block> {
        let mut rows = Vec::new();
        for heading in ["What you see", "Why", "The number", "What looks alike", "What to do"] {
            let lines = self.part(heading);
            let first = lines.iter().position(|line| line.starts_with("* ")).unwrap_or(lines.len());
            let (prose, list) = lines.split_at(first);
            let texts = std::iter::once(prose.join(" ")).chain(bullets(list)).filter(|text| !text.is_empty());
            for (i, text) in texts.enumerate() {
                rows.push(Fact::new(if i == 0 { heading } else { "" }, marked(&text)));
            }
        }
        vec![Block::notes(rows)]
    }

    fn part(&self, heading: &str) -> Vec<&'static str> {
        let after = self.page.lines().skip_while(|line| line.strip_prefix("## ") != Some(heading)).skip(1);
        after.take_while(|line| !line.starts_with("## ")).filter(|line| !line.is_empty()).collect()
    }
}

/// Items of a list, each on one line.
fn bullets(lines: &[&str]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in lines {
        match (line.strip_prefix("* "), items.last_mut()) {
            (Some(item), _) => items.push(item.into()),
            (None, Some(item)) => {
                item.push(' ');
                item.push_str(line.trim_start());
            }
            (None, None) => {}
        }
    }
    items
}

/// The first two options of a line, without what is said about them.
fn first_option(line: &str) -> Text {
    let mut options: Vec<String> = Vec::new();
    for option in line.split('`').skip(1).step_by(2).take(2) {
        options.push(options.last().map_or_else(|| option.to_owned(), |before| whole(option, before)));
    }
    if options.is_empty() {
        return marked(line);
    }
    Text::joined(options.into_iter().map(|option| Text::new().code(option)), ", ")
}

/// An option that pages write without its beginning, `…actor.use_kl_loss`, with that of the one before it.
fn whole(option: &str, before: &str) -> String {
    let Some(rest) = option.strip_prefix('…') else { return option.into() };
    let section = rest.split_once('.').and_then(|(first, _)| before.find(&format!(".{first}.")));
    let end = section.or_else(|| before.rfind('.')).map_or(0, |at| at + 1);
    format!("{}{rest}", before.get(..end).unwrap_or_default())
}

fn sentences(prose: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for part in prose.split_inclusive(". ") {
        out.push(part.trim().into());
    }
    out
}

/// Words between backticks are typed; links lose their target.
pub(crate) fn marked(line: &str) -> Text {
    let mut text = Text::new();
    for (i, part) in line.split('`').enumerate() {
        if part.is_empty() {
            continue;
        }
        text = if i % 2 == 1 { text.code(part.to_owned()) } else { text.say(without_links(part)) };
    }
    text
}

fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let Some((words, after)) = after.split_once("](") else {
            out.push('[');
            rest = after;
            continue;
        };
        out.push_str(words);
        rest = after.split_once(')').map_or("", |parts| parts.1);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_says_in_a_few_words_what_is_wrong_and_what_to_do() {
        for cause in CAUSES {
            assert!(cause.sentence.split(' ').count() <= 8, "{}", cause.code);
            let blocks = cause.to_do("slime 0.2");
            assert!(blocks.iter().any(|block| matches!(block, Block::Sentence(_))), "{}", cause.code);
            assert!(!cause.page().is_empty());
        }
    }

    #[test]
    fn options_are_those_of_the_trainer() {
        let blocks = plain("stale_sampler").map(|cause| cause.to_do("TRL")).unwrap_or_default();
        let rows = match blocks.get(1) {
            Some(Block::Facts(facts)) => facts.rows.as_slice(),
            _ => &[],
        };
        let words: Vec<_> = rows.iter().map(|row| (row.name.flat(), row.value.flat())).collect();
        assert_eq!(words, [("TRL".into(), "max_staleness, weight_sync_steps".into())]);
        assert_eq!(whole("…actor.use_kl_loss", "a_ref.actor.kl_loss_coef"), "a_ref.actor.use_kl_loss");
        assert_eq!(
            whole("…is_threshold", "algorithm.correction.is=token"),
            "algorithm.correction.is_threshold"
        );
        let unknown = plain("stale_sampler").map(|cause| cause.to_do("torch")).unwrap_or_default();
        assert!(matches!(unknown.get(1), Some(Block::Facts(facts)) if facts.rows.len() == 2));
    }
}
