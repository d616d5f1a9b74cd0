//! A generator for one process on one host. A file keeps what a restart must not repeat.

use imid::{SessionTag, SessionType};
use imid_lease::LeasedGenerator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ids = LeasedGenerator::open_file("ids")?; // such as /var/lib/chat/ids
    println!("{}", ids.generate(SessionTag::new(SessionType::GROUP, "room-42"))?);
    ids.close(); // the next start goes on after the last ID, and not after the lease
    Ok(())
}
