//! The UUID view through the crate `uuid`.
#![cfg(feature = "uuid-1")]

use imid::MessageId;
use proptest::prelude::*;
use uuid::{Builder, Timestamp, Uuid, Variant, Version};

fn any_id() -> impl Strategy<Value = MessageId> {
    any::<[u8; MessageId::BYTE_LEN]>().prop_map(MessageId::from_bytes)
}

proptest! {
    #[test]
    fn a_uuid_is_the_view_of_the_id_that_it_is_read_as(id in any_id()) {
        let uuid = id.to_uuid();
        prop_assert_eq!(MessageId::from_uuid(uuid), Ok(id));
        prop_assert_eq!(Uuid::from(id), uuid);
        prop_assert_eq!(MessageId::try_from(uuid), Ok(id));
        prop_assert_eq!(uuid.into_bytes(), id.to_uuid_bytes());
    }

    #[test]
    fn uuids_have_the_order_of_their_ids(a in any_id(), b in any_id()) {
        prop_assert_eq!(a.to_uuid().cmp(&b.to_uuid()), a.cmp(&b));
        prop_assert_eq!(a.to_uuid().to_string().cmp(&b.to_uuid().to_string()), a.cmp(&b));
    }

    #[test]
    fn the_crate_reads_version_variant_and_time_of_a_view(id in any_id()) {
        let uuid = id.to_uuid();
        prop_assert_eq!((uuid.get_version(), uuid.get_variant()), (Some(Version::SortRand), Variant::RFC4122));
        let time = uuid.get_timestamp().map(|time| Timestamp::to_unix(&time));
        let ms = id.timestamp_ms();
        prop_assert_eq!(time, Some((ms / 1_000, u32::try_from(ms % 1_000 * 1_000_000).unwrap())));
    }

    #[test]
    fn a_random_uuid_is_refused(ms in 0..=MessageId::TIMESTAMP_MAX, random: [u8; 16]) {
        // One in 2^36 has the ones of a view.
        let v7 = Builder::from_unix_timestamp_millis(ms, random[..10].try_into().unwrap()).into_uuid();
        prop_assert!(MessageId::from_uuid(v7).is_err());
        prop_assert!(MessageId::from_uuid(Builder::from_random_bytes(random).into_uuid()).is_err());
    }
}
