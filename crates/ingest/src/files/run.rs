//! A run: its log files, opened and understood, ready to be scanned.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::file_context::FileContext;
use crate::files::agreement::{common_metadata, refuse_conflicts, require_named};
use crate::files::annotated::{annotate, refused};
use crate::files::discover::{LogFile, Skipped, discover, nothing_found};
use crate::files::map_columns::{map_columns, text_only};
use crate::files::one_run::{note_pooled, note_stale_tail, require_one_run};
use crate::files::open_all::open_all;
use crate::files::opened::{Opened, Source};
use crate::files::settings::IngestSettings;
use crate::json::Annotations;
use crate::schema::alignment::AlignmentRule;
use crate::schema::mapping;
use crate::schema::mapping::Mapping;
use crate::storage::identity::FileIdentity;
use crate::storage::stored::Stored;
use crate::text_logs::{Encoder, Speller, fit_weights};
use stapo_base::error::{Error, Result};
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;

/// An opened log file.
#[derive(Clone)]
pub struct RunFile {
    /// What the normalisers need to know of it.
    pub context: FileContext,
    /// Where its bytes are.
    pub(crate) stored: Stored,
    /// What was noted of its traces, beside it.
    pub(crate) annotations: Option<Arc<Annotations>>,
    /// How its rows are had.
    pub(crate) source: Source,
    /// Index of its mapping in [`Run::mappings`].
    pub mapping: usize,
    /// Size on disk.
    pub bytes: u64,
    /// What tells it from a file that takes its name later.
    pub identity: FileIdentity,
}

impl RunFile {
    fn of(index: usize, file: &Opened, mapping: usize, settings: &IngestSettings) -> Self {
        Self {
            context: FileContext {
                path: file.log.path().to_owned(),
                file: index as u32,
                step: file.log.step,
                alignment: settings.alignment.map_or(file.alignment, AlignmentRule::Given),
                entropy_in_bits: settings.entropy_in_bits,
                scope: settings.scope(),
                speller: Speller::default(),
                held_out: false,
                conventions: Default::default(),
            },
            stored: file.log.stored.clone(),
            annotations: file.log.annotations.clone(),
            source: file.source.clone(),
            mapping,
            bytes: file.identity.bytes,
            identity: file.identity.clone(),
        }
    }

    /// Where it is: a path, or an address in a bucket.
    pub fn path(&self) -> &Path {
        self.stored.path()
    }
}

/// A run of one or more log files.
#[derive(Clone)]
pub struct Run {
    /// The files, in the order they were given.
    pub files: Vec<RunFile>,
    /// The mappings in use, one for each different schema.
    pub mappings: Vec<Mapping>,
    /// What was not read, and why.
    pub skipped: Vec<Skipped>,
    /// Key-value metadata that no two files disagree on.
    pub metadata: BTreeMap<String, String>,
    /// Guesses and gaps that the user should know of.
    pub notes: Vec<String>,
    /// The settings it was opened with.
    pub settings: IngestSettings,
}

impl Run {
    /// Finds and opens all log files behind the arguments.
    pub fn open(arguments: &[PathBuf], settings: &IngestSettings) -> Result<Self> {
        let mut found = discover(arguments)?;
        annotate(&mut found, settings)?;
        let (mut opened, unfinished) = open_all(found.files, settings)?;
        let mut skipped = [found.skipped, unfinished].concat();
        if let (true, Some(argument)) = (opened.is_empty(), arguments.first()) {
            return Err(nothing_found(argument, &skipped));
        }
        let trained = opened.len();
        if !settings.held_out.is_empty() {
            let found = discover(&settings.held_out)?;
            let (held_out, unfinished) = open_all(found.files, settings)?;
            opened.extend(held_out);
            skipped.extend([found.skipped, unfinished].concat());
        }
        refuse_conflicts(&opened, &settings.map)?;
        require_named(&settings.map, &opened)?;
        if !settings.pool {
            require_one_run(&opened)?;
        }
        let (mappings, of_files) = map_columns(&opened, settings)?;
        let files = opened.iter().zip(of_files).enumerate();
        let files = files.map(|(index, (file, mapping))| RunFile::of(index, file, mapping, settings));
        let mut run = Run {
            files: files.collect(),
            notes: notes_of(&mappings),
            mappings,
            skipped,
            metadata: common_metadata(&opened),
            settings: settings.clone(),
        };
        run.files.iter_mut().skip(trained).for_each(|file| file.context.held_out = true);
        run.spell(settings)?;
        let before = notes_of(&run.mappings);
        fit_weights(&mut run)?;
        let after = notes_of(&run.mappings);
        run.notes.retain(|note| !before.contains(note) || after.contains(note));
        run.notes.extend(after.into_iter().filter(|note| !before.contains(note)));
        run.note_missing_step(&opened);
        run.notes.extend(note_stale_tail(&opened));
        run.notes.extend(note_pooled(arguments, &opened).filter(|_| !settings.pool));
        run.notes.extend(settings.steps.map(|steps| steps.note()));
        Ok(run)
    }

