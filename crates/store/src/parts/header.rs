//! What a part says of itself before its sections.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::hash::Fingerprint;
use stapo_base::error::{Error, PartFault, Result};

/// The format of parts and plans. Parts of another one are refused: collecting again is cheap.
pub const FORMAT: u32 = 25;

/// Who wrote a part: only parts of the same producer give the same bytes as one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Producer {
    /// Version of the program.
    pub program: String,
    /// Processor and system it was built for.
    pub target: String,
    /// Fingerprint of the framework's tables: what this machine's `exp` and `ln` give.
    pub kernel: String,
}

/// The header of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartHeader {
    /// What is inside: `state` or `look-N`.
    pub kind: String,
    /// Who wrote it.
    pub producer: Producer,
    /// Fingerprint of the plan that it is a part of.
    pub plan: String,
    /// Scan units that it covers, as ranges.
    pub units: Vec<(u32, u32)>,
    /// Whole files that it covers, in their order, where it is kept for later runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<CoveredFile>,
    /// What tells other files of the run that bounded how much was kept: without one of these, it is too
    /// little.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub beside: BTreeSet<u64>,
    /// The plan itself, in a merged part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// A file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredFile {
    /// Where it is.
    pub path: String,
    /// Fingerprint of its size and time.
    pub content: String,
    /// Fingerprint of these and of all that decided how it was read.
    pub state: String,
    /// Its number among the files of the run that was read.
    pub number: u32,
    /// Its first scan unit there.
    pub first_unit: u32,
    /// Scan units.
    pub units: u32,
}

impl CoveredFile {
    /// Whether it is the same file, read in the same way; its number may differ.
    pub fn is(&self, other: &Self) -> bool {
        (&self.path, &self.state, self.units) == (&other.path, &other.state, other.units)
    }

    /// What tells it from all others, and from itself in another state.
    pub fn mark(&self) -> u64 {
        Fingerprint::of(self.state.as_bytes()).short()
    }
}

impl Producer {
    /// Fails, by name, where what this producer wrote cannot be used by `mine`.
    pub fn require(&self, path: &Path, mine: &Self) -> Result<()> {
        let refuse = |fault| Err(Error::Part { path: path.to_owned(), fault });
        let pair = |found: &String, expected: &String| (found.clone(), expected.clone());
        if self.program != mine.program {
            let (found, expected) = pair(&self.program, &mine.program);
            return refuse(PartFault::OtherProgram { found, expected });
        }
        if self.target != mine.target {
            let (found, expected) = pair(&self.target, &mine.target);
            return refuse(PartFault::OtherTarget { found, expected });
        }
        if self.kernel != mine.kernel {
            return refuse(PartFault::OtherKernel);
        }
        Ok(())
    }
}

impl PartHeader {
    /// Fails, by name, where the part is not of this kind, producer and plan.
    pub fn require(&self, path: &Path, wanted: &Self) -> Result<()> {
        self.producer.require(path, &wanted.producer)?;
        let refuse = |fault| Err(Error::Part { path: path.to_owned(), fault });
        if self.plan != wanted.plan {
            return refuse(PartFault::OtherPlan { found: self.plan.clone(), expected: wanted.plan.clone() });
        }
        if self.kind != wanted.kind {
            return refuse(PartFault::OtherKind { found: self.kind.clone(), expected: wanted.kind.clone() });
        }
        Ok(())
    }
}
