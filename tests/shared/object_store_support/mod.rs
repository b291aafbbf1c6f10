//! A real S3 server (SeaweedFS), a proxy that acts between two requests, and a web server that lies.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod liar;
pub mod proxy;
pub mod seaweed;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};

/// Sends one request and reads the whole answer.
pub fn request(port: u16, method: &str, path: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// The program, with nothing of the caller's environment that names a store.
pub fn program(folder: &Path, arguments: &[&str], environment: &[(&str, String)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stapo-analyze"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
        .current_dir(folder)
        .args(arguments)
        .env("HOME", folder)
        .env_remove("HTTP_PROXY")
        .env_remove("http_proxy");
    environment.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    command.output().unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
