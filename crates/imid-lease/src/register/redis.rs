//! Redis and Valkey.

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionInfo, ErrorKind, IntoConnectionInfo, RedisError, ServerErrorKind, Value,
    cmd,
};

use super::query::{Words, check_rest};
use super::remote::{Failure, Remote, Server, Settings, remote_register};
use super::tls::{Tls, check_feature};
use super::{Promise, RegisterError};

remote_register! {
    /// A register in Redis 5 or later, or in Valkey. It is always **weak**.
    ///
    /// Redis answers a write before the write is safe. A restart or a failover can lose what was acknowledged, and nothing can
    /// detect the loss. Two holders may then have the same lane. With `appendonly yes` and `appendfsync always` on a single server,
    /// a restart loses less.
    ///
    /// The records are the fields of one hash, `imid:register`. No eviction policy may remove it: `allkeys-lru` and the like are
    /// for caches. A replica is refused. With Sentinel, put a proxy in front that follows the master. Redis Cluster is supported only
    /// if the URL names the node of this key. A server accepts 10,000 connections by default (`maxclients`), and `CLIENT LIST` shows
    /// `imid-lease/HOLDER` as the name of each.
    RedisRegister, RedisServer
}

impl RedisRegister {
    /// Reads a URL, such as `rediss://user:password@host:6379/0`. Does not connect yet.
    ///
    /// `redis://` is plain text. `rediss://` needs the feature `tls`, and checks that the server's certificate matches the host.
    /// The URL can then have redis-cli's parameters: `cacert`, a file of CAs instead of the system's, and the files `cert` and
    /// `key` of a client certificate. The user can be empty.
    ///
    /// # Errors
    /// The URL is invalid, or needs the feature `tls`.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        let (info, tls) = RedisServer::parse(url).map_err(RegisterError::of_url)?;
        let place = format!("Redis at {}", info.addr());
        Ok(Self(Remote::new(RedisServer { info }, place, tls)))
    }
}

/// Where a server is, and how to connect to it.
pub(super) struct RedisServer {
    info: ConnectionInfo,
}

impl RedisServer {
    /// Reads a URL.
    fn parse(url: &str) -> Result<(ConnectionInfo, Option<Tls>), RegisterError> {
        let mut words = Words::split("Redis", url)?;
        // The client does not check anything after `#insecure`.
        check_rest(&words)?;
        let secure = ["rediss://", "valkeys://"].into_iter().find(|scheme| url.starts_with(scheme));
        if secure.is_none() && !["redis://", "valkey://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(words.wrong("redis://user:password@host:port/database or rediss://"));
        }
        let mut tls = None;
        if let Some(scheme) = secure {
            check_feature("Redis", scheme)?;
            tls = Some(Tls::from_words(&mut words, ["cacert", "cert", "key"])?.unwrap_or_default());
        }
        // The client ignores settings that it does not know, also those that ask for TLS.
        if words.has_others(&["protocol"]) {
            return Err(words.wrong(match secure {
                Some(_) => "no settings but `protocol`, `cacert`, `cert` and `key`",
                None => "no settings but `protocol`, or rediss:// for TLS with `cacert`, `cert` and `key`",
            }));
        }
        let url = words.url();
        let info = match secure {
            None => url.into_connection_info(),
            Some(scheme) => format!("redis://{}", &url[scheme.len()..]).into_connection_info(),
        };
        // What the client says may have a value in it.
        let expected = "redis://user:password@host:port/database, with `protocol` resp2 or resp3 if it is there";
        let info = info.map_err(|_| words.wrong(expected))?;
        Ok((info, tls))
    }

    /// Connects.
    async fn open(&self, settings: &Settings) -> Result<MultiplexedConnection, Failure> {
        // The time limit of the whole call replaces those of the client.
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let mut info = self.info.clone();
        if let Some(password) = settings.make_password().await? {
            let with_password = info.redis_settings().clone().set_password(password);
            info = info.set_redis_settings(with_password);
        }
        #[cfg(feature = "tls")]
        if let Some(tls) = &settings.tls {
            return open_tls(info, config, tls).await;
        }
        Ok(Client::open(info)?.get_multiplexed_async_connection_with_config(&config).await?)
    }
}

