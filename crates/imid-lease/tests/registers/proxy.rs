//! A TCP proxy that can cut connections, and lose replies, delay them or hold them back.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Forwards connections to a server. Its threads end with the process.
pub(crate) struct Proxy {
    pub(crate) address: String,
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    /// Both ends of all connections.
    streams: Mutex<Vec<TcpStream>>,
    loses_replies: AtomicBool,
    holds_replies: AtomicBool,
    delay_ms: AtomicU64,
}

impl Proxy {
    pub(crate) fn new(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            server: server.to_owned(),
            streams: Mutex::default(),
            loses_replies: AtomicBool::new(false),
            holds_replies: AtomicBool::new(false),
            delay_ms: AtomicU64::new(0),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&accepting.server) else { continue };
                let ends = [&client, &server].map(|stream| stream.try_clone().unwrap());
                accepting.streams.lock().unwrap().extend(ends);
                let (client_2, server_2) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || forward(client_2, server_2, || false));
                let shared = Arc::clone(&accepting);
                let is_lost = move || {
                    while shared.holds_replies.load(Ordering::SeqCst) {
                        thread::sleep(Duration::from_millis(1));
                    }
                    thread::sleep(Duration::from_millis(shared.delay_ms.load(Ordering::SeqCst)));
                    shared.loses_replies.load(Ordering::SeqCst)
                };
                thread::spawn(move || forward(server, client, is_lost));
            }
        });
        Self { address, shared }
    }

    /// Closes all connections.
    pub(crate) fn cut(&self) {
        for stream in self.shared.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// From now on, replies take this much longer. Those that come together are late together.
    #[allow(dead_code, reason = "only tests of faults do")]
    pub(crate) fn delay_replies(&self, delay_ms: u64) {
        self.shared.delay_ms.store(delay_ms, Ordering::SeqCst);
    }

    /// From now on, replies wait until they are no longer held back.
    #[allow(dead_code, reason = "only tests of settings do")]
    pub(crate) fn hold_replies(&self, yes: bool) {
        self.shared.holds_replies.store(yes, Ordering::SeqCst);
    }

    /// From now on, requests reach the server and replies are dropped.
    pub(crate) fn lose_replies(&self, yes: bool) {
        self.shared.loses_replies.store(yes, Ordering::SeqCst);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, is_lost: impl Fn() -> bool) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if !is_lost() && to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
