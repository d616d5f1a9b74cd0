//! A generator for one process on one host. A file keeps what a restart must not repeat.

use imid::{Session, SessionType};
use imid_lease::LeasedGenerator;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ids = LeasedGenerator::open_file("ids")?; // such as /var/lib/chat/ids
    println!("{}", ids.generate(Session::new(SessionType::GROUP, "room-42"))?);
    Ok(())
}
