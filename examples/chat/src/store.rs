//! Messages in PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use imid::MessageId;
use imid_lease::LeasedGenerator;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use utoipa::ToSchema;

use crate::Failure;
use crate::room::Room;

/// A stored message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema, sqlx::FromRow)]
pub struct Message {
    pub id: MessageId,
    /// 1 for the first message of the room, 2 for the next one, without gaps.
    pub number: i64,
    pub sender: String,
    pub body: String,
}

/// How many messages of a room a user has not read.
#[derive(Debug, Serialize, Deserialize, ToSchema, sqlx::FromRow)]
pub struct Unread {
    pub room: String,
    pub unread: i64,
}

/// The tables, and the generator of this gateway.
pub struct Store {
    pool: PgPool,
    ids: LeasedGenerator,
}

impl Store {
    /// Connects, and makes the tables if there are none.
    pub async fn open(url: &str, holder: &str, connections: u32, ids: LeasedGenerator) -> Result<Arc<Self>, Failure> {
        // A gateway that hangs in a transaction must not hold the lock of a room for ever.
        let limits = [("statement_timeout", "5s"), ("idle_in_transaction_session_timeout", "5s")];
        let options = url.parse::<PgConnectOptions>()?.application_name(holder).options(limits);
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(options)
            .await?;
        let mut transaction = pool.begin().await?;
        // CREATE TABLE IF NOT EXISTS can fail if two gateways run it at once.
        sqlx::query("SELECT pg_advisory_xact_lock(7, 1)").execute(&mut *transaction).await?;
        sqlx::raw_sql(include_str!("../schema.sql")).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(Arc::new(Self { pool, ids }))
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Whether this gateway can store a message now: the database answers, and the lease grants an ID.
    pub async fn is_ready(&self) -> bool {
        let room = Room::parse("group:ready").expect("a name");
        sqlx::query("SELECT 1").execute(&self.pool).await.is_ok() && self.ids.generate(room.tag()).is_ok()
    }

    /// Gives the lane back.
    pub async fn close(&self, timeout: Duration) {
        self.ids.close_async(timeout).await;
    }

    /// Stores a message, unless its sender has sent one with this key. Returns what is stored, and whether it is new.
    ///
    /// The first statement locks the room until the commit, and the ID is minted under the lock, after the last ID of the room. So
    /// numbers and IDs of a room ascend in the order of the commits, on all gateways.
    pub async fn post(&self, room: &Room, sender: &str, key: &str, body: &str) -> Result<(Message, bool), Failure> {
        let mut transaction = self.pool.begin().await?;
        let take = "INSERT INTO rooms AS room (name, last_number) VALUES ($1, 1)
            ON CONFLICT (name) DO UPDATE SET last_number = room.last_number + 1 RETURNING last_number, last_id";
        let (number, last_id): (i64, Option<MessageId>) =
            sqlx::query_as(take).bind(room.name()).fetch_one(&mut *transaction).await?;
        if let Some(last_id) = last_id {
            // An ID of our own gateways. An ID that a client sends must never come here.
            self.ids.observe(last_id)?;
        }
        let id = self.ids.generate(room.tag())?;
        // A generator that had no lane when it observed has forgotten it.
        if let Some(last_id) = last_id
            && id <= last_id
        {
            return Err(Failure::Later(format!("expected an ID after {last_id}, found {id}")));
        }
        let store = "WITH stored AS (
                INSERT INTO messages (id, room, number, sender, client_key, body) VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (room, sender, client_key) DO NOTHING RETURNING id, room)
            UPDATE rooms SET last_id = stored.id FROM stored WHERE name = stored.room";
        let store = sqlx::query(store).bind(id).bind(room.name()).bind(number).bind(sender).bind(key).bind(body);
        if store.execute(&mut *transaction).await?.rows_affected() == 1 {
            transaction.commit().await?;
            // A hint for the followers, outside of the transaction because NOTIFY makes commits wait for each other. They also look
            // once a second.
            let notify = sqlx::query("SELECT pg_notify('imid_chat', $1)").bind(room.name());
            let _ = notify.execute(&self.pool).await;
            return Ok((Message { id, number, sender: sender.to_owned(), body: body.to_owned() }, true));
        }
        transaction.rollback().await?;
        let known = "SELECT id, number, sender, body FROM messages WHERE room = $1 AND sender = $2 AND client_key = $3";
        let known = sqlx::query_as(known).bind(room.name()).bind(sender).bind(key).fetch_one(&self.pool).await?;
        Ok((known, false))
    }

    /// Returns the messages after a number, in order.
    pub async fn after(&self, room: &Room, number: i64, limit: i64) -> Result<Vec<Message>, Failure> {
        let sql =
            "SELECT id, number, sender, body FROM messages WHERE room = $1 AND number > $2 ORDER BY number LIMIT $3";
        Ok(sqlx::query_as(sql).bind(room.name()).bind(number).bind(limit).fetch_all(&self.pool).await?)
    }

    /// Returns the messages before a number, the latest first.
    pub async fn before(&self, room: &Room, number: i64, limit: i64) -> Result<Vec<Message>, Failure> {
        let sql = "SELECT id, number, sender, body FROM messages WHERE room = $1 AND number < $2 ORDER BY number DESC LIMIT $3";
        Ok(sqlx::query_as(sql).bind(room.name()).bind(number).bind(limit).fetch_all(&self.pool).await?)
    }

    /// Returns the messages of a time, in order. The IDs have the time.
    pub async fn search(&self, room: &Room, from_ms: u64, to_ms: u64, limit: i64) -> Result<Vec<Message>, Failure> {
        let ids = MessageId::range(from_ms..=to_ms).map_err(|error| Failure::Request(error.to_string()))?;
        let sql = "SELECT id, number, sender, body FROM messages WHERE room = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT $4";
        let query = sqlx::query_as(sql).bind(room.name()).bind(ids.start()).bind(ids.end()).bind(limit);
        Ok(query.fetch_all(&self.pool).await?)
    }

    /// Moves a reader's marker forward, never back. A room is in the list of the reader from the first marker on.
    pub async fn mark(&self, room: &Room, reader: &str, number: i64) -> Result<(), Failure> {
        let sql = "INSERT INTO readers (reader, room, number)
            SELECT $1, $2, least($3, coalesce((SELECT last_number FROM rooms WHERE name = $2), 0))
            ON CONFLICT (reader, room) DO UPDATE SET number = greatest(readers.number, excluded.number)";
        sqlx::query(sql).bind(reader).bind(room.name()).bind(number).execute(&self.pool).await?;
        Ok(())
    }

    /// Returns what a reader has not read, by room.
    pub async fn unread(&self, reader: &str) -> Result<Vec<Unread>, Failure> {
        let sql = "SELECT rooms.name AS room, rooms.last_number - readers.number AS unread FROM readers
            JOIN rooms ON rooms.name = readers.room WHERE readers.reader = $1 ORDER BY rooms.name";
        Ok(sqlx::query_as(sql).bind(reader).fetch_all(&self.pool).await?)
    }
}
