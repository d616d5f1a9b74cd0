//! Calls of gRPC: one HTTP/2 stream each.

use h2::client::{Builder, SendRequest};
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use percent_encoding::percent_decode;
use prost::Message;
use prost::bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::register::remote::Failure;

/// How many bytes a member may send before the client has read them. A list of 4,096 lanes fits in.
const WINDOW: u32 = 1 << 20;

/// The longest reply.
const MOST_BYTES: usize = 64 << 20;

/// What comes before a message: whether it is compressed, and its length.
const PREFIX_LEN: usize = 5;

/// A member refused a call.
#[derive(Debug, thiserror::Error)]
#[error("{message} (gRPC status {code})")]
pub(super) struct Refused {
    pub(super) code: u32,
    message: String,
}

impl Refused {
    pub(super) const INVALID_ARGUMENT: u32 = 3;
    pub(super) const PERMISSION_DENIED: u32 = 7;
    pub(super) const FAILED_PRECONDITION: u32 = 9;
    pub(super) const UNAUTHENTICATED: u32 = 16;
}

/// A connection. No call is repeated.
pub(super) struct Client {
    requests: SendRequest<Bytes>,
    /// The scheme and the address.
    base: String,
    /// What all calls send.
    pub(super) token: Option<HeaderValue>,
}

impl Client {
    pub(super) async fn new(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        base: String,
    ) -> Result<Self, Failure> {
        let mut builder = Builder::new();
        builder.enable_push(false).initial_window_size(WINDOW).initial_connection_window_size(WINDOW);
        let (requests, connection) = builder.handshake(stream).await?;
        // The task ends with the connection, and the calls have its errors.
        tokio::spawn(async { _ = connection.await });
        Ok(Self { requests, base, token: None })
    }

    /// Calls a method, such as `KV/Range`.
    pub(super) async fn call<T: Message + Default>(
        &mut self,
        method: &str,
        message: &impl Message,
    ) -> Result<T, Failure> {
        let mut request = Request::post(format!("{}/etcdserverpb.{method}", self.base))
            .header(header::CONTENT_TYPE, "application/grpc")
            .header(header::TE, "trailers");
        if let Some(token) = &self.token {
            request = request.header("token", token);
        }
        let mut body = vec![0];
        body.extend_from_slice(&u32::try_from(message.encoded_len())?.to_be_bytes());
        message.encode(&mut body)?;
        let mut requests = self.requests.clone().ready().await?;
        let (response, mut stream) = requests.send_request(request.body(())?, false)?;
        stream.send_data(body.into(), true)?;
        let (head, mut body) = response.await?.into_parts();
        if head.status != StatusCode::OK {
            return Err(format!("expected gRPC, found HTTP status {}", head.status).into());
        }
        let mut bytes = Vec::new();
        while let Some(part) = body.data().await {
            let part = part?;
            body.flow_control().release_capacity(part.len())?;
            if bytes.len() + part.len() > MOST_BYTES {
                return Err(format!("expected a reply of at most {MOST_BYTES} bytes, found more").into());
            }
            bytes.extend_from_slice(&part);
        }
        // A reply without a message has the status in its head.
        let trailers = body.trailers().await?;
        check_status(trailers.as_ref().unwrap_or(&head.headers))?;
        let Some((&[0, len @ ..], message)) = bytes.split_first_chunk::<PREFIX_LEN>() else {
            return Err(format!("expected a message of gRPC, found {} bytes", bytes.len()).into());
        };
        let len = u32::from_be_bytes(len) as usize;
        if len != message.len() {
            return Err(format!("expected a message of {len} bytes, found {}", message.len()).into());
        }
        Ok(T::decode(message)?)
    }
}

fn check_status(headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name: &str| percent_decode(headers.get(name).map_or(b"", HeaderValue::as_bytes)).decode_utf8_lossy();
    match text("grpc-status").parse() {
        Ok(0) => Ok(()),
        Ok(code) => Err(Refused { code, message: text("grpc-message").into_owned() }.into()),
        Err(_) => Err("expected a status of gRPC, found none".into()),
    }
}
