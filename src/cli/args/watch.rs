//! Arguments of `watch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::input::InputArgs;
use super::mask::MaskArgs;
use super::values::{duration, on_disk};

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// The log.
    #[command(flatten)]
    pub input: InputArgs,

    /// Keep the report in DIR up to date; DIR/live.html shows it and refreshes itself
    #[arg(long, value_name = "DIR", required = true, help_heading = "Output", value_parser = on_disk)]
    pub report: PathBuf,

    /// Keep what is read in DIR, so that a watch that is started again reads new files only [default:
    /// a temporary folder, for this watch]
    #[arg(long, value_name = "DIR", help_heading = "Reading")]
    pub cache: Option<PathBuf>,

    /// Time between two looks, such as 30s, 5m
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub every: Duration,

    /// End with 0 when nothing new came for this long [default: go on until stopped]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub until_idle: Option<Duration>,

    /// End with 1 when a number of the summary meets CONDITION, such as "s2t.fraction>3e-4", or the run a state, such
    /// as damaged (repeatable)
    #[arg(long = "fail-on", value_name = "CONDITION", help_heading = "Alerts")]
    pub fail_on: Vec<String>,

    /// End with 1 at the first alert, told before or not: damage, or a cause that is likely
    #[arg(long, help_heading = "Alerts")]
    pub fail_on_alert: bool,

    /// Run COMMAND (sh -c) for every new alert: as JSON on its stdin, and in STAPO_ALERT_KIND,
    /// STAPO_ALERT_CODE, STAPO_ALERT_MESSAGE, STAPO_ALERT_STEP and STAPO_REPORT
    #[arg(long, value_name = "COMMAND", help_heading = "Alerts")]
    pub on_alert: Option<String>,

    /// What is computed.
    #[command(flatten)]
    pub options: MaskArgs,
}
