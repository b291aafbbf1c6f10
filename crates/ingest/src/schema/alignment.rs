//! The conventions by which values of a row belong to its tokens.

use std::fmt;
use std::str::FromStr;

/// How the lists of a row are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ListAlignment {
    /// Response tokens only, value t belongs to response token t, padding at the end.
    Response,
    /// Response tokens only, padding at the start.
    LeftPadded,
    /// Prompt and response, value i belongs to token i.
    Full,
    /// Prompt and response, value i belongs to token i + 1.
    Shifted,
    /// Token ids of the whole sequence, other lists of the response: the ends coincide.
    Right,
    /// One value for each sampled token only: the n-th value belongs to the n-th set flag.
    Compact,
}

impl ListAlignment {
    /// All conventions.
    pub const ALL: [Self; 6] =
        [Self::Response, Self::LeftPadded, Self::Full, Self::Shifted, Self::Right, Self::Compact];

    /// The name used in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::LeftPadded => "left-padded",
            Self::Full => "full",
            Self::Shifted => "shifted",
            Self::Right => "right",
            Self::Compact => "compact",
        }
    }
}

impl fmt::Display for ListAlignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ListAlignment {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|a| a.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|a| a.name()).collect();
            format!("not one of {}", names.join(", "))
        })
    }
}

/// How list values are brought onto tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum AlignmentRule {
    /// A canonical log: one value a token, nothing to find out.
    Exact,
    /// As the framework or the user says.
    Given(ListAlignment),
    /// Found out for each row from the lengths and the mask.
    Auto,
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn alignments_have_names() {
        for alignment in ListAlignment::ALL {
            assert_eq!(alignment.name().parse(), Ok(alignment));
        }
        assert!("middle".parse::<ListAlignment>().unwrap_err().contains("left-padded"));
    }
}
