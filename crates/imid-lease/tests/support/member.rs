//! A member of etcd that answers as it is told: calls by HTTP/2, and requests for its time by HTTP.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What a member answers to a call.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) after: Duration,
    pub(crate) http_status: &'static str,
    /// Each header of the end, such as the status of gRPC.
    pub(crate) end: &'static [(&'static str, &'static str)],
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// A message with nothing but the revision of the store, as an empty etcd sends.
    pub(crate) fn empty() -> Self {
        let body = vec![0, 0, 0, 0, 4, 0x0a, 2, 0x18, 1];
        Self { after: Duration::ZERO, http_status: "200", end: &[("grpc-status", "0")], body }
    }
}

/// Starts a member that gives these answers one after another, and the last one from then on. Returns its host and port.
pub(crate) fn member(answers: Vec<Answer>, date: impl Fn() -> String + Send + Sync + 'static) -> String {
    counting_member(answers, date).0
}

/// Does the same, and returns how many connections it has accepted.
pub(crate) fn counting_member(
    answers: Vec<Answer>,
    date: impl Fn() -> String + Send + Sync + 'static,
) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (answers, date) = (Arc::new(Mutex::new(answers)), Arc::new(date));
    let connections = Arc::<AtomicUsize>::default();
    let accepted = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming() {
            accepted.fetch_add(1, Ordering::Relaxed);
            let (answers, date) = (Arc::clone(&answers), Arc::clone(&date));
            // The client may go away at any time.
            thread::spawn(move || serve(stream.unwrap(), &answers, &*date));
        }
    });
    (address, connections)
}

fn serve(mut stream: TcpStream, answers: &Mutex<Vec<Answer>>, date: &dyn Fn() -> String) -> io::Result<()> {
    let mut start = [0; 24];
    stream.read_exact(&mut start)?;
    if start.starts_with(b"GET ") {
        return write!(stream, "HTTP/1.1 200 OK\r\nServer: fake\r\nDate: {}\r\nConnection: close\r\n\r\n", date());
    }
    assert_eq!(&start, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    let send = |stream: &mut TcpStream, kind: u8, flags: u8, id: [u8; 4], payload: &[u8]| {
        let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
        stream.write_all(&[&len[1..], &[kind, flags], &id, payload].concat())
    };
    // Settings, and an acknowledgement of those of the client.
    send(&mut stream, 4, 0, [0; 4], &[])?;
    send(&mut stream, 4, 1, [0; 4], &[])?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let [len @ .., kind, flags, a, b, c, d] = head;
        let len = u32::from_be_bytes([0, len[0], len[1], len[2]]);
        stream.read_exact(&mut vec![0; len as usize])?;
        // The end of a request.
        if (kind, flags & 1) == (0, 1) {
            let mut answers = answers.lock().unwrap();
            let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
            drop(answers);
            thread::sleep(answer.after);
            let id = [a, b, c, d];
            send(&mut stream, 1, 4, id, &headers(&[(":status", answer.http_status)]))?;
            send(&mut stream, 0, 0, id, &answer.body)?;
            send(&mut stream, 1, 5, id, &headers(answer.end))?;
        }
    }
}

/// Encodes headers, each as literal text.
fn headers(all: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    all.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}