    /// What a look at folders and listings tells of the files behind the arguments: where two looks are
    /// alike, nothing was written in between.
    pub fn glance(arguments: &[PathBuf]) -> Result<Vec<(PathBuf, FileIdentity)>> {
        let seen = |file: &LogFile| Ok((file.path().to_owned(), file.stored.glance()?));
        discover(arguments)?.files.iter().map(seen).collect()
    }

    /// The mapping of a file.
    pub fn mapping_of(&self, file: &RunFile) -> &Mapping {
        &self.mappings[file.mapping]
    }

    /// Whether it is a log of texts: no file that is trained on holds tokens.
    pub fn is_of_texts(&self) -> bool {
        let mut trained = self.files.iter().filter(|file| !file.context.held_out).peekable();
        trained.peek().is_some() && trained.all(|file| self.mapping_of(file).is_of_texts())
    }

    /// Whether texts are read in the tokens of a tokenizer, not in characters.
    pub fn spells_tokens(&self) -> bool {
        self.files.iter().any(|file| file.context.speller.has_tokens())
    }

    /// Finds out how texts become tokens.
    fn spell(&mut self, settings: &IngestSettings) -> Result<()> {
        let has_texts = self.mappings.iter().any(Mapping::is_of_texts);
        let Some(path) = settings.tokenizer.as_deref().filter(|_| has_texts) else { return Ok(()) };
        let Some(encoder) = Encoder::read(path)? else {
            self.notes.push(format!(
                "{}: only byte-level BPE tokenizers spell texts: lengths are in characters",
                path.display()
            ));
            return Ok(());
        };
        let speller = Speller::with(encoder);
        self.files.iter_mut().for_each(|file| file.context.speller = speller.clone());
        Ok(())
    }

    /// Whether any file has `column`, or what it is derived from.
    pub fn has(&self, column: Column) -> bool {
        if column == Column::Split && self.files.iter().any(|file| file.context.held_out) {
            return true;
        }
        let derived = |m: &Mapping| match column {
            Column::LogprobNew => m.has(Column::Ratio) && m.has(Column::Logprob),
            Column::PolicyVersion => m.has(Column::TokenVersion),
            Column::Reward => m.sums_token_rewards(),
            _ => false,
        };
        self.mappings.iter().any(|m| m.has(column) || derived(m))
    }

    /// Whether the ids of `column` are texts in any of the files: then they are texts in what is written.
    pub fn has_text_ids(&self, column: Column) -> bool {
        self.mappings.iter().filter_map(|m| m.get(column)).any(|m| m.sources.iter().any(|s| s.text))
    }

    /// Fails where `column` is in none of the files.
    pub fn require(&self, column: Column) -> Result<()> {
        let Some((file, mapping)) = self.files.first().map(|f| (f, self.mapping_of(f))) else {
            return Ok(());
        };
        if self.has(column) {
            return Ok(());
        }
        if mapping.is_of_texts() {
            return Err(text_only(&file.context.path, mapping.dialect, column.name().into()));
        }
        Err(Error::MissingColumn {
            path: file.context.path.clone(),
            column: column.name(),
            found: mapping
                .columns
                .iter()
                .map(mapping::source_names)
                .chain(mapping.unused.iter().cloned())
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// Fails where a file is more than its own bytes: notes lie beside it, which `what` does not know.
    pub fn refuse_annotated(&self, what: &str) -> Result<()> {
        match self.files.iter().find(|file| file.annotations.is_some()) {
            None => Ok(()),
            Some(file) => {
                let within = |folder: &&Path| folder.file_name().is_some_and(|name| name == "traces");
                let path = &file.context.path;
                let traces = path.ancestors().find(within).unwrap_or(path);
                Err(refused(traces, &format!("{what} does not know these")))
            }
        }
    }

    /// Fails where a response has more tokens than can be held.
    pub fn require_size(&self, response: &TokenBatch) -> Result<()> {
        let (tokens, limits) = (response.token_count() as u64, self.settings.limits);
        if tokens <= limits.tokens() {
            return Ok(());
        }
        let file = self.files.get(response.origin.file as usize);
        Err(Error::TooLarge {
            path: file.map(|f| f.context.path.clone()).unwrap_or_default(),
            place: String::new(),
            message: limits.too_many_tokens(tokens),
        })
    }

    /// Leaves out what is of evaluation from now on.
    pub(crate) fn leave_out_evaluation(&mut self) {
        self.settings.training_only = true;
        let scope = self.settings.scope();
        self.files.iter_mut().for_each(|file| file.context.scope = scope);
    }

    /// The file's name, for messages.
    pub fn file_name(&self, file: u32) -> String {
        self.files.get(file as usize).map_or(String::new(), |f| f.context.path.display().to_string())
    }

    fn note_missing_step(&mut self, opened: &[Opened]) {
        let without = |f: &&RunFile| f.context.step.is_none() && !self.mapping_of(f).has(Column::Step);
        let count = self.files.iter().filter(without).count();
        if count > 0 && !opened.is_empty() {
            self.notes.push(format!(
                "{count} of {} files name no step (column, folder or file name): their tokens count as step 0",
                opened.len()
            ));
        }
    }
}

/// What the mappings have to say, each thing once.
fn notes_of(mappings: &[Mapping]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in mappings.iter().flat_map(|mapping| &mapping.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes
}
