//! Objectives that are a rule on the base, in words.

use stapo_framework::rules::Rule;
use stapo_framework::s2t::S2tSettings;

/// A rule on the base objective.
pub fn on_base(rule: Rule) -> String {
    masked_base(rule, &S2tSettings::default())
}

/// A rule on the base objective whose mask has these settings.
pub fn masked_base(rule: Rule, s2t: &S2tSettings) -> String {
    format!("dapo; {}", rule.description(s2t).unwrap_or_default())
}
