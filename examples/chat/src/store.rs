//! Messages in PostgreSQL.

use std::time::Duration;

use imid::MessageId;
use serde::Serialize;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::Failure;
use crate::room::Room;

/// How often a message is minted anew because a room with the same tag has its ID.
const TRIES: usize = 5;

/// How many messages of a room a page shows, how many a gateway keeps of each followed room, and how many a stream that is further behind
/// reads at a time.
const SHOWN: i64 = 50;
const TAIL: i64 = 32;
const FOLLOWED: i64 = 200;

const SCHEMA: &str = concat!(include_str!("../../../sql/postgres/tables.sql"), include_str!("../schema.sql"));

/// A gateway that hangs in a transaction must not hold the lock of a room. `SET LOCAL`, because a pooler such as pgbouncer gives the next
/// transaction another session.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL statement_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '5s'";

/// Locks the room until the commit. The time is that of the database, read under the lock, so the clocks of the gateways do not matter.
/// A new room begins after the last ID of the row '', which only a failover sets.
const TAKE: &str = "INSERT INTO rooms AS room (name, session_tag, last_number, last_id)
    VALUES ($1, $2, 1, (SELECT last_id FROM rooms WHERE name = ''))
    ON CONFLICT (name) DO UPDATE SET last_number = room.last_number + 1
    RETURNING last_number, last_id, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const STORE: &str = "WITH stored AS (
        INSERT INTO messages (id, room, number, sender, client_key, body) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT DO NOTHING RETURNING id, room)
    UPDATE rooms SET last_id = stored.id FROM stored WHERE name = stored.room";

/// A stored message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, sqlx::FromRow)]
pub struct Message {
    pub id: MessageId,
    /// 1 for the first message of the room, 2 for the next one, without gaps.
    pub number: i64,
    pub sender: String,
    pub body: String,
}

/// The tables.
pub struct Store {
    pub pool: PgPool,
}

impl Store {
    /// Connects when it is first used, so a gateway starts while the database is away.
    pub fn new(url: &str, connections: u32) -> Result<Self, sqlx::Error> {
        let pool =
            PgPoolOptions::new().max_connections(connections.saturating_add(1)).acquire_timeout(Duration::from_secs(5));
        Ok(Self { pool: pool.connect_lazy_with(url.parse::<PgConnectOptions>()?) })
    }

    /// Makes the tables if there are none.
    pub async fn create_tables(&self) -> Result<(), Failure> {
        let mut transaction = self.pool.begin().await?;
        // CREATE TABLE IF NOT EXISTS can fail if two gateways run it at the same time.
        sqlx::query("SELECT pg_advisory_xact_lock(7, 1)").execute(&mut *transaction).await?;
        sqlx::raw_sql(SCHEMA).execute(&mut *transaction).await?;
        Ok(transaction.commit().await?)
    }

    /// Stores a message, unless its sender has sent one with this key. Returns what is stored, and whether it is new.
    ///
    /// The ID is minted under the room's lock, after the last ID of the room. So numbers and IDs of a room ascend in the order of the
    /// commits, on all gateways.
    pub async fn post(&self, room: &Room, sender: &str, key: &str, body: &str) -> Result<(Message, bool), Failure> {
        for _ in 0..TRIES {
            let mut transaction = self.pool.begin_with(BEGIN).await?;
            let take = sqlx::query_as(TAKE).bind(&room.name).bind(room.tag);
            let (number, last_id, now_ms): (i64, _, i64) = take.fetch_one(&mut *transaction).await?;
            let id = MessageId::after(last_id, room.tag, now_ms as u64).map_err(Failure::later)?;
            let store = sqlx::query(STORE).bind(id).bind(&room.name).bind(number).bind(sender).bind(key).bind(body);
            if store.execute(&mut *transaction).await?.rows_affected() == 1 {
                transaction.commit().await?;
                // A hint for the followers, which the client does not wait for. It is outside of the transaction because NOTIFY makes
                // commits wait for each other. If it is lost, the followers notice the message within a second.
                let hint = sqlx::query("SELECT pg_notify('imid_chat', $1)").bind(room.name.clone());
                let pool = self.pool.clone();
                tokio::spawn(async move { hint.execute(&pool).await });
                return Ok((Message { id, number, sender: sender.to_owned(), body: body.to_owned() }, true));
            }
            transaction.rollback().await?;
            let known = "SELECT id, number, sender, body FROM messages
                WHERE room = $1 AND sender = $2 AND client_key = $3";
            let known = sqlx::query_as(known).bind(&room.name).bind(sender).bind(key);
            if let Some(known) = known.fetch_optional(&self.pool).await? {
                return Ok((known, false));
            }
            // A room with the same tag has this ID.
        }
        Err(Failure::later(format!("rooms with the tag of {} had each of {TRIES} IDs", room.name)))
    }