/// Connects with TLS. The client's own TLS uses only the crypto provider of the process.
#[cfg(feature = "tls")]
async fn open_tls(
    info: ConnectionInfo,
    config: AsyncConnectionConfig,
    tls: &Tls,
) -> Result<MultiplexedConnection, Failure> {
    use rustls::pki_types::ServerName;
    use tokio::net::TcpStream;

    let redis::ConnectionAddr::Tcp(host, port) = info.addr() else {
        return Err("expected a host for TLS, found a socket".into());
    };
    let settings = tls.files(false).await?.config;
    let stream = TcpStream::connect((host.as_str(), *port)).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::try_from(host.clone())?;
    let stream = tokio_rustls::TlsConnector::from(settings).connect(name, stream).await?;
    let (connection, driver) = MultiplexedConnection::new_with_config(info.redis_settings(), stream, config).await?;
    // The task ends with the connection.
    tokio::spawn(driver);
    Ok(connection)
}

/// The hash with all records.
const HASH: &str = "imid:register";

/// Writes `ARGV[3]` to the field `ARGV[1]` if it is still `ARGV[2]`. An empty text stands for no record. Redis runs one
/// script at a time.
const COMPARE_AND_SET: &str = "\
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1";

const WEAKNESS: &str =
    "Redis acknowledges writes that a restart or a failover can lose, and the loss cannot be noticed";

impl Server for RedisServer {
    type Connection = MultiplexedConnection;

    async fn connect(&self, settings: &Settings) -> Result<(MultiplexedConnection, Promise), Failure> {
        let mut connection = self.open(settings).await?;
        let role: Result<Vec<Value>, _> = cmd("ROLE").query_async(&mut connection).await;
        match role {
            Ok(role) if !matches!(role.first(), Some(Value::BulkString(name)) if name == b"master") => {
                Err("expected a server that takes writes, found a replica".into())
            }
            // The user may not be allowed to ask. A replica then refuses the first write.
            Err(error) if error.kind() != ErrorKind::Server(ServerErrorKind::NoPerm) => Err(error.into()),
            _ => {
                // The name that `CLIENT LIST` shows. A server that refuses it serves all the same.
                let _: Result<(), _> =
                    cmd("CLIENT").arg("SETNAME").arg(settings.connection_name()).query_async(&mut connection).await;
                Ok((connection, Promise::Weak(WEAKNESS.into())))
            }
        }
    }

    fn is_permanent(failure: &Failure) -> bool {
        let kind = failure.downcast_ref::<RedisError>().map(RedisError::kind);
        matches!(kind, Some(ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm)))
    }

    async fn read(connection: &mut MultiplexedConnection, key: &str) -> Result<Option<String>, Failure> {
        Ok(cmd("HGET").arg(HASH).arg(key).query_async(connection).await?)
    }

    async fn list(connection: &mut MultiplexedConnection, prefix: &str) -> Result<Vec<(String, String)>, Failure> {
        let mut records: Vec<(String, String)> = cmd("HGETALL").arg(HASH).query_async(connection).await?;
        records.retain(|(key, _)| key.starts_with(prefix));
        Ok(records)
    }

    async fn compare_and_set(
        connection: &mut MultiplexedConnection,
        key: &str,
        seen: Option<&str>,
        value: &str,
    ) -> Result<bool, Failure> {
        let mut command = cmd("EVAL");
        command.arg(COMPARE_AND_SET).arg(1).arg(HASH).arg(key).arg(seen.unwrap_or_default()).arg(value);
        Ok(command.query_async(connection).await?)
    }

    async fn now_ms(connection: &mut MultiplexedConnection) -> Result<Option<u64>, Failure> {
        let (seconds, micros): (u64, u64) = cmd("TIME").query_async(connection).await?;
        Ok(Some(seconds * 1000 + micros / 1000))
    }
}
