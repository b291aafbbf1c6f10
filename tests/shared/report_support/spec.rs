//! What is made up, and from what.

/// What to make up.
#[derive(Clone, Copy)]
pub struct Spec {
    /// Steps.
    pub steps: usize,
    /// Rare tokens (p < 0.02, A > 0) of each step.
    pub rare_per_step: usize,
    /// Share of them with p < τ_p.
    pub candidate_share: f64,
    /// Whole responses, and tokens of each.
    pub responses: (usize, usize),
    /// Whether token texts attack the page.
    pub hostile: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self { steps: 11, rare_per_step: 90, candidate_share: 0.3, responses: (6, 120), hostile: false }
    }
}

/// Texts that break pages which trust them.
pub const HOSTILE: &[&str] = &[
    "</script><img src=x onerror=\"window.hacked=1\">",
    "<script>window.hacked=1</script>",
    "\u{202E}evil\u{2066}",
    "bell\u{7}\u{0}\u{1b}[31m",
    "=cmd|' /C calc'!A0",
    "'\"><svg onload=window.hacked=1>",
    "`| **md** [x](javascript:alert(1))",
    "${alert(1)}{{7*7}}",
    "lone \u{FFFD} half",
    "&lt;b&gt;&#x3c;",
    "]]><!--",
];

/// The text of a token id.
pub fn token_text(id: usize, hostile: bool) -> String {
    const WORDS: &[&str] = &[
        " the", "=", " 12", " so", " banana", "\n", " wait", " answer", " +", " 7", " Thus", " lamp", " is",
    ];
    if hostile && id.is_multiple_of(3) {
        if id == 33 {
            return "long".repeat(2_500);
        }
        return HOSTILE[(id / 3) % HOSTILE.len()].to_owned();
    }
    format!("{}{}", WORDS[id % WORDS.len()], if id < WORDS.len() { String::new() } else { format!("{id}") })
}
