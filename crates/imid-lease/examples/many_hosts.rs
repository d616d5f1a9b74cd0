//! A generator for each of many processes, which lease their lanes from PostgreSQL.

use std::time::Duration;

use imid::{SessionTag, SessionType};
use imid_lease::register::PostgresRegister;
use imid_lease::{LaneOptions, LeasedGenerator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let register = PostgresRegister::from_url("postgres://chat:secret@db/chat?sslmode=verify-full")?;
    let ids = LeasedGenerator::open(register, LaneOptions::new().holder("chat-3"))?; // a unique name per process
    ids.wait_until_open(Duration::from_secs(15))?;
    let room = SessionTag::new(SessionType::GROUP, "room-42");
    let last = None; // the room's last ID, read from its locked row
    let id = ids.generate_after_within(last, room, Duration::from_secs(1))?; // sorts after it, whichever host minted it
    println!("{id}");
    Ok(())
}
