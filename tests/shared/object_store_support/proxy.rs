//! A proxy that does something right before a certain request passes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Passes everything to `port`; `act` is called before the request for bytes with this number passes.
pub fn before_read(port: u16, number: usize, act: impl Fn() + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let own = listener.local_addr().unwrap().port();
    let (act, seen) = (Arc::new(act), Arc::new(AtomicUsize::new(0)));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (act, seen) = (act.clone(), seen.clone());
            let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            std::thread::spawn(move || forward(client, server, number, act.as_ref(), &seen));
        }
    });
    own
}

fn forward(mut client: TcpStream, mut server: TcpStream, number: usize, act: &dyn Fn(), seen: &AtomicUsize) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        // Requests without a body fit into one read.
        let text = String::from_utf8_lossy(&buffer[..length]).to_lowercase();
        if text.starts_with("get ")
            && text.contains("\r\nrange:")
            && seen.fetch_add(1, Ordering::SeqCst) == number
        {
            act();
        }
        if server.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}
