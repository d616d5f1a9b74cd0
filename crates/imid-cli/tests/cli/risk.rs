//! The command `risk`.

use crate::imid;

#[test]
fn the_table_has_the_worst_way_first() {
    let expected = "\
hosts             8
messages          100,000 per second
sessions          1,000,000, the busiest with 100 messages per second

                  equal IDs                         per year   one per year at
any host          about once in 4.8 seconds        6,580,000              39/s
by session name   about once in 65 minutes             8,030           1,120/s
UUIDv7 instead    none expected in 10,000 years       8.4e-9   1,090,000,000/s
by session.shard  never, while one process at a time owns a shard
under a room lock never, while each ID follows the last one of its locked room
imid-lease        never, while the store keeps what it acknowledges

Mint after the last ID of the locked room. Hosts that mint without its lock:
imid-lease with 4 lane bits, 16 lanes for 8 hosts and those that replace
them. Each mints up to 256 IDs per millisecond and stripe.
";
    assert_eq!(imid("risk --hosts 8 --rate 100000 --rooms 1e6 --zipf 1.0 --busiest 100", "").ok(), expected);
}

#[test]
fn one_process_needs_nothing_and_many_processes_need_all_lanes() {
    let one = imid("risk --hosts 1 --rate 10", "").ok();
    assert!(one.contains("\nany host          never, while one process mints all IDs\n"), "{one}");
    assert!(one.ends_with(
        "\nOne process needs no coordination. imid-lease with a file also excludes\nrepeated IDs after a crash.\n"
    ));
    let many = imid("risk --hosts 4096 --rate 1e7", "").ok();
    assert!(many.contains("There are no more lanes: stop a host before its successor starts.\n"), "{many}");
    // 2,442 IDs per millisecond, of 4,096 lanes with one each: 4.88 stripes that are half full.
    assert!(many.ends_with("Use 5 stripes, so that each is at most half full.\n"), "{many}");
}

#[test]
fn arguments_that_do_not_fit_together_are_errors() {
    for (args, expected) in [
        (
            "--rate 5 --busiest 6 --rooms 9",
            "--busiest: expected at most 5 messages per second, found 6 in the busiest rooms",
        ),
        ("--rate 5 --busiest 1,1", "--busiest: expected at most 1 rooms, found 2 busy ones"),
        (
            "--rate 5 --busiest 1 --rooms 3",
            "--busiest: expected at most 3 messages per second with no room busier, found 5",
        ),
        ("--rate 1e13", "--rate: expected a number of messages per second from 1e-9 to 1e12, found \"1e13\""),
    ] {
        assert_eq!(imid(&format!("risk --hosts 2 {args}"), "").error(2), expected);
    }
    for args in ["--hosts 2", "--rate 1"] {
        let run = imid(&format!("risk {args}"), "");
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{args}: {}", run.err);
    }
}
