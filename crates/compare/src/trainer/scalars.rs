//! What one file of a trainer holds.

use std::collections::BTreeSet;
use std::path::Path;

use stapo_base::error::{Error, Result};

/// The rows of one file.
#[derive(Debug, Default)]
pub struct Scalars {
    /// Run and step of each row.
    pub rows: Vec<(String, i64)>,
    /// Metrics with a value for each row.
    pub columns: Vec<(String, Vec<Option<f64>>)>,
    /// Columns that are not numeric, with their first such value and its row.
    pub skipped: Vec<(String, String, usize)>,
}

impl Scalars {
    /// The rows of the run that the user says the file is of. One run in it is that one, whatever name the
    /// trainer gave it.
    pub fn of_run(mut self, run: &str, path: &Path) -> Result<Self> {
        let names: BTreeSet<&str> = self.rows.iter().map(|(name, _)| name.as_str()).collect();
        if names.contains(run) {
            let own: Vec<bool> = self.rows.iter().map(|(name, _)| name == run).collect();
            let mut kept = own.iter();
            self.rows.retain(|_| kept.next() == Some(&true));
            for (_, values) in &mut self.columns {
                let mut kept = own.iter();
                values.retain(|_| kept.next() == Some(&true));
            }
            return Ok(self);
        }
        if names.len() > 1 {
            let names: Vec<&str> = names.into_iter().take(8).collect();
            return Err(Error::Usage {
                message: format!(
                    "--metrics {run}={}: it holds several runs ({}), and none is called {run}",
                    path.display(),
                    names.join(", ")
                ),
                hint: "give a file of one run, or rename the run in the file".into(),
            });
        }
        self.rows.iter_mut().for_each(|(name, _)| run.clone_into(name));
        Ok(self)
    }
}
