//! Redis and Valkey.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError, ServerErrorKind, Value, cmd};

use super::remote::{Failure, Records, Remote, Server, remote_register};
use super::{Access, CLIENT_NAME, Promise, RegisterError, asks, no_tls};

remote_register! {
    /// A register in Redis 5 or later, or in Valkey. It is always **weak**.
    ///
    /// Redis answers a write before the write is safe. A restart or a fail-over can lose what was acknowledged, and
    /// nobody can notice the loss. Two holders may then have the same lane. With `appendonly yes` and `appendfsync
    /// always` on a single server, a restart loses less.
    ///
    /// The records are the fields of one hash, `imid:register`. No eviction policy may remove it: `allkeys-lru` and its
    /// like are for caches. A replica is refused. Redis Cluster is supported only if the URL names the node of this
    /// key.
    RedisRegister, Redis
}

impl RedisRegister {
    /// Reads a URL, such as `redis://user:password@host:6379/0`. Does not connect yet.
    ///
    /// # Errors
    /// The URL cannot be understood.
    pub fn from_url(url: &str) -> Result<Self, RegisterError> {
        let client = parse(url).map_err(RegisterError::of_url)?;
        let place = format!("Redis at {}", client.get_connection_info().addr());
        Ok(Self(Remote::new(Redis { client }, place)))
    }
}

/// Reads a URL.
pub(crate) fn parse(url: &str) -> Result<Client, RegisterError> {
    for scheme in ["rediss://", "valkeys://"] {
        if url.starts_with(scheme) {
            return Err(no_tls("Redis", scheme));
        }
    }
    // The client ignores settings that it does not know.
    for part in ["ssl", "tls"] {
        if asks(url, |name| name.starts_with(part)) {
            return Err(no_tls("Redis", part));
        }
    }
    Client::open(url).map_err(|error| RegisterError::new("cannot read the Redis URL").caused_by(error))
}

pub(super) struct Redis {
    client: Client,
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
    "Redis acknowledges writes that a restart or a fail-over can lose, and the loss cannot be noticed";

impl Server for Redis {
    type Connection = MultiplexedConnection;

    async fn connect(&self, _: Access, _: Duration) -> Result<(MultiplexedConnection, Promise), Failure> {
        // The time limit of the whole call replaces those of the client.
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let mut connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        let role: Result<Vec<Value>, _> = cmd("ROLE").query_async(&mut connection).await;
        match role {
            Ok(role) if !matches!(role.first(), Some(Value::BulkString(name)) if name == b"master") => {
                Err("expected a server that takes writes, found a replica".into())
            }
            // The user may not be allowed to ask. A replica then refuses the first write.
            Err(error) if error.kind() != ErrorKind::Server(ServerErrorKind::NoPerm) => Err(error.into()),
            _ => {
                // The name that `CLIENT LIST` shows. A server that refuses it serves all the same.
                let _: Result<(), _> = cmd("CLIENT").arg("SETNAME").arg(CLIENT_NAME).query_async(&mut connection).await;
                Ok((connection, Promise::Weak(WEAKNESS.into())))
            }
        }
    }

    fn is_final(failure: &Failure) -> bool {
        let kind = failure.downcast_ref::<RedisError>().map(RedisError::kind);
        matches!(kind, Some(ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm)))
    }
}

impl Records for Redis {
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
