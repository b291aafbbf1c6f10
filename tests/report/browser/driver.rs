//! A WebDriver client in a few lines: HTTP over a socket to `chromedriver` on this machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
];

/// A browser with one page.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// One browser at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A program of this name in the search path.
fn program(names: &[&str]) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&paths).collect::<Vec<_>>();
    names.iter().flat_map(|n| places.iter().map(move |p| p.join(n))).find(|p| p.is_file())
}

impl Browser {
    /// Starts one.
    pub fn start() -> Self {
        let found = program(&["chromedriver"]).zip(program(&["chromium", "google-chrome", "chrome"]));
        let (driver, browser) = found.expect("these tests need chromium and chromedriver");
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let started =
            lines.find_map(|l| l.ok()?.split("started successfully on port ").nth(1).map(str::to_owned));
        let port = started.expect("chromedriver names its port").trim_end_matches('.').parse().unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let mut flags: Vec<String> = FLAGS.iter().map(|f| (*f).to_owned()).collect();
        flags.push(format!("--user-data-dir={}", profile.path().display()));
        let mut started = Self { driver, port, session: String::new(), _profile: profile, _alone: alone };
        let answer = started.call(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": {"binary": browser, "args": flags},
                "goog:loggingPrefs": {"browser": "ALL"},
            }}}),
        );
        started.session = answer["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        started
    }

    /// Sends a request and gives the `value` of its answer.
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = if method == "POST" { body.to_string() } else { String::new() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let mut answer = Vec::new();
        let mut reader = BufReader::new(stream);
        let mut length = None;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse::<u64>().ok();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        reader.take(length.unwrap_or(u64::MAX)).read_to_end(&mut answer).unwrap();
        let value: Value = serde_json::from_slice(&answer).unwrap();
        value["value"].clone()
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        let answer = self.call("POST", &format!("/session/{}/{name}", self.session), body);
        assert!(answer["error"].is_null(), "{name}: {answer}");
        answer
    }

    /// Opens a file.
    pub fn open(&self, file: &Path) {
        self.command("url", &json!({"url": format!("file://{}", file.display())}));
    }

    /// Runs a function's body in the page and gives what it returns.
    pub fn run(&self, script: &str) -> Value {
        self.command("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Calls the DevTools protocol.
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.command("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// What the console has said since the last call.
    pub fn console(&self) -> Vec<String> {
        let log = self.command("se/log", &json!({"type": "browser"}));
        log.as_array().unwrap().iter().map(|l| l["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            self.call("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
