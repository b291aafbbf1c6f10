//! The page of each cause: `stapo-analyze explain CODE` prints it, and reports take title and advice from it.

use crate::Code;

macro_rules! pages {
    ($($name:ident)*) => {
        &[$((stringify!($name), include_str!(concat!("../../../../docs/causes/", stringify!($name), ".md")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages!(
    not_finite trainer_disagrees_with_itself misaligned_log entropy_of_another_policy other_context retokenised
    sampler_frozen stale_sampler sync_corrupts_weights position_shifted sampler_truncation sampler_temperature
    precision_gap observation_trained end_untrained failures_trained truncation correction_empties_the_batch
    advantage_missing advantage_blowup wrong_groups advantage_contradicts_reward no_negative_signal
    no_positive_signal duplicate_rollouts uninformative_reward reward_hacking phantom_advantage held_out_falls
    dead_groups kl_outweighs entropy_pushed entropy_consumed large_updates unbounded_ratio spurious_tokens
    wrong_start resume_break
);

/// The page of a cause.
#[must_use]
pub fn page(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, _)| *name == code).map(|(_, page)| *page)
}

/// What is wrong, in a sentence: the page's title.
pub fn title(code: &str) -> &'static str {
    page(code).and_then(|page| page.lines().next()).map_or("", |line| line.trim_start_matches("# "))
}

/// What to do: the page's first words on it, and the options of the framework that wrote the log.
pub fn advice(code: Code, framework: Option<&str>) -> String {
    let section =
        page(code.as_str()).and_then(|page| page.split("\n## ").find_map(|s| s.strip_prefix("What to do\n")));
    let section = section.unwrap_or_default();
    let (first, options) = section.split_once("\n* ").unwrap_or((section, ""));
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = joined(first).trim_end_matches('.').to_owned();
    let of = |name: &str| options.split("\n* ").find_map(|item| item.strip_prefix(name)?.strip_prefix(": "));
    match framework.and_then(|name| Some((name, of(name)?))) {
        Some((name, options)) => format!("{first} ({name}: {})", joined(options).trim_end_matches('.')),
        None => first,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_page_with_a_title_and_advice() {
        for code in Code::ALL {
            let name = code.as_str();
            let page = page(name).unwrap();
            assert!(page.lines().nth(2).unwrap().contains(&format!("`{name}`")), "{name}");
            assert!(title(name).len() > 10, "{name}");
            assert!(advice(*code, None).len() > 10, "{name}");
        }
        assert_eq!(PAGES.len(), Code::ALL.len());
    }

    #[test]
    fn options_are_those_of_the_framework() {
        let of = |framework| advice(Code::KlOutweighs, framework);
        assert_eq!(of(None), "Divide the weight by ten, or leave the term out");
        assert!(of(Some("TRL")).contains("(TRL: `beta`; or let the reference follow"));
        assert_eq!(of(Some("nothing")), of(None));
    }
}
