use imid::{MessageId, SessionTag, SessionType};

use crate::{ids, imid, imid_args};

#[test]
fn without_arguments_new_prints_one_id_of_type_0_and_the_empty_name() {
    let ids = ids(&imid("new", "").ok());
    assert_eq!(ids.len(), 1);
    assert!(ids[0].is_in(SessionTag::new(SessionType::MIN, "")));
}

#[test]
fn a_type_is_a_code_or_a_name_in_any_case() {
    for text in ["3", "group", "GROUP", "Group"] {
        let ids = ids(&imid(&format!("new --session room-42 --type {text}"), "").ok());
        assert!(ids[0].is_in(SessionTag::new(SessionType::GROUP, "room-42")), "{text}");
    }
}

#[test]
fn a_peer_makes_a_private_pair_in_either_order() {
    let pair = SessionTag::pair("alice", "bob");
    for args in ["--session alice --peer bob", "--session bob --peer alice --type private"] {
        assert!(ids(&imid(&format!("new {args}"), "").ok())[0].is_in(pair), "{args}");
    }
    let error = imid("new --type group --session alice --peer bob", "").error(2);
    assert_eq!(error, "--type: expected PRIVATE for a session with a peer, found GROUP");
    assert_eq!(imid("new --peer bob", "").status, 2);
}

#[test]
fn many_ids_strictly_increase() {
    let ids = ids(&imid("new -n 10000", "").ok());
    assert_eq!(ids.len(), 10_000);
    assert!(ids.is_sorted_by(|a, b| a < b));
    assert_eq!(imid("new -n 0", "").ok(), "");
}

#[test]
fn json_output_is_that_of_inspect() {
    let json = imid("new --json -n 3 --type rtc", "").ok();
    let texts: Vec<_> = json.lines().map(|line| line[7..26].to_owned()).collect();
    let inspected = imid(&format!("inspect --json {}", texts.join(" ")), "").ok();
    assert_eq!(inspected.replace(r#","form":"text""#, ""), json);
}

#[test]
fn a_wrong_type_is_an_error_that_lists_the_right_ones() {
    for wrong in ["16", "-1", "+3", "grup", ""] {
        let error = imid_args(&["new", "--type", wrong], "").error(2);
        assert!(error.contains("expected a code from 0 to 15 or one of PRIVATE, DISCUSSION, GROUP,"), "{error}");
        assert!(error.ends_with(&format!("found {wrong:?}")), "{error}");
    }
}

#[test]
fn a_count_is_a_whole_number() {
    for wrong in ["-1", "+1", "1.5", "x", "18446744073709551616"] {
        let error = imid_args(&["new", "-n", wrong], "").error(2);
        let expected = "-n: expected a whole number from 0 to 18446744073709551615, found ";
        assert_eq!(error, format!("{expected}{wrong:?}"));
        assert_eq!(imid_args(&["new", &format!("-n={wrong}")], "").error(2), error);
        assert_eq!(imid_args(&["new", &format!("-n{wrong}")], "").error(2), error);
    }
    assert_eq!(imid("new -n 2", "").ok().lines().count(), 2);
}

#[test]
fn a_run_repeats_no_id_of_the_run_before_it() {
    let run = || ids(&imid("new -n 50000 --session s", "").ok());
    let (first, second) = (run(), run());
    assert!(first.last() < second.first(), "{:?} is not before {:?}", first.last(), second.first());
}

#[test]
fn a_run_ahead_of_the_clock_waits_before_it_ends() {
    // An optimized tool gets this far ahead by itself, with 4,096 IDs per millisecond.
    let now = ids(&imid("new", "").ok())[0];
    let ahead = MessageId::last_at(now.timestamp_ms() + 700).unwrap();
    let first = ids(&imid(&format!("new -n 3 --after {ahead}"), "").ok());
    let second = ids(&imid("new", "").ok());
    assert!(ahead < first[0] && first[2] < second[0], "{first:?} and {second:?}");
}

#[test]
fn after_makes_all_ids_greater() {
    let now = ids(&imid("new", "").ok())[0];
    // As after a clock that was set back by ten minutes.
    let ahead = MessageId::last_at(now.timestamp_ms() + 600_000).unwrap();
    let run = imid(&format!("new -n 3 --after {ahead}"), "");
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(ids(&run.out).iter().all(|id| *id > ahead) && ids(&run.out).len() == 3, "{}", run.out);
    let last = run.out.lines().last().unwrap();
    assert!(run.err.starts_with("note: the last ID is ") && run.err.ends_with(&format!("give it --after {last}\n")));

    let error = imid("new --after x", "").error(2);
    assert!(error.starts_with("--after: \"x\" is not an ID: "), "{error}");
    let far = MessageId::MAX;
    let error = imid(&format!("new --after {far}"), "").error(1);
    assert!(error.starts_with(&format!("--after: {far} is ")) && error.ends_with(" s ahead of the clock"), "{error}");
}

#[test]
fn the_number_of_a_session_is_printed_for_sql() {
    let tag = ::imid::SessionTag::new(::imid::SessionType::GROUP, "room-42");
    assert_eq!(imid("new --type group --session room-42 --tag", "").ok(), format!("{}\n", tag.to_u32()));
    let pair = ::imid::SessionTag::pair("alice", "bob");
    assert_eq!(imid("new --session bob --peer alice --tag", "").ok(), format!("{}\n", pair.to_u32()));
    assert_eq!(imid("new --tag -n 2", "").status, 2);
}
