//! A result never takes the place of what it is made of.

use std::path::Path;

use crate::error::{Error, Result};

/// Fails where `target` is one of the files that are read for it.
pub fn refuse_replacing<'a>(target: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    match is_one_of(target, inputs) {
        false => Ok(()),
        true => Err(Error::Usage {
            message: format!("{}: the output would replace one of the inputs", target.display()),
            hint: "give the output another name; nothing was written".into(),
        }),
    }
}

/// Fails where `target`, of an earlier result in the same folder and about to be removed, is one of the
/// files that are read.
pub fn refuse_removing<'a>(target: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    match is_one_of(target, inputs) {
        false => Ok(()),
        true => Err(Error::Usage {
            message: format!(
                "{}: this input is a file of an earlier result in the folder, which the new one would remove",
                target.display()
            ),
            hint: "give another folder for the output; nothing was written".into(),
        }),
    }
}

fn is_one_of<'a>(target: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> bool {
    // What is not there is no input.
    let Ok(there) = target.canonicalize() else { return false };
    inputs.into_iter().any(|input| input.canonicalize().is_ok_and(|input| input == there))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_known_by_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.parquet");
        std::fs::write(&log, "x").unwrap();
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        let roundabout = folder.path().join("deep/../log.parquet");
        assert!(refuse_replacing(&roundabout, [log.as_path()]).is_err());
        let address = Path::new("s3://bucket/log.parquet");
        assert!(refuse_replacing(&log, [address, folder.path()]).is_ok());
        assert!(refuse_replacing(&folder.path().join("new.parquet"), [log.as_path()]).is_ok());
    }
}
