//! A web server with one file, that does not keep to what it says.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::Arc;

/// How it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Not at all.
    None,
    /// Gives the whole file where a part was asked for.
    IgnoresRanges,
    /// Says that it gives more than it does.
    GivesLess,
    /// Goes on and on.
    NeverEnds,
    /// Gives another part.
    GivesAnother,
    /// Answers no request for bytes.
    SaysNothing,
}

/// Serves `bytes` under every name; returns the port.
pub fn serve(bytes: Vec<u8>, lie: Lie) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let bytes = Arc::new(bytes);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let bytes = bytes.clone();
            std::thread::spawn(move || answer_all(client, &bytes, lie));
        }
    });
    port
}

fn answer_all(client: TcpStream, bytes: &[u8], lie: Lie) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut client = client;
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_lowercase());
        }
        let range = lines.iter().find_map(|line| line.strip_prefix("range: bytes="));
        let range = range
            .and_then(|r| r.split_once('-'))
            .and_then(|(a, b)| Some(a.parse::<usize>().ok()?..b.parse::<usize>().ok()? + 1));
        let head = lines.first()?.starts_with("head");
        answer(&mut client, bytes, head, range, lie)?;
    }
}

fn answer(
    client: &mut TcpStream,
    bytes: &[u8],
    head: bool,
    range: Option<Range<usize>>,
    lie: Lie,
) -> Option<()> {
    let size = bytes.len();
    let Some(range) = range.filter(|_| !head) else {
        let text = format!("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: {size}\r\n\r\n");
        client.write_all(text.as_bytes()).ok()?;
        return if head { Some(()) } else { client.write_all(bytes).ok() };
    };
    let part = &bytes[range.start.min(size)..range.end.min(size)];
    let partial = |from: usize, to: usize, more: &str| {
        format!(
            "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes {from}-{to}/{size}\r\n{more}\r\n\r\n"
        )
    };
    let (from, to, length) = (range.start, range.end - 1, part.len());
    match lie {
        Lie::None => {
            client.write_all(partial(from, to, &format!("Content-Length: {length}")).as_bytes()).ok()?;
            client.write_all(part).ok()
        }
        Lie::IgnoresRanges => {
            let text = format!("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: {size}\r\n\r\n");
            client.write_all(text.as_bytes()).ok()?;
            client.write_all(bytes).ok()
        }
        Lie::GivesLess => {
            let less = length / 2;
            client.write_all(partial(from, to, &format!("Content-Length: {less}")).as_bytes()).ok()?;
            client.write_all(&part[..less]).ok()
        }
        Lie::GivesAnother => {
            let text = partial(0, length - 1, &format!("Content-Length: {length}"));
            client.write_all(text.as_bytes()).ok()?;
            client.write_all(&bytes[..length]).ok()
        }
        Lie::NeverEnds => {
            let text = partial(from, to, &format!("Content-Length: {}", u64::MAX / 2));
            client.write_all(text.as_bytes()).ok()?;
            endless(client)
        }
        Lie::SaysNothing => {
            std::thread::sleep(std::time::Duration::from_secs(120));
            None
        }
    }
}

fn endless(client: &mut TcpStream) -> Option<()> {
    let junk = vec![b'x'; 1 << 20];
    loop {
        client.write_all(&junk).ok()?;
    }
}
