//! Kafka: the key of a record is the session, and a header has the ID.
//!
//! Records with the same key go to the same partition, so the messages of a room keep their order. A broker can deliver
//! a record twice. Within a session the IDs ascend, so a consumer that remembers the last ID of each session can skip what
//! it has handled. This needs one process that mints all IDs of a session, such as the one that `SessionTag::shard` names.
//!
//! The records are encoded and decoded as a batch of Kafka's protocol. There is no broker in this program.

use std::collections::HashMap;
use std::error::Error;

use bytes::{Bytes, BytesMut};
use imid::{Generator, MessageId, SessionTag, SessionType};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, Record, RecordBatchDecoder,
    RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};

/// The header with the 10 bytes of the ID.
const HEADER: StrBytes = StrBytes::from_static_str("imid");

fn record(id: MessageId, body: &'static str, place: i32) -> Result<Record, Box<dyn Error>> {
    Ok(Record {
        key: Some(Bytes::copy_from_slice(&id.session_tag().to_u32().to_be_bytes())),
        value: Some(Bytes::from_static(body.as_bytes())),
        headers: IndexMap::from([(HEADER, Some(Bytes::copy_from_slice(&id.to_bytes())))]),
        // The broker finds records by this time, and deletes old ones by it.
        timestamp: id.timestamp_ms().try_into()?,
        timestamp_type: TimestampType::Creation,
        // The encoder puts records in one batch if their sequence numbers follow their offsets.
        offset: place.into(),
        sequence: place,
        partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        transactional: false,
        control: false,
        delete_horizon: false,
    })
}

/// Returns the ID of a record.
fn id_of(record: &Record) -> Result<MessageId, Box<dyn Error>> {
    let header = record.headers.get(&HEADER).and_then(Option::as_deref).ok_or("the record has no header `imid`")?;
    Ok(MessageId::from_slice(header)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let ids = Generator::new();
    let (room, other_room) =
        (SessionTag::new(SessionType::GROUP, "room-42"), SessionTag::new(SessionType::GROUP, "room-43"));
    let mut records = Vec::new();
    for (session, body) in [(room, "hello"), (other_room, "good morning"), (room, "is anybody here?"), (room, "yes")] {
        records.push(record(ids.generate(session)?, body, records.len().try_into()?)?);
    }

    let mut batch = BytesMut::new();
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    RecordBatchEncoder::encode(&mut batch, &records, &options)?;

    // The consumer gets the batch twice, as after a lost acknowledgement.
    let batch = batch.freeze();
    let mut last: HashMap<SessionTag, MessageId> = HashMap::new();
    let mut handled = Vec::new();
    for mut delivery in [batch.clone(), batch] {
        for record in RecordBatchDecoder::decode(&mut delivery)?.records {
            let id = id_of(&record)?;
            assert_eq!(record.key.as_deref(), Some(&id.session_tag().to_u32().to_be_bytes()[..]));
            assert_eq!(u64::try_from(record.timestamp)?, id.timestamp_ms());
            if last.get(&id.session_tag()).is_some_and(|last| id <= *last) {
                continue;
            }
            last.insert(id.session_tag(), id);
            println!("{id}  {}", String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()));
            handled.push(id);
        }
    }
    assert_eq!(handled, records.iter().map(id_of).collect::<Result<Vec<_>, _>>()?, "each message once, in order");
    Ok(())
}
