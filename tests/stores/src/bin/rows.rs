//! Writes IDs and what the library reads from them, one row of comma-separated values for each ID. The tests of the SQL
//! packs load the rows and compare them with what the functions return.
//!
//! Columns: place in ascending order, hex, text, UUID, timestamp, spin, type, hash, session, bucket of 7 days.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroU16;

use imid::store::Buckets;
use imid_store_tests::{ids, sorted};

fn main() -> io::Result<()> {
    let weeks = Buckets::from_days(NonZeroU16::new(7).expect("seven is not zero"));
    let mut places: Vec<_> = sorted(&ids()).into_iter().enumerate().collect();
    // The rows are not in the order of the IDs.
    places.sort_unstable_by_key(|(place, _)| place.wrapping_mul(7_919) % 104_729);
    let mut out = BufWriter::new(io::stdout().lock());
    for (place, id) in places {
        let (hex, text, uuid, session) = (id.to_hex(), id.to_text(), id.to_uuid(), id.session_tag());
        let (kind, hash) = (session.session_type().to_u8(), session.session_hash());
        let (ms, spin, bucket, session) = (id.timestamp_ms(), id.spin(), weeks.bucket(id), session.to_u32());
        writeln!(out, "{place},{hex},{text},{uuid},{ms},{spin},{kind},{hash},{session},{bucket}")?;
    }
    out.flush()
}
