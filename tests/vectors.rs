//! The known answers of spec/vectors.json. FORMAT.md explains them. A program without this library writes them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::num::NonZeroU32;

use imid::codec::{self, LINE_LEN};
use imid::{IdParts, MessageId, SessionHash, SessionTag, SessionType};
use serde_json::{Map, Value};

const VECTORS: &str = include_str!("../spec/vectors.json");

/// One row of the file. It notes which of its members are read.
struct Row<'a> {
    values: &'a Map<String, Value>,
    read: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Row<'a> {
    fn get(&self, key: &'static str) -> Option<&'a Value> {
        self.read.borrow_mut().insert(key);
        self.values.get(key)
    }

    fn value(&self, key: &'static str) -> &'a Value {
        self.get(key).unwrap_or_else(|| panic!("no {key} in {:?}", self.values))
    }

    fn text(&self, key: &'static str) -> &'a str {
        self.value(key).as_str().unwrap_or_else(|| panic!("{key} is not a string in {:?}", self.values))
    }

    /// Returns the number of a decimal text, or `None` if the type cannot hold it, so the library cannot be called with it.
    fn fitting<T: TryFrom<i64>>(&self, key: &'static str) -> Option<T> {
        let number = self.text(key).parse::<i64>();
        number.unwrap_or_else(|error| panic!("{key}: {error} in {:?}", self.values)).try_into().ok()
    }

    fn number<T: TryFrom<i64>>(&self, key: &'static str) -> T {
        let number = self.value(key).as_i64().and_then(|number| number.try_into().ok());
        number.unwrap_or_else(|| panic!("{key} is not a number of this type in {:?}", self.values))
    }

    fn bytes(&self, key: &'static str) -> Vec<u8> {
        let digits = self.text(key).as_bytes().chunks(2);
        digits.map(|byte| u8::from_str_radix(str::from_utf8(byte).unwrap(), 16).unwrap()).collect()
    }

    /// Returns the bytes of a UUID, whose text has dashes.
    fn uuid(&self) -> [u8; 16] {
        let digits = self.text("uuid").replace('-', "");
        u128::from_str_radix(&digits, 16).unwrap_or_else(|error| panic!("{:?}: {error}", self.values)).to_be_bytes()
    }

    fn id(&self, key: &'static str) -> MessageId {
        MessageId::parse(self.text(key)).unwrap_or_else(|error| panic!("{:?}: {error}", self.values))
    }
}

/// Defines a test for each member of the file. A test fails if it does not read all members of a row. Another test
/// fails if a member of the file has no test.
macro_rules! vectors {
    ($($member:ident: $test:ident)*) => {
        $(#[test]
        fn $test() {
            let file: Value = serde_json::from_str(VECTORS).expect("the file is JSON");
            let rows = file[stringify!($member)].as_array().expect("a list of rows");
            assert!(!rows.is_empty());
            for row in rows {
                let row = Row { values: row.as_object().expect("a row"), read: RefCell::default() };
                check::$member(&row);
                row.get("why");
                let unread: Vec<_> = row.values.keys().filter(|key| !row.read.borrow().contains(&key[..])).collect();
                assert!(unread.is_empty(), "the test does not read {unread:?} of {:?}", row.values);
            }
        })*

        #[test]
        fn every_member_of_the_file_has_a_test() {
            let file: Value = serde_json::from_str(VECTORS).expect("the file is JSON");
            let members: BTreeSet<&str> = file.as_object().expect("an object").keys().map(String::as_str).collect();
            assert_eq!(members, BTreeSet::from(["$schema", "version", "xxh3_secret", $(stringify!($member)),*]));
            assert_eq!(file["version"], 1);
        }
    };
}

vectors! {
    ids: an_id_is_the_same_in_every_form
    texts_refused: a_strict_reader_refuses_other_texts
    lenient: a_lenient_reader_takes_either_case_missing_dashes_and_white_space_around
    lenient_refused: a_lenient_reader_refuses_other_texts
    hex: hex_is_read_in_either_case
    hex_refused: hex_of_another_form_is_refused
    uuids: an_id_has_its_uuid_view
    uuids_refused: other_uuids_are_refused
    bytes_refused: bytes_of_another_length_are_refused
    integers_refused: integers_that_are_not_ids_are_refused
    fields_refused: a_value_that_does_not_fit_its_field_is_refused
    types: types_have_their_names
    names: names_have_their_hash
    names_refused: names_are_valid_unicode
    pairs: pairs_have_their_hash
    shards: sessions_have_their_shard
    shards_refused: the_number_of_shards_is_1_to_4294967295
    times: times_have_a_first_and_a_last_id
    times_refused: times_without_a_first_and_a_last_id_are_refused
    lines: lines_are_written_and_read
    lines_refused: a_line_of_another_form_is_refused_at_its_position
}

#[test]
fn the_ids_of_the_file_ascend_in_every_form() {
    let file: Value = serde_json::from_str(VECTORS).expect("the file is JSON");
    let rows = file["ids"].as_array().expect("a list of rows");
    let column = |key: &str| rows.iter().map(|row| row[key].as_str().expect("a string").to_owned()).collect::<Vec<_>>();
    assert!(column("text").is_sorted_by(|a, b| a < b));
    assert!(column("hex").is_sorted_by(|a, b| a < b));
    let ids: Vec<MessageId> = column("text").iter().map(|text| MessageId::parse(text).unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert!(ids.is_sorted_by_key(|id| id.to_bytes()));
    let views = file["uuids"].as_array().expect("a list of rows");
    assert!(views.iter().zip(rows).all(|(view, row)| view["text"] == row["text"]));
    assert!(views.is_sorted_by(|a, b| a["uuid"].as_str().expect("a string") < b["uuid"].as_str().expect("a string")));
}

/// Has a function for each member of the file, with the name of the member. It tests one row.
mod check {
    use super::*;

    pub(super) fn ids(row: &Row) {
        let (text, hex) = (row.text("text"), row.text("hex"));
        let value: u128 = row.text("integer").parse().unwrap();
        let bytes: [u8; MessageId::BYTE_LEN] = row.bytes("hex").try_into().unwrap();
        let kind = SessionType::from_u8(row.number("type")).unwrap();
        let hash = SessionHash::from_u32(row.number("hash")).unwrap();
        let session = SessionTag::from_parts(kind, hash);
        let parts = IdParts { timestamp_ms: row.number("timestamp"), spin: row.number("spin"), session_tag: session };

        let id = row.id("text");
        assert_eq!(MessageId::parse_bytes(text.as_bytes()), Ok(id));
        assert_eq!(text.parse(), Ok(id));
        assert_eq!(MessageId::from_u128(value), Ok(id), "{text}");
        assert_eq!(MessageId::from_bytes(bytes), id, "{text}");
        assert_eq!(MessageId::from_hex(hex), Ok(id), "{text}");
        assert_eq!(MessageId::try_from_parts(parts), Ok(id), "{text}");

        assert_eq!(id.to_text().as_str(), text);
        assert_eq!(id.to_string(), text);
        assert_eq!(id.to_u128(), value, "{text}");
        assert_eq!(id.to_bytes(), bytes, "{text}");
        assert_eq!(format!("{id:x}"), hex, "{text}");
        assert_eq!(id.parts(), parts, "{text}");
        assert_eq!((id.timestamp_ms(), id.spin()), (parts.timestamp_ms, parts.spin), "{text}");
        assert_eq!((id.session_type(), id.session_hash()), (kind, hash), "{text}");
        assert_eq!((id.session_tag(), session.to_u32()), (session, row.number("session_tag")), "{text}");
        assert_eq!(SessionTag::from_u32(row.number("session_tag")), Ok(session), "{text}");
        if row.get("name").is_some() {
            assert_eq!(SessionTag::new(kind, row.text("name")), session, "{text}");
        }
    }

    pub(super) fn texts_refused(row: &Row) {
        let input = row.text("input");
        let Err(error) = MessageId::parse(input) else { panic!("{input:?} was read") };
        assert_eq!(error.position(), row.number::<usize>("position"), "{input:?}");
        assert_eq!(MessageId::parse_bytes(input.as_bytes()), Err(error), "{input:?}");
        assert_eq!(input.parse::<MessageId>(), Err(error), "{input:?}");
    }

    pub(super) fn lenient(row: &Row) {
        let input = row.text("input");
        assert_eq!(MessageId::parse_lenient(input), Ok(row.id("text")), "{input:?}");
    }

    pub(super) fn lenient_refused(row: &Row) {
        let input = row.text("input");
        let Err(error) = MessageId::parse_lenient(input) else { panic!("{input:?} was read") };
        assert_eq!(error.position(), row.number::<usize>("position"), "{input:?}");
    }

    pub(super) fn hex(row: &Row) {
        let id = MessageId::from_hex(row.text("input")).expect("hex in either case");
        assert_eq!(format!("{id:x}"), row.text("hex"));
    }

    pub(super) fn hex_refused(row: &Row) {
        let input = row.text("input");
        let Err(error) = MessageId::from_hex(input) else { panic!("{input:?} was read") };
        assert_eq!(error.position(), row.number::<usize>("position"), "{input:?}");
    }

    pub(super) fn uuids(row: &Row) {
        let (id, uuid) = (row.id("text"), row.uuid());
        assert_eq!(id.to_uuid_bytes(), uuid, "{id}");
        assert_eq!(MessageId::from_uuid_bytes(uuid), Ok(id), "{id}");
    }

    pub(super) fn uuids_refused(row: &Row) {
        assert!(MessageId::from_uuid_bytes(row.uuid()).is_err(), "{:?}", row.values);
    }

    pub(super) fn bytes_refused(row: &Row) {
        let bytes = row.bytes("bytes");
        assert!(MessageId::from_slice(&bytes).is_err(), "{bytes:?}");
    }

    /// The library has integers but not their text. `u128` also reads texts that it does not write, so this compares
    /// the text that it writes.
    pub(super) fn integers_refused(row: &Row) {
        let input = row.text("input");
        let value = input.parse::<u128>().ok().filter(|value| value.to_string() == input);
        let id = value.and_then(|value| MessageId::from_u128(value).ok());
        assert_eq!(id, None, "{input:?}");
    }

    pub(super) fn fields_refused(row: &Row) {
        let parts = |timestamp_ms, spin| {
            let session = SessionTag::from_u32(0).unwrap();
            MessageId::try_from_parts(IdParts { timestamp_ms, spin, session_tag: session })
        };
        let refused = match row.text("field") {
            "timestamp" => row.fitting("input").is_none_or(|ms| {
                assert_eq!(MessageId::first_at(ms).err(), MessageId::last_at(ms).err());
                parts(ms, 0).is_err() && MessageId::last_at(ms).is_err()
            }),
            "spin" => row.fitting("input").is_none_or(|spin| parts(0, spin).is_err()),
            "type" => row.fitting("input").is_none_or(|code| SessionType::from_u8(code).is_err()),
            "hash" => row.fitting("input").is_none_or(|hash| SessionHash::from_u32(hash).is_err()),
            "session_tag" => row.fitting("input").is_none_or(|session| SessionTag::from_u32(session).is_err()),
            field => panic!("a field without a test: {field}"),
        };
        assert!(refused, "{:?}", row.values);
    }

    pub(super) fn types(row: &Row) {
        let kind = SessionType::from_u8(row.number("code")).unwrap();
        assert_eq!(kind.name(), row.get("name").and_then(Value::as_str));
        assert_eq!(kind.to_u8(), row.number::<u8>("code"));
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }

    pub(super) fn names(row: &Row) {
        let name = row.text("name");
        assert_eq!(name.len(), row.number::<usize>("length"), "{name}");
        assert_eq!(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(name.as_bytes())), row.text("xxh3"), "{name}");
        assert_eq!(SessionHash::of(name).to_u32(), row.number::<u32>("hash"), "{name}");
    }

    pub(super) fn names_refused(row: &Row) {
        if row.get("utf8").is_some() {
            let bytes = row.bytes("utf8");
            return assert!(String::from_utf8(bytes).is_err());
        }
        let units = row.value("utf16").as_array().expect("UTF-16 units").iter();
        let units: Vec<u16> = units.map(|unit| unit.as_u64().unwrap().try_into().unwrap()).collect();
        assert!(String::from_utf16(&units).is_err(), "{units:?}");
    }

    pub(super) fn pairs(row: &Row) {
        let (a, b) = (row.text("a"), row.text("b"));
        let mut ends = [a, b].map(|name| xxhash_rust::xxh3::xxh3_64(name.as_bytes()));
        ends.sort_unstable();
        assert_eq!(ends.map(u64::to_be_bytes).as_flattened(), row.bytes("bytes"), "{a} and {b}");
        let pair = SessionTag::pair(a, b);
        assert_eq!(pair.session_hash().to_u32(), row.number::<u32>("hash"), "{a} and {b}");
        assert_eq!(pair.to_u32(), row.number::<u32>("session_tag"), "{a} and {b}");
        assert_eq!(pair, SessionTag::pair(b, a), "{a} and {b}");
    }

    pub(super) fn shards(row: &Row) {
        let session = SessionTag::from_u32(row.number("session_tag")).unwrap();
        let n = NonZeroU32::new(row.number("n")).unwrap();
        assert_eq!(session.shard(n), row.number::<u32>("shard"), "{session:?} of {n}");
    }

    pub(super) fn shards_refused(row: &Row) {
        let session = row.fitting("session_tag_input").and_then(|bits| SessionTag::from_u32(bits).ok());
        assert_eq!(session.zip(row.fitting("n_input").and_then(NonZeroU32::new)), None);
    }

    pub(super) fn times(row: &Row) {
        let (from, to) = (row.number("from"), row.number::<u64>("to"));
        let (first, last, end) = (row.id("first"), row.id("last"), to + 1);
        assert_eq!((MessageId::first_at(from), MessageId::last_at(to)), (Ok(first), Ok(last)));
        assert_eq!(MessageId::range(from..=to), Ok(first..=last));
        assert_eq!(MessageId::range(from..end), Ok(first..=last));
        // If the IDs before the first and after the last exist, they belong to other times.
        let time = |value| MessageId::from_u128(value).ok().map(MessageId::timestamp_ms);
        assert_eq!(first.to_u128().checked_sub(1).and_then(time), from.checked_sub(1));
        assert_eq!(time(last.to_u128() + 1), (last < MessageId::MAX).then_some(end));
    }

    pub(super) fn times_refused(row: &Row) {
        if let (Some(from), Some(to)) = (row.fitting::<u64>("from_input"), row.fitting("to_input")) {
            assert!(MessageId::range(from..=to).is_err(), "{from} to {to}");
        }
    }

    pub(super) fn lines(row: &Row) {
        let [separator] = row.text("separator").as_bytes() else { panic!("{:?}", row.values) };
        let texts = row.value("texts").as_array().expect("a list of texts").iter();
        let ids: Vec<_> = texts.map(|text| MessageId::parse(text.as_str().unwrap()).unwrap()).collect();
        let wanted = row.text("lines").as_bytes();

        let mut lines = vec![[0; LINE_LEN]; ids.len()];
        assert_eq!(codec::encode_lines(&ids, *separator, &mut lines), ids.len());
        assert_eq!(lines.as_flattened(), wanted);

        for lines in [wanted, wanted.strip_suffix(&[*separator]).unwrap_or(wanted)] {
            let mut read = vec![MessageId::MAX; ids.len() + 1];
            assert_eq!(codec::decode_lines(lines, *separator, &mut read), Ok(ids.len()));
            assert_eq!(read[..ids.len()], ids);
        }
    }

    pub(super) fn lines_refused(row: &Row) {
        let [separator] = row.text("separator").as_bytes() else { panic!("{:?}", row.values) };
        let lines = row.text("lines");
        let mut ids = [MessageId::MIN; 4];
        let Err(error) = codec::decode_lines(lines.as_bytes(), *separator, &mut ids) else {
            panic!("{lines:?} were read")
        };
        assert_eq!(error.index(), row.number::<usize>("line"), "{lines:?}");
        assert_eq!(error.error().position(), row.number::<usize>("position"), "{lines:?}");
    }
}

/// For ports whose language has no library of XXH3.
#[test]
fn the_secret_is_that_of_xxh3() {
    let file: Value = serde_json::from_str(VECTORS).expect("the file is JSON");
    let digits = file["xxh3_secret"].as_str().expect("a string").as_bytes();
    let byte = |pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let secret: Vec<u8> = digits.chunks(2).map(byte).collect();
    for name in ["", "a", "abcd", &"n".repeat(16), &"n".repeat(128), &"n".repeat(240), &"n".repeat(2_048)] {
        let hashed = xxhash_rust::xxh3::xxh3_64_with_secret(name.as_bytes(), &secret);
        assert_eq!(hashed, xxhash_rust::xxh3::xxh3_64(name.as_bytes()), "{name}");
    }
}
