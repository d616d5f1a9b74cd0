//! Connections to the members.

use std::time::{Duration, UNIX_EPOCH};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::grpc::Client;
use crate::options::millis;
use crate::register::remote::{Failure, Settings};

/// How many bytes are read of a reply that has a date.
const MOST_OF_REPLY: u64 = 16 << 10;

/// What TLS calls the protocol of gRPC. Without a name, a server expects HTTP/1.1.
const HTTP_2: Option<&str> = Some("h2");

/// How to connect to a member.
#[derive(Clone)]
pub(super) struct Dial {
    scheme: &'static str,
    pub(super) time_limit: Duration,
    #[cfg(feature = "tls")]
    tls: Option<crate::register::Tls>,
}

/// A connection, with TLS or without.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Dial {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            scheme: if settings.tls.is_some() { "https" } else { "http" },
            time_limit: settings.time_limit,
            #[cfg(feature = "tls")]
            tls: settings.tls.clone(),
        }
    }

    async fn open(&self, member: &str, protocol: Option<&'static str>) -> Result<Box<dyn Stream>, Failure> {
        #[cfg(feature = "tls")]
        let files = match &self.tls {
            Some(tls) => Some(tls.files(false).await?),
            None => None,
        };
        // A busy member accepts a connection, and answers late. One that does not even accept is away.
        let stream = timeout(self.time_limit, TcpStream::connect(member)).await;
        let stream = stream.map_err(|_| format!("no connection within {:?}", self.time_limit))??;
        stream.set_nodelay(true)?;
        #[cfg(feature = "tls")]
        if let Some(files) = files {
            return Ok(Box::new(with_tls(stream, member, &files.config, protocol).await?));
        }
        let _ = protocol;
        Ok(Box::new(stream))
    }

    /// Opens a connection for calls.
    pub(super) async fn client(&self, member: &str) -> Result<Client, Failure> {
        Client::new(self.open(member, HTTP_2).await?, format!("{}://{member}", self.scheme)).await
    }

    /// Returns the time of a member. A reply of gRPC has no date, so it opens another connection.
    pub(super) async fn unix_ms(&self, member: &str, limit: Duration) -> Result<u64, Failure> {
        timeout(limit, self.read_date(member)).await.map_err(|_| format!("no date of {member} within {limit:?}"))?
    }

    async fn read_date(&self, member: &str) -> Result<u64, Failure> {
        let mut stream = self.open(member, None).await?;
        let request = format!("GET /version HTTP/1.1\r\nHost: {member}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut lines = BufReader::new(stream.take(MOST_OF_REPLY)).lines();
        while let Some(line) = lines.next_line().await?.filter(|line| !line.is_empty()) {
            match line.split_once(':') {
                Some((name, date)) if name.eq_ignore_ascii_case("date") => return unix_ms(date.trim()),
                _ => {}
            }
        }
        Err(format!("expected a date in the reply of {member}, found none").into())
    }
}

#[cfg(feature = "tls")]
async fn with_tls(
    stream: TcpStream,
    member: &str,
    config: &rustls::ClientConfig,
    protocol: Option<&'static str>,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Failure> {
    use rustls::pki_types::ServerName;

    use crate::register::hosts::host_of;

    let mut config = config.clone();
    config.alpn_protocols = protocol.into_iter().map(Into::into).collect();
    let name = ServerName::try_from(host_of(member).to_owned())?;
    Ok(tokio_rustls::TlsConnector::from(std::sync::Arc::new(config)).connect(name, stream).await?)
}

/// Reads the date of an HTTP header. It is cut to seconds, so half a second is added.
fn unix_ms(date: &str) -> Result<u64, Failure> {
    Ok(millis(httpdate::parse_http_date(date)?.duration_since(UNIX_EPOCH)?) + 500)
}
