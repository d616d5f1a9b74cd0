//! redis: sorted sets, streams, hashes and lists of a real server.

use imid::MessageId;
use imid::store::AsText;
use imid_store_tests::{assert_same, ids, sorted, url};
use redis::{Commands, Connection};

fn connect(test: &str) -> Option<Connection> {
    let url = url("IMID_REDIS_URL", &format!("redis::{test}"))?;
    let client = redis::Client::open(url).expect("a URL of redis");
    Some(client.get_connection().expect("the server answers"))
}

/// The members of a sorted set with one score are in the order of their bytes.
#[test]
fn a_sorted_set_has_the_order_of_ids() {
    let Some(mut connection) = connect("a_sorted_set_has_the_order_of_ids") else { return };
    let ids = ids();
    let sorted = sorted(&ids);
    for (key, is_text) in [("imid:bytes", false), ("imid:texts", true)] {
        let _: () = connection.del(key).expect("DEL");
        for some in ids.chunks(1_000) {
            let mut pipe = redis::pipe();
            for id in some {
                if is_text {
                    pipe.zadd(key, AsText(*id), 0).ignore();
                } else {
                    pipe.zadd(key, *id, 0).ignore();
                }
            }
            let () = pipe.query(&mut connection).expect("ZADD");
        }
    }
    let found: Vec<MessageId> = connection.zrange("imid:bytes", 0, -1).expect("ZRANGE");
    assert_same(&found, &sorted, "bytes");
    let found: Vec<AsText> = connection.zrange("imid:texts", 0, -1).expect("ZRANGE");
    assert_same(&found.into_iter().map(MessageId::from).collect::<Vec<_>>(), &sorted, "texts");

    let range = MessageId::range(1_000_000_000_000..2_000_000_000_000).expect("a range");
    let wanted: Vec<_> = sorted.iter().copied().filter(|id| range.contains(id)).collect();
    let bound = |id: &MessageId| [b"[", &id.to_bytes()[..]].concat();
    let found: Vec<MessageId> =
        connection.zrangebylex("imid:bytes", bound(range.start()), bound(range.end())).expect("ZRANGEBYLEX");
    assert_same(&found, &wanted, "bytes of a time");
    let bound = |id: &MessageId| format!("[{id}");
    let found: Vec<AsText> =
        connection.zrangebylex("imid:texts", bound(range.start()), bound(range.end())).expect("ZRANGEBYLEX");
    assert_same(&found.into_iter().map(MessageId::from).collect::<Vec<_>>(), &wanted, "texts of a time");
    let _: () = connection.del(&["imid:bytes", "imid:texts"]).expect("DEL");
}

/// The ID of a stream's entry is `ms-n`. The low 38 bits of an ID as `n` keep the order.
#[test]
fn a_stream_keeps_the_order_and_refuses_an_id_twice() {
    let Some(mut connection) = connect("a_stream_keeps_the_order_and_refuses_an_id_twice") else { return };
    let key = "imid:stream";
    let _: () = connection.del(key).expect("DEL");
    let entry = |id: &MessageId| format!("{}-{}", id.timestamp_ms(), id.to_u128() & ((1 << 38) - 1));
    // A stream has no entry 0-0.
    let sorted: Vec<MessageId> = sorted(&ids()).into_iter().filter(|id| *id != MessageId::MIN).collect();
    let sorted = &sorted[..sorted.len().min(20_000)];
    for some in sorted.chunks(1_000) {
        let mut pipe = redis::pipe();
        for id in some {
            pipe.cmd("XADD").arg(key).arg(entry(id)).arg("id").arg(id).ignore();
        }
        let () = pipe.query(&mut connection).expect("XADD");
    }
    let last = sorted.last().expect("an ID");
    let again: Result<String, _> =
        redis::cmd("XADD").arg(key).arg(entry(last)).arg("id").arg(last).query(&mut connection);
    assert!(again.expect_err("a second entry").to_string().contains("equal or smaller"));

    let reply: Vec<(String, Vec<(String, MessageId)>)> =
        redis::cmd("XRANGE").arg(key).arg("-").arg("+").query(&mut connection).expect("XRANGE");
    let found: Vec<MessageId> = reply.iter().map(|(_, fields)| fields[0].1).collect();
    assert_same(&found, sorted, "entries");
    for (name, fields) in &reply {
        let (ms, low) = name.split_once('-').expect("two numbers");
        let value = (ms.parse::<u128>().expect("ms") << 38) | low.parse::<u128>().expect("the low bits");
        assert_eq!(MessageId::from_u128(value), Ok(fields[0].1), "{name}");
    }
    let _: () = connection.del(key).expect("DEL");
}

#[test]
fn values_are_read_from_strings_and_hashes() {
    let Some(mut connection) = connect("values_are_read_from_strings_and_hashes") else { return };
    let id = imid_store_tests::EXAMPLE;
    let _: () = connection.set("imid:last", id).expect("SET");
    assert_eq!(connection.get::<_, MessageId>("imid:last").expect("GET"), id);
    assert_eq!(connection.get::<_, Option<MessageId>>("imid:nothing").expect("GET"), None);
    let error = connection.get::<_, MessageId>("imid:nothing").expect_err("nil");
    assert!(error.to_string().contains("expected a message ID, found nil"), "{error}");
    let _: () = connection.hset("imid:rooms", id.session_tag(), id).expect("HSET");
    assert_eq!(connection.hget::<_, _, MessageId>("imid:rooms", id.session_tag()).expect("HGET"), id);
    let _: () = connection.set("imid:last", "short").expect("SET");
    let error = connection.get::<_, MessageId>("imid:last").expect_err("5 bytes");
    assert!(error.to_string().contains("expected 10 bytes, found 5"), "{error}");
    let _: () = connection.del(&["imid:last", "imid:rooms"]).expect("DEL");
}
