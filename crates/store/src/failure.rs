//! What a store says when it does not give what was asked, as one typed error with a hint.

use std::error::Error as StdError;
use std::path::Path;

use object_store::Error as StoreError;

use super::address::Scheme;
use stapo_base::error::Error;

/// Characters of a server's own words that are shown.
const SAID: usize = 200;

/// The error of a request for `path`.
pub fn of(path: &Path, scheme: Scheme, asked: &str, error: &StoreError) -> Error {
    let remote = |message: String, hint: &str| Error::Remote {
        path: path.to_owned(),
        asked: asked.to_owned(),
        message,
        hint: hint.to_owned(),
    };
    let whole = error.to_string();
    let said = said(&whole);
    let because = |what: &str| if said.is_empty() { what.to_owned() } else { format!("{what}: {said}") };
    match error {
        StoreError::Precondition { .. } => Error::Changed { path: path.to_owned() },
        _ if said.starts_with("NoSuchBucket") => {
            remote("no such bucket (404)".into(), "check the name of the bucket, the region and the endpoint")
        }
        StoreError::NotFound { .. } => remote(because("not there (404)"), missing_hint(scheme)),
        StoreError::PermissionDenied { .. } => {
            remote(because("the store refuses it (403)"), credentials_hint(scheme))
        }
        StoreError::Unauthenticated { .. } => {
            remote(because("the store does not know who asks (401)"), credentials_hint(scheme))
        }
        StoreError::NotSupported { .. } => remote(
            "the server does not give ranges of bytes".into(),
            "use a server that honours Range requests, or download the file",
        ),
        _ => {
            let (message, hint) = other(scheme, &whole, &root_cause(error));
            remote(because(&message), hint)
        }
    }
}

/// The error of settings from which no client can be made.
pub fn of_settings(path: &Path, scheme: Scheme, error: &StoreError) -> Error {
    Error::Remote {
        path: path.to_owned(),
        asked: "connect".into(),
        message: short(&root_cause(error)),
        hint: credentials_hint(scheme).to_owned(),
    }
}

fn other(scheme: Scheme, whole: &str, root: &str) -> (String, &'static str) {
    let has = |words: &[&str]| words.iter().any(|word| whole.contains(word) || root.contains(word));
    if has(&["169.254.169.254", "169.254.170.2", "metadata.google", "Error getting credentials"]) {
        ("no credentials found".into(), credentials_hint(scheme))
    } else if has(&["timed out", "Timeout"]) {
        ("no answer in time".into(), "check the network and the endpoint, then try again")
    } else if has(&["dns error", "failed to lookup", "Name or service not known"]) {
        (
            format!("no such host: {}", short(root)),
            "check the address and the endpoint (AWS_ENDPOINT_URL for s3://)",
        )
    } else if has(&["Connection refused", "error trying to connect", "tcp connect"]) {
        (
            format!("no connection: {}", short(root)),
            "check that the server runs and that the endpoint is right",
        )
    } else if has(&["without LOCATION", "status code: 301", "PermanentRedirect"]) && scheme == Scheme::S3 {
        ("the bucket is in another region".into(), "set AWS_REGION to the region of the bucket")
    } else if has(&["URL scheme is not allowed"]) {
        ("plain http is not allowed".into(), "use https, or set AWS_ALLOW_HTTP=true if the network is yours")
    } else if let Some(status) = whole.split("status code: ").nth(1) {
        let status: String = status.chars().take_while(|c| *c != ':').take(40).collect();
        (
            format!("the server answers {status}"),
            "if it goes on, try the store's own tool on the same address",
        )
    } else {
        (short(root), "if it goes on, try the store's own tool on the same address")
    }
}

/// The credentials that a store looks for.
fn credentials_hint(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, AWS_REGION), or AWS_PROFILE; of a login or a role: eval \"$(aws configure export-credentials --format env)\"; for a public bucket AWS_SKIP_SIGNATURE=true"
        }
        Scheme::Google => {
            "set GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login; for a public bucket GOOGLE_SKIP_SIGNATURE=true"
        }
        Scheme::Azure => {
            "set AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_KEY, or the variables of a service principal"
        }
        Scheme::Web => "the server wants a login, which is not supported: download the file",
    }
}

fn missing_hint(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "check bucket, key and endpoint (AWS_ENDPOINT_URL); quote globs that the shell should not expand"
        }
        Scheme::Web => "check the address; a folder of a web server cannot be listed: name the files",
        Scheme::Google | Scheme::Azure => {
            "check the bucket and the key; quote globs that the shell should not expand"
        }
    }
}

/// Code and message of the XML that stores answer with.
fn said(whole: &str) -> String {
    let part = |name: &str| {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let rest = &whole[whole.find(&open)? + open.len()..];
        Some(short(&rest[..rest.find(&close)?]))
    };
    let parts: Vec<String> = ["Code", "Message"].iter().filter_map(|name| part(name)).collect();
    parts.join(", ")
}

fn root_cause(error: &StoreError) -> String {
    let mut cause: &dyn StdError = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(SAID) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
