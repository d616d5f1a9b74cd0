//! Messages in PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use imid::MessageId;
use imid_lease::{LeaseError, LeasedGenerator};
use serde::Serialize;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::Failure;
use crate::room::Room;

/// How long a message may hold its room while it waits for an ID.
const MINT: Duration = Duration::from_secs(2);

/// How many messages of a room a page shows, how many a gateway keeps of each followed room, and how many a stream that is further behind
/// reads at a time.
const SHOWN: i64 = 50;
const TAIL: i64 = 32;
const FOLLOWED: i64 = 200;

/// A stored message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, sqlx::FromRow)]
pub struct Message {
    pub id: MessageId,
    /// 1 for the first message of the room, 2 for the next one, without gaps.
    pub number: i64,
    pub sender: String,
    pub body: String,
}

/// How many messages of a room a user has not read.
#[derive(Debug, Serialize, sqlx::FromRow)]
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
    /// Connects when it is first used, so a gateway starts while the database is away.
    pub fn new(url: &str, holder: &str, connections: u32, ids: LeasedGenerator) -> Result<Arc<Self>, sqlx::Error> {
        // A gateway that hangs in a transaction must not hold the lock of a room. Stricter isolation would end the posts of a busy room
        // with errors, and the lock makes it superfluous.
        let settings = [
            ("statement_timeout", "5s"),
            ("idle_in_transaction_session_timeout", "5s"),
            ("default_transaction_isolation", "read committed"),
        ];
        let options = url.parse::<PgConnectOptions>()?.application_name(holder).options(settings);
        let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(Duration::from_secs(5));
        Ok(Arc::new(Self { pool: pool.connect_lazy_with(options), ids }))
    }

    /// Makes the tables if there are none.
    pub async fn create_tables(&self) -> Result<(), Failure> {
        let mut transaction = self.pool.begin().await?;
        // CREATE TABLE IF NOT EXISTS can fail if two gateways run it at the same time.
        sqlx::query("SELECT pg_advisory_xact_lock(7, 1)").execute(&mut *transaction).await?;
        sqlx::raw_sql(include_str!("../schema.sql")).execute(&mut *transaction).await?;
        Ok(transaction.commit().await?)
    }

    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Whether this gateway has a lane, or only waits for the database, as all gateways then do.
    pub fn is_ready(&self) -> bool {
        let room = Room::parse("group:ready").expect("a name");
        match self.ids.generate(room.tag) {
            Ok(_) => true,
            Err(error) => self.ids.status().lane.is_some() && (error.is_register() || error.is_used_up()),
        }
    }

    /// Waits until the lease has stopped, and returns why, so that the process exits and a new one starts with new settings. If the register
    /// went back to an earlier state, it does not return: a new process could not notice that, and would mint before it is recovered.
    pub async fn stopped(&self) -> LeaseError {
        let error = self.ids.stopped_async().await;
        if error.is_reverted() {
            eprintln!("{error}");
            std::future::pending::<()>().await;
        }
        error
    }

    /// Gives the lane back, if there is one. A call to a database that does not answer takes up to five time limits of the register.
    pub async fn close(&self, timeout: Duration) {
        if self.ids.status().lane.is_some() {
            self.ids.close_async(timeout).await;
        }
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
            sqlx::query_as(take).bind(&room.name).fetch_one(&mut *transaction).await?;
        // `last_id` is of our own gateways. An ID that a client sends must never come here.
        if let Some(last_id) = last_id {
            self.ids.raise_floor(last_id);
        }
        let id = self.ids.generate_async(room.tag, MINT).await.map_err(Failure::later)?;
        let store = "WITH stored AS (
                INSERT INTO messages (id, room, number, sender, client_key, body) VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (room, sender, client_key) DO NOTHING RETURNING id, room)
            UPDATE rooms SET last_id = stored.id FROM stored WHERE name = stored.room";
        let store = sqlx::query(store).bind(id).bind(&room.name).bind(number).bind(sender).bind(key).bind(body);
        if store.execute(&mut *transaction).await?.rows_affected() == 1 {
            transaction.commit().await?;
            // A hint for the followers, which the client does not wait for. It is outside of the transaction because NOTIFY makes commits
            // wait for each other. If it is lost, the followers notice the message within a second.
            let (pool, name) = (self.pool.clone(), room.name.clone());
            tokio::spawn(
                async move { sqlx::query("SELECT pg_notify('imid_chat', $1)").bind(name).execute(&pool).await },
            );
            return Ok((Message { id, number, sender: sender.to_owned(), body: body.to_owned() }, true));
        }
        transaction.rollback().await?;
        let known = "SELECT id, number, sender, body FROM messages WHERE room = $1 AND sender = $2 AND client_key = $3";
        let known = sqlx::query_as(known).bind(&room.name).bind(sender).bind(key).fetch_one(&self.pool).await?;
        Ok((known, false))
    }

    /// Returns the messages after one that a client has, in order, or `None` if the database does not have that one: after a failover or a
    /// restore that lost it, other messages may have its number.
    pub async fn after(&self, room: &Room, last: Option<MessageId>) -> Result<Option<Vec<Message>>, Failure> {
        let sql = "SELECT id, number, sender, body FROM messages WHERE room = $1 AND number >=
                (SELECT CASE WHEN $2::bytea IS NULL THEN 1 ELSE (SELECT number FROM messages WHERE id = $2 AND room = $1) END)
            ORDER BY number LIMIT $3";
        let query = sqlx::query_as(sql).bind(&room.name).bind(last).bind(FOLLOWED + 1);
        let mut found: Vec<Message> = query.fetch_all(&self.pool).await?;
        let is_lost = last.is_some() && found.is_empty();
        // The client has the first one.
        found.drain(..usize::from(last.is_some()).min(found.len()));
        Ok((!is_lost).then_some(found))
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

    /// Returns the rooms whose last ID is not the one given.
    pub async fn changed(&self, rooms: &[String], ids: &[Option<MessageId>]) -> Result<Vec<String>, Failure> {
        let sql = "SELECT seen.name FROM unnest($1::text[], $2::bytea[]) AS seen (name, id)
            LEFT JOIN rooms USING (name) WHERE rooms.last_id IS DISTINCT FROM seen.id";
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
    pub async fn unread(&self, reader: &str) -> Result<Vec<Unread>, Failure> {
        let sql = "SELECT rooms.name AS room, rooms.last_number - readers.number AS unread FROM readers
            JOIN rooms ON rooms.name = readers.room WHERE readers.reader = $1 ORDER BY rooms.name";
        Ok(sqlx::query_as(sql).bind(reader).fetch_all(&self.pool).await?)
    }
}
