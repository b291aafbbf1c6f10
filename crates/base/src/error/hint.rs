//! What to do next about each error.

use super::Error;

impl Error {
    /// The next step for the user, one sentence.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotFound { .. } => {
                "check the path; quote globs that the shell should not expand".into()
            }
            Self::NoLogs { .. } => {
                "give a folder or glob with .parquet, .jsonl, .jsonl.gz or .jsonl.zst files".into()
            }
            Self::Empty { .. } => "remove it from the inputs, or wait until the run has written it".into(),
            Self::NoTokens { responses: 0, .. } => {
                "wait until the run has written its first step; if it has, see what the logger writes, and where".into()
            }
            Self::NoTokens { .. } => {
                "every list of tokens in it has no entry: see what fills the columns where they are logged; if tokens are \
                 in other columns, name these with --map (`stapo-analyze check` lists what is read)"
                    .into()
            }
            Self::NotRegular { .. } => "write it to a file first and give that".into(),
            Self::Changed { .. } => {
                "read it when the run has written it, or read a copy; nothing was made of the mixture".into()
            }
            Self::ChangedSincePlan { .. } => {
                "make the plan again when the run has written it; parts of other files have to be collected anew, too".into()
            }
            Self::AnotherLook { path } => format!(
                "run `collect --look {}` for every shard, then merge again", path.display()
            ),
            Self::Pickle { converter, .. } => {
                format!("convert it first: python {converter} FILE… -o out.parquet")
            }
            Self::UnknownFormat { path } if path.extension().is_some_and(|ending| ending == "part") => {
                "this is a part of a run: `merge --plan plan.json PARTS --report out/`; `compare` takes merged parts".into()
            }
            Self::UnknownFormat { .. } => {
                "readable are Parquet and JSONL (plain, .gz, .zst); see docs/formats.md".into()
            }
            Self::TextOnly { how, .. } => (*how).into(),
            Self::Corrupt { .. } => {
                "the file may be still in writing or cut short; write it again, or leave it out".into()
            }
            Self::TooLarge { .. } => {
                "if the log is what it should be, allow more: --max-memory 2G; else the file is damaged or hostile"
                    .into()
            }
            Self::UnequalLengths { .. } => {
                "all token columns of a row need one value a token; if they follow another convention, say which: --align response|left-padded|full|shifted|right|compact".into()
            }
            Self::ColumnType { canonical: None, .. } => {
                "map another column (--map canonical=column), or drop this one (--map canonical=)".into()
            }
            Self::ColumnType { canonical: Some(canonical), .. } => {
                let drop = if *canonical == "mask" { "train on every token" } else { "leave it out" };
                format!("name another column (--map {canonical}=COLUMN), or {drop} (--map {canonical}=)")
            }
            Self::LateColumn { column, canonical, .. } => {
                let first = format!("put a line that has `{column}` first (the order of lines does not matter)");
                match canonical.starts_with("reward/") || canonical.starts_with("slice/") {
                    true => first,
                    false => format!("{first}, or leave it out: --map {canonical}="),
                }
            }
            Self::BadRow { .. } => "repair or remove that row".into(),
            Self::ConflictingTypes { .. } => {
                "the files are of different runs or versions: analyse them apart, or convert one".into()
            }
            Self::SeveralRuns { .. } => {
                "read them apart (stapo-analyze compare A B shows both); to take them as one all the same: --pool".into()
            }
            Self::RowsTwice { .. } => {
                "a logger that appended the same rows again? Remove the copies; where a response is trained on \
                 twice, log which time it is as `update`; to count both all the same: --pool"
                    .into()
            }
            Self::Map { hint, .. } | Self::Usage { hint, .. } | Self::Remote { hint, .. } => hint.clone(),
            Self::MissingColumn { column: "entropy", .. } => {
                "name it with --map entropy=COLUMN; if it is not in the log, stapo-analyze LOG tells what needs \
                 none, and how to log it"
                    .into()
            }
            Self::MissingColumn { column, .. } => format!(
                "name it with --map {column}=COLUMN; if it is not in the log, log it: stapo_analyze.TokenLog of our Python package does (docs/formats.md)"
            ),
            Self::NoValue { column: "entropy", .. } => {
                "log it, name another column with --map entropy=COLUMN, or leave it out for what can be told \
                 without: --map entropy="
                    .into()
            }
            Self::NoValue { .. } => {
                "nothing can be computed without it: log it, or name another column with --map".into()
            }
            Self::ModelConfig { .. } => {
                "give a Hugging Face checkpoint of qwen3, qwen2 or llama: a folder with config.json, model.safetensors (or its shards) and tokenizer.json".into()
            }
            Self::ModelTensor { .. } => {
                "config.json and weights have to be of the same model; download or save it again".into()
            }
            Self::Internal { .. } => {
                "this is a defect of stapo-analyze, not of your log, and nothing was written: please report it with this message and the command".into()
            }
            Self::Part { fault, .. } => fault.hint().into(),
            Self::Read { .. } => return None,
            Self::Write { .. } => {
                "check free space and permissions; nothing was left under the final name".into()
            }
        };
        Some(hint)
    }
}