    /// Returns the messages after one that a client has, in order, or `None` if the database does not have that one: after a failover or a
    /// restore that lost it, other messages may have its number.
    pub async fn after(&self, room: &Room, last: Option<MessageId>) -> Result<Option<Vec<Message>>, Failure> {
        let sql = "SELECT id, number, sender, body FROM messages WHERE room = $1 AND number >=
                (SELECT CASE WHEN $2::bytea IS NULL THEN 1 ELSE (SELECT number FROM messages WHERE id = $2 AND room = $1) END)
            ORDER BY number LIMIT $3";
        let query = sqlx::query_as(sql).bind(&room.name).bind(last).bind(FOLLOWED + 1);
        let found: Vec<Message> = query.fetch_all(&self.pool).await?;
        let is_known = last.is_none() || !found.is_empty();
        // The client has the first one.
        Ok(is_known.then(|| found.into_iter().skip(usize::from(last.is_some())).collect()))
    }

    /// Returns the messages from an ID on and before another, the latest first.
    pub async fn page(&self, room: &Room, from: MessageId, before: MessageId) -> Result<Vec<Message>, Failure> {
        let sql = "SELECT id, number, sender, body FROM messages WHERE room = $1 AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT $4";
        let query = sqlx::query_as(sql).bind(&room.name).bind(from).bind(before).bind(SHOWN);
        Ok(query.fetch_all(&self.pool).await?)
    }

    /// Returns the last messages of a room, in order.
    pub async fn tail(&self, room: &str) -> Result<Vec<Message>, Failure> {
        let sql = "SELECT * FROM (SELECT id, number, sender, body FROM messages WHERE room = $1 ORDER BY number DESC LIMIT $2) AS tail
            ORDER BY number";
        Ok(sqlx::query_as(sql).bind(room).bind(TAIL).fetch_all(&self.pool).await?)
    }

    /// Returns the rooms whose last message is not the one given. A room's `last_id` can be above it, after a failover.
    pub async fn changed(&self, rooms: &[String], ids: &[Option<MessageId>]) -> Result<Vec<String>, Failure> {
        let sql = "SELECT seen.room FROM unnest($1::text[], $2::bytea[]) AS seen (room, id)
            WHERE seen.id IS DISTINCT FROM (SELECT id FROM messages WHERE room = seen.room ORDER BY number DESC LIMIT 1)";
        Ok(sqlx::query_scalar(sql).bind(rooms).bind(ids).fetch_all(&self.pool).await?)
    }

    /// Moves a reader's marker to a message, never back, and adds the room to the reader's list. Without a message nothing is read yet.
    /// Returns whether the room has that message.
    pub async fn mark(&self, room: &Room, reader: &str, last: Option<MessageId>) -> Result<bool, Failure> {
        let sql = "INSERT INTO readers (reader, room, number)
            SELECT $1, $2, 0 WHERE $3::bytea IS NULL UNION ALL SELECT $1, $2, number FROM messages WHERE id = $3 AND room = $2
            ON CONFLICT (reader, room) DO UPDATE SET number = greatest(readers.number, excluded.number)";
        Ok(sqlx::query(sql).bind(reader).bind(&room.name).bind(last).execute(&self.pool).await?.rows_affected() > 0)
    }

    /// Returns what a reader has not read, by room.
    pub async fn unread(&self, reader: &str) -> Result<Vec<(String, i64)>, Failure> {
        let sql = "SELECT rooms.name, rooms.last_number - readers.number FROM readers
            JOIN rooms ON rooms.name = readers.room WHERE readers.reader = $1";
        Ok(sqlx::query_as(sql).bind(reader).fetch_all(&self.pool).await?)
    }
}
