//! A generator for each of many processes, which lease their lanes from PostgreSQL.

use std::time::Duration;

use imid::{SessionTag, SessionType};
use imid_lease::register::PostgresRegister;
use imid_lease::{LaneOptions, LeasedGenerator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let register = PostgresRegister::from_url("postgres://chat:secret@db/chat?sslmode=verify-full")?;
    let ids = LeasedGenerator::open(register, LaneOptions::new())?;
    ids.wait_until_open(Duration::from_secs(15))?;
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let id = ids.generate_within(room, Duration::from_secs(1))?;
    println!("{id}");
    Ok(())
}
