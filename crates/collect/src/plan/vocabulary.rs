//! How many tokens there are, and where that is known from.

use std::collections::BTreeMap;
use std::ops::Range;

use stapo_base::error::Result;
use stapo_batch::batch::{MISSING_ID, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::progress::Silent;
use stapo_batch::sink::Sink;
use stapo_framework::vocab::vocabulary_containing;
use stapo_ingest::texts::Tokenizer;
use stapo_ingest::{ALL_UNITS, Run, scan_units};
use stapo_result::VocabularySource;
use stapo_result::settings::AnalyzeSettings;

/// The characters that there are.
const LARGEST_CHARACTER: u32 = 0x11_0000;

/// The vocabulary of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KnownVocabulary {
    /// V.
    pub size: u32,
    /// Where V comes from.
    pub source: VocabularySource,
    /// Whether a tokenizer gives the texts of ids.
    pub texts: bool,
}

impl KnownVocabulary {
    /// What the user says, else the log, else the tokenizer; else what the largest id lets guess.
    pub fn find(
        run: &Run,
        settings: &AnalyzeSettings,
        tokenizer: Option<&Tokenizer>,
        largest_id: impl FnOnce(&Run) -> Result<u32>,
    ) -> Result<Self> {
        let known = |size, source| Self { size, source, texts: tokenizer.is_some() };
        if let Some(size) = settings.vocab_size {
            return Ok(known(size, VocabularySource::Option));
        }
        let logged = run.metadata.get("vocab_size").and_then(|v| v.trim().parse::<u32>().ok());
        if let Some(size) = logged.filter(|v| *v >= 2) {
            return Ok(known(size, VocabularySource::Metadata));
        }
        if let Some(tokenizer) = tokenizer.filter(|t| t.size() >= 2) {
            return Ok(known(tokenizer.size(), VocabularySource::Tokenizer));
        }
        if run.is_of_texts() {
            return Ok(known(LARGEST_CHARACTER, VocabularySource::Guessed));
        }
        let largest = if run.has(Column::TokenId) { largest_id(run)? } else { 0 };
        Ok(known(vocabulary_containing(largest), VocabularySource::Guessed))
    }
}

/// The largest token id of the run: a look at one column.
pub fn largest_id(run: &Run) -> Result<u32> {
    let largest = largest_ids(run, ALL_UNITS)?;
    Ok(largest.into_values().max().unwrap_or(0))
}

/// The largest token id of each file that has units within `units`.
pub fn largest_ids(run: &Run, units: &[Range<usize>]) -> Result<BTreeMap<u32, u32>> {
    #[derive(Default)]
    struct LargestIds(BTreeMap<u32, u32>);
    impl Sink for LargestIds {
        fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
            let ids = batch.token_ids().unwrap_or_default();
            let largest = ids.iter().fold(MISSING_ID, |largest, id| largest.max(*id));
            let of_file = self.0.entry(batch.origin.file).or_default();
            *of_file = u32::try_from(largest).map_or(*of_file, |largest| largest.max(*of_file));
            Ok(())
        }
    }
    let mut scanned = scan_units(run, &[Column::TokenId], &Silent, units, LargestIds::default)?;
    let mut ends = LargestIds::default();
    scanned.part.open_ends(run).try_for_each(|end| ends.accept(&end))?;
    scanned.sinks.push(ends);
    let mut all = BTreeMap::new();
    for (file, largest) in scanned.sinks.into_iter().flat_map(|sink| sink.0) {
        let known: &mut u32 = all.entry(file).or_default();
        *known = largest.max(*known);
    }
    Ok(all)
}
