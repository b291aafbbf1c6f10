//! Clients of stores: one for each bucket or host, with what the environment says of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::address::{Address, Scheme};
use super::{aws_profile, failure};
use stapo_base::error::{Error, Result};

/// A request is tried this often again, and not after this time. One try waits 5 s for a connection and
/// 30 s for the whole answer (the defaults of object_store, which AWS_TIMEOUT and its like change).
const RETRIES: usize = 4;
const RETRY_TIME: Duration = Duration::from_secs(60);

/// The client for an address; all addresses of a bucket share one.
pub fn client(address: &Address, path: &Path) -> Result<Arc<dyn ObjectStore>> {
    static CLIENTS: Mutex<BTreeMap<String, Arc<dyn ObjectStore>>> = Mutex::new(BTreeMap::new());
    let mut clients = CLIENTS.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(known) = clients.get(&address.root) {
        return Ok(known.clone());
    }
    let built = match address.scheme {
        Scheme::S3 => s3(address, path)?,
        Scheme::Google => wrap(
            GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(&address.authority)
                .with_retry(retries())
                .build(),
        ),
        Scheme::Azure => {
            let builder = MicrosoftAzureBuilder::from_env();
            if let Some(endpoint) = builder.get_config_value(&AzureConfigKey::Endpoint) {
                require_address("AZURE_STORAGE_ENDPOINT", &endpoint)?;
            }
            wrap(builder.with_container_name(&address.authority).with_retry(retries()).build())
        }
        Scheme::Web => wrap(
            HttpBuilder::new()
                .with_url(&address.root)
                // Whoever writes http:// means it; no secret of ours goes there.
                .with_client_options(ClientOptions::new().with_allow_http(true))
                .with_retry(retries())
                .build(),
        ),
    };
    let built = built.map_err(|e| failure::of_settings(path, address.scheme, &e))?;
    clients.insert(address.root.clone(), built.clone());
    Ok(built)
}

fn wrap<S: ObjectStore>(built: object_store::Result<S>) -> object_store::Result<Arc<dyn ObjectStore>> {
    built.map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
}

fn s3(address: &Address, path: &Path) -> Result<object_store::Result<Arc<dyn ObjectStore>>> {
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(&address.authority).with_retry(retries());
    let says = |key: AmazonS3ConfigKey| builder.get_config_value(&key).filter(|value| !value.is_empty());
    let has_keys = says(AmazonS3ConfigKey::AccessKeyId).is_some();
    let unsigned =
        says(AmazonS3ConfigKey::SkipSignature).is_some_and(|value| value == "true" || value == "1");
    let elsewhere = [
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ]
    .iter()
    .any(|name| std::env::var_os(name).is_some());
    if !has_keys && !unsigned && !elsewhere {
        let profile = aws_profile::read(path)?;
        let region = says(AmazonS3ConfigKey::Region).is_none().then_some(profile.region).flatten();
        let endpoint = endpoint(&builder).is_none().then_some(profile.endpoint).flatten();
        if let Some((key, secret, token)) = profile.keys {
            builder = builder.with_access_key_id(key).with_secret_access_key(secret);
            builder = token.into_iter().fold(builder, |builder, token| builder.with_token(token));
        }
        builder = region.into_iter().fold(builder, |builder, region| builder.with_region(region));
        builder = endpoint.into_iter().fold(builder, |builder, endpoint| builder.with_endpoint(endpoint));
    }
    if let Some(endpoint) = endpoint(&builder) {
        require_address("AWS_ENDPOINT_URL", &endpoint)?;
        if is_loopback(&endpoint) {
            builder = builder.with_allow_http(true);
        }
    }
    Ok(wrap(builder.build()))
}

fn endpoint(builder: &AmazonS3Builder) -> Option<String> {
    [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint]
        .iter()
        .find_map(|key| builder.get_config_value(key))
        .filter(|value| !value.is_empty())
}

/// Refuses an endpoint that is no address: requests to it would break inside of the client. It is not
/// shown, as it may hold a password.
fn require_address(variable: &str, endpoint: &str) -> Result<()> {
    let is_web = |url: &url::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    let known = endpoint.trim() == endpoint && url::Url::parse(endpoint).is_ok_and(|url| is_web(&url));
    if known {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!("the endpoint that {variable} (or the profile) names is not an address"),
        hint: format!("write http:// or https://, the host and its port: {variable}=http://localhost:9000"),
    })
}

/// Whether plain http to this endpoint stays on this machine.
fn is_loopback(endpoint: &str) -> bool {
    let Ok(url) = url::Url::parse(endpoint) else { return false };
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn retries() -> RetryConfig {
    RetryConfig { backoff: BackoffConfig::default(), max_retries: RETRIES, retry_timeout: RETRY_TIME }
}

#[cfg(test)]
mod tests {
    use super::{is_loopback, require_address};

    #[test]
    fn endpoints_are_addresses() {
        for bad in ["localhost:9000", "minio", " http://localhost:1", "http://host:99999", "http://[", ""] {
            assert!(require_address("AWS_ENDPOINT_URL", bad).is_err(), "{bad}");
        }
        for fine in ["http://localhost:9000", "https://s3.example.org", "http://[::1]:9/path"] {
            assert!(require_address("AWS_ENDPOINT_URL", fine).is_ok(), "{fine}");
        }
    }

    #[test]
    fn plain_http_is_for_this_machine() {
        assert!(
            ["http://127.0.0.1:8333", "http://localhost:1", "http://[::1]:9"].iter().all(|e| is_loopback(e))
        );
        assert!(
            ["http://10.0.0.1", "http://localhost.example.org", "127.0.0.1"].iter().all(|e| !is_loopback(e))
        );
    }
}
