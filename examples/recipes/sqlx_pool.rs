//! A register in a pool of connections that the application has already: `Register` is five calls. It is weak wherever a commit
//! can wait for a standby, because sqlx does not return the warning with which PostgreSQL stops to wait. The register of
//! imid-lease reads it, and has a connection of its own.
//!
//! If IMID_POSTGRES_URL is set, the program mints with a lane that is leased there.

use std::error::Error;
use std::time::Duration;

use imid::{SessionTag, SessionType};
use imid_lease::register::{Promise, Register, RegisterError};
use imid_lease::{LaneOptions, LeasedGenerator};
use sqlx::PgPool;
use tokio::runtime::Handle;
use tokio::time::timeout;

const CREATE: &str =
    r#"CREATE TABLE IF NOT EXISTS pool_register (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)"#;
/// Each write waits for the disk, whatever the default of the session is. No connection keeps a setting.
const INSERT: &str = "INSERT INTO pool_register SELECT $1, $2 WHERE set_config('synchronous_commit', 'on', true) IS NOT NULL \
    ON CONFLICT (key) DO NOTHING";
const UPDATE: &str = "UPDATE pool_register SET value = $2 WHERE key = $1 AND value = $3 \
    AND set_config('synchronous_commit', 'on', true) IS NOT NULL";
const IS_ALONE: &str = "SELECT current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' \
    AND current_setting('synchronous_standby_names') = '' AND NOT EXISTS (SELECT FROM pg_stat_replication) \
    AND NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_type = 'physical')";
const LIMIT: Duration = Duration::from_secs(2);

struct PoolRegister {
    pool: PgPool,
    runtime: Handle,
    promise: Promise,
}

impl PoolRegister {
    /// Call it in the runtime of the pool, which must have a thread that runs while the lease does.
    async fn open(pool: PgPool) -> sqlx::Result<Self> {
        sqlx::query(CREATE).execute(&pool).await?;
        let is_alone: bool = sqlx::query_scalar(IS_ALONE).fetch_one(&pool).await?;
        let weak = "a crash or a failover can lose acknowledged writes";
        let promise = if is_alone { Promise::Strong } else { Promise::Weak(weak.into()) };
        Ok(Self { pool, runtime: Handle::current(), promise })
    }

    /// Runs a statement. The thread of the lease calls it, which runs no async task.
    fn call<T>(&self, what: &str, work: impl Future<Output = sqlx::Result<T>>) -> Result<T, RegisterError> {
        let failed = || RegisterError::new(format!("cannot {what} by the pool"));
        match self.runtime.block_on(async { timeout(LIMIT, work).await }) {
            Ok(result) => result.map_err(|error| failed().caused_by(error)),
            Err(elapsed) => Err(failed().caused_by(elapsed)),
        }
    }
}

impl Register for PoolRegister {
    fn read(&mut self, key: &str) -> Result<Option<String>, RegisterError> {
        let query = sqlx::query_scalar("SELECT value FROM pool_register WHERE key = $1").bind(key);
        self.call("read", query.fetch_optional(&self.pool))
    }

    fn list(&mut self, prefix: &str) -> Result<Vec<(String, String)>, RegisterError> {
        let query = "SELECT key, value FROM pool_register WHERE starts_with(key, $1) ORDER BY key";
        self.call("list", sqlx::query_as(query).bind(prefix).fetch_all(&self.pool))
    }

    fn compare_and_set(&mut self, key: &str, seen: Option<&str>, value: &str) -> Result<bool, RegisterError> {
        let query = sqlx::query(if seen.is_some() { UPDATE } else { INSERT }).bind(key).bind(value);
        let query = if let Some(seen) = seen { query.bind(seen) } else { query };
        Ok(self.call("write", query.execute(&self.pool))?.rows_affected() == 1)
    }

    fn now_ms(&mut self) -> Result<Option<u64>, RegisterError> {
        let query = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let ms: i64 = self.call("read the time", sqlx::query_scalar(query).fetch_one(&self.pool))?;
        Ok(u64::try_from(ms).ok())
    }

    fn promise(&self) -> Promise {
        self.promise.clone()
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let Ok(url) = std::env::var("IMID_POSTGRES_URL") else {
        println!("not checked: recipes/sqlx_pool: no server of PostgreSQL");
        return Ok(());
    };
    let register = PoolRegister::open(PgPool::connect(&url).await?).await?;
    assert_eq!(register.promise(), Promise::Strong);
    // For the recipe only. In production, `admin::create` creates the space once, so that a table that was lost is noticed.
    let ids = LeasedGenerator::open(register, LaneOptions::new().create_missing().holder("recipe"))?;
    let ids = tokio::task::spawn_blocking(move || ids.wait_until_open(Duration::from_secs(15)).map(|()| ids)).await??;
    let session = SessionTag::new(SessionType::GROUP, "room-42");
    let minted: Vec<_> = (0..100).map(|_| ids.generate(session)).collect::<Result<_, _>>()?;
    assert!(minted.is_sorted_by(|a, b| a < b));
    // The lane is in the application's database.
    let pool = PgPool::connect(&url).await?;
    let records: i64 = sqlx::query_scalar("SELECT count(*) FROM pool_register WHERE value LIKE '%holder=recipe%'")
        .fetch_one(&pool)
        .await?;
    assert_eq!(records, 1);
    assert!(
        tokio::task::spawn_blocking(move || ids.close_within(Duration::from_secs(5))).await?,
        "the lane was given back"
    );
    println!("100 IDs of a lane in a pool of sqlx, the last one {}", minted[99]);
    Ok(())
}
