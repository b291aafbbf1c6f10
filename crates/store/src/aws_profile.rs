//! Keys of a profile in `~/.aws`: what `aws configure` writes. Logins, roles and processes that make
//! keys are left to the `aws` tool.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stapo_base::error::{Error, Result};

/// What a profile says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Key, secret and session token.
    pub keys: Option<(String, String, Option<String>)>,
    /// The region.
    pub region: Option<String>,
    /// The endpoint.
    pub endpoint: Option<String>,
}

/// Reads the profile that `AWS_PROFILE` names, else `default`.
pub fn read(path: &Path) -> Result<Profile> {
    let named = variable("AWS_PROFILE").or_else(|| variable("AWS_DEFAULT_PROFILE"));
    let name = named.as_deref().unwrap_or("default");
    let text = |file: &str, given: &str| {
        let place = variable(given).map(PathBuf::from);
        let place = place.or_else(|| Some(Path::new(&variable("HOME")?).join(".aws").join(file)));
        place.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    };
    let credentials = text("credentials", "AWS_SHARED_CREDENTIALS_FILE");
    let config = text("config", "AWS_CONFIG_FILE");
    let found = profile(name, &credentials, &config);
    match (named.is_some(), found) {
        (false, found) => Ok(found.unwrap_or_default()),
        (true, None) => Err(missing(path, name, "is in neither ~/.aws/credentials nor ~/.aws/config")),
        (true, Some(Profile { keys: None, .. })) => {
            Err(missing(path, name, "holds no keys (a login, a role or a process makes them)"))
        }
        (true, Some(found)) => Ok(found),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn missing(path: &Path, name: &str, what: &str) -> Error {
    Error::Remote {
        path: path.to_owned(),
        asked: "look for credentials".into(),
        message: format!("the profile `{name}` (AWS_PROFILE) {what}"),
        hint: format!(
            "have the aws tool make keys: eval \"$(aws configure export-credentials --profile {name} --format env)\""
        ),
    }
}

/// The profile in the texts of both files; `None` where neither has it.
fn profile(name: &str, credentials: &str, config: &str) -> Option<Profile> {
    let of_config = match name {
        "default" => section(config, "default").or_else(|| section(config, "profile default")),
        name => section(config, &format!("profile {name}")),
    };
    let of_credentials = section(credentials, name);
    if of_config.is_none() && of_credentials.is_none() {
        return None;
    }
    let mut said = of_config.unwrap_or_default();
    said.extend(of_credentials.unwrap_or_default());
    let mut take = |key: &str| said.remove(key).filter(|value| !value.is_empty());
    let keys = take("aws_access_key_id").zip(take("aws_secret_access_key"));
    let token = take("aws_session_token");
    Some(Profile {
        keys: keys.map(|(key, secret)| (key, secret, token)),
        region: take("region"),
        endpoint: take("endpoint_url"),
    })
}

/// The settings of one section; nested ones, which are indented, are passed over.
fn section(text: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let mut inside = false;
    let mut found: Option<BTreeMap<String, String>> = None;
    for line in text.lines() {
        let bare = line.trim();
        if let Some(head) = bare.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = head.split_whitespace().eq(name.split_whitespace());
            if inside {
                found.get_or_insert_default();
            }
        } else if inside
            && !line.starts_with([' ', '\t', '#', ';'])
            && let (Some((key, value)), Some(found)) = (bare.split_once('='), found.as_mut())
        {
            found.insert(key.trim().to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "[default]\naws_access_key_id = A\naws_secret_access_key=B\n\n# other\n[lab]\naws_access_key_id = C\naws_secret_access_key = D=\naws_session_token = E\n";
    const CONFIG: &str = "[default]\nregion = eu-west-1\n[profile lab]\nregion=us-east-2\nendpoint_url = http://127.0.0.1:9000\ns3 =\n  region = wrong\n[profile login]\nsso_session = us\n";

    #[test]
    fn keys_of_a_profile_come_from_both_files() {
        let default = profile("default", CREDENTIALS, CONFIG).unwrap();
        assert_eq!(default.keys, Some(("A".into(), "B".into(), None)));
        assert_eq!(default.region.as_deref(), Some("eu-west-1"));
        let lab = profile("lab", CREDENTIALS, CONFIG).unwrap();
        assert_eq!(lab.keys, Some(("C".into(), "D=".into(), Some("E".into()))));
        assert_eq!(lab.region.as_deref(), Some("us-east-2"));
        assert_eq!(lab.endpoint.as_deref(), Some("http://127.0.0.1:9000"));
        assert_eq!(profile("login", CREDENTIALS, CONFIG).unwrap().keys, None);
        assert_eq!(profile("none", CREDENTIALS, CONFIG), None);
    }
}
