//! Addresses such as `s3://bucket/run/step_1/tokens.parquet`.

use std::path::{Path, PathBuf};

use stapo_base::error::Error;
#[cfg(feature = "cloud")]
use stapo_base::error::Result;

/// What is spoken with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// S3 and what speaks as it does.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// Any web server; nothing can be listed there.
    Web,
}

const SCHEMES: [(&str, Scheme); 6] = [
    ("s3", Scheme::S3),
    ("s3a", Scheme::S3),
    ("gs", Scheme::Google),
    ("az", Scheme::Azure),
    ("https", Scheme::Web),
    ("http", Scheme::Web),
];

/// Whether a path is the address of something that is not on this disk.
#[must_use]
pub fn is_url(path: &Path) -> bool {
    split(path).is_some()
}

fn split(path: &Path) -> Option<(Scheme, &str, &str)> {
    let (scheme, rest) = path.to_str()?.split_once("://")?;
    let (_, known) = SCHEMES.iter().find(|(name, _)| scheme.eq_ignore_ascii_case(name))?;
    Some((*known, scheme, rest))
}

/// The parts of an address.
#[cfg(feature = "cloud")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// What is spoken.
    pub scheme: Scheme,
    /// Scheme and bucket, or scheme and host: `s3://bucket`.
    pub root: String,
    /// The bucket, container or host.
    pub authority: String,
    /// What follows, without the slash before it.
    pub key: String,
}

#[cfg(feature = "cloud")]
impl Address {
    /// The parts of `path`, which has to be an address.
    pub fn parse(path: &Path) -> Result<Self> {
        let wrong = |message: &str, hint: &str| Error::Usage {
            message: format!("{}: {message}", without_secret(path).display()),
            hint: hint.to_owned(),
        };
        let Some((scheme, name, rest)) = split(path) else {
            return Err(wrong("not an address", "give s3://, gs://, az:// or https://"));
        };
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            return Err(wrong("the address names no bucket or host", "write s3://BUCKET/PREFIX"));
        }
        if authority.contains('@') {
            return Err(wrong(
                "the address holds a user or a password",
                "reports name their inputs: give credentials in the environment instead",
            ));
        }
        // A `?` of a bucket's key may be that of a glob; a name and a `=` after it begin a query.
        let signed = key.split('?').skip(1).any(begins_query);
        if signed || (scheme == Scheme::Web && key.contains(['?', '#'])) {
            return Err(wrong(
                "addresses with a query (signed links) are not taken",
                "reports name their inputs, so the signature would be told: use s3://, gs:// or az:// with credentials in the environment, or download the file",
            ));
        }
        Ok(Self {
            scheme,
            root: format!("{}://{authority}", name.to_ascii_lowercase()),
            authority: authority.to_owned(),
            key: key.to_owned(),
        })
    }

    /// The address of a key in the same bucket or on the same host.
    pub fn of_key(&self, key: &str) -> PathBuf {
        PathBuf::from(format!("{}/{key}", self.root))
    }
}

/// Whether a query begins so: `name=`. After the `?` of a glob come folders such as `/step=1`.
#[cfg(feature = "cloud")]
fn begins_query(text: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '%');
    text.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(in_name)
    })
}

/// The error of an address where the program cannot follow any.
#[cfg(not(feature = "cloud"))]
pub fn not_built(path: &Path) -> Error {
    Error::Usage {
        message: format!("{}: this build reads files of the disk only", without_secret(path).display()),
        hint: "take the wheel (pip), which reads buckets, or build it with them: cargo install --path . --features cloud".into(),
    }
}

/// An address as it may be shown: what can be secret in it is left out.
fn without_secret(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    let bare = text.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = bare.split_once("://") else { return PathBuf::from(bare) };
    let (authority, key) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((_, host)) => PathBuf::from(format!("{scheme}://…@{host}{key}")),
        None => PathBuf::from(bare),
    }
}

#[cfg(all(test, feature = "cloud"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_parts() {
        let parsed = |text: &str| Address::parse(Path::new(text));
        let s3 = parsed("s3://logs/run a/step=1/x.parquet").unwrap();
        assert_eq!((s3.scheme, s3.authority.as_str()), (Scheme::S3, "logs"));
        assert_eq!(s3.key, "run a/step=1/x.parquet");
        assert_eq!(s3.of_key("run"), Path::new("s3://logs/run"));
        assert_eq!(parsed("gs://logs").unwrap().key, "");
        assert_eq!(parsed("HTTPS://host:1/a").unwrap().root, "https://host:1");
        assert!(!is_url(Path::new("runs/s3")) && !is_url(Path::new("ftp://a/b")));
    }

    #[test]
    fn secrets_are_neither_taken_nor_told() {
        for text in [
            "https://host/a.parquet?X-Amz-Signature=topsecret",
            "https://me:topsecret@host/a.parquet",
            "https://me:a@topsecret@host/a.parquet",
            "az://logs/a.parquet?sv=1&sig=topsecret",
            "s3://logs/run/*.parquet?X-Amz-Signature=topsecret",
            "s3://logs/run_?/step=1/a.parquet?versionId=3&X-Amz-Signature=topsecret",
        ] {
            let error = Address::parse(Path::new(text)).unwrap_err();
            assert!(!format!("{error} {:?}", error.hint()).contains("topsecret"), "{error}");
        }
        assert!(Address::parse(Path::new("s3:///key")).is_err());
        let glob = Address::parse(Path::new("s3://logs/step=1/rank_?.parquet")).unwrap();
        assert_eq!(glob.key, "step=1/rank_?.parquet");
        for fine in ["run_?/step=1/a.parquet", "run_?/step=?/rank_?.parquet", "run_?_lr=1/a.parquet"] {
            let glob = Address::parse(Path::new(&format!("s3://logs/{fine}"))).unwrap();
            assert_eq!(glob.key, fine);
        }
    }
}
