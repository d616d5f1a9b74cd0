use super::*;

const LANE: &str =
    "imid-lease/1 lane version=17 token=9f86d081884c7d65 holder=web-3 horizon=10000 ceiling=1795204812345 held";
const META: &str = "imid-lease/1 meta version=1 token=5b1f6c0e9d2a4477 \
     layout=imid-80 bits=4 era=1 floor=1795204812345 space=0f8fad5b-d9cb-469f-a165-70867728950e";

const REGISTER: &str = "imid-lease/1 register id=7c9e6679-7425-40de-944b-e07fc1f90ae7";

#[test]
fn records_read_as_they_are_written() {
    let lane = LaneRecord {
        version: 17,
        token: Token(0x9f86_d081_884c_7d65),
        holder: Name::parse("web-3").unwrap(),
        horizon_ms: 10_000,
        ceiling_ms: 1_795_204_812_345,
        state: LaneState::Held,
    };
    assert_eq!(lane.to_string(), LANE);
    assert_eq!(LaneRecord::parse(LANE), Ok(lane.clone()));
    for state in [LaneState::Free, LaneState::Closed] {
        let lane = LaneRecord { state, ..lane.clone() };
        assert_eq!(LaneRecord::parse(&lane.to_string()), Ok(lane));
    }
    let meta = MetaRecord::parse(META).unwrap();
    assert_eq!(meta.to_string(), META);
    assert_eq!(RegisterRecord::parse(REGISTER).unwrap().to_string(), REGISTER);
    assert_eq!((meta.bits, meta.era, meta.floor_ms, meta.layout.as_str()), (4, 1, 1_795_204_812_345, "imid-80"));
}

#[test]
fn what_does_not_fit_is_named() {
    let lane = |from: &str, to: &str| LaneRecord::parse(&LANE.replace(from, to)).unwrap_err().to_string();
    assert!(
        lane("imid-lease/1", "imid-lease/2")
            .starts_with("expected a record of the format `imid-lease/1`, found \"imid-lease/2 lane")
    );
    assert_eq!(lane("1 lane", "1 meta"), "expected a record of a lane, found \"meta\"");
    assert_eq!(lane("version=17 ", ""), "expected the field `version=`, found \"token=9f86d081884c7d65\"");
    for number in ["017", "9223372036854775808", "18446744073709551615"] {
        let words = format!("expected a number below 2^63 in the field `version=`, found {number:?}");
        assert_eq!(lane("=17 ", &format!("={number} ")), words);
    }
    assert!(LaneRecord::parse(&LANE.replace("=17 ", "=9223372036854775807 ")).is_ok());
    assert_eq!(lane("9f86", "9F86"), "expected a token of 16 hexadecimal digits, found \"9F86d081884c7d65\"");
    assert_eq!(lane(" held", ""), "expected `held`, `free` or `closed`, found \"\"");
    assert_eq!(lane("held", "held x"), "expected the end of the record, found \"x\"");
    assert_eq!(
        lane("web-3", "a/b"),
        "expected a name of 1 to 64 of the characters A-Z, a-z, 0-9, '-', '_', '.' and ':', found \"a/b\""
    );
    let meta = |from: &str, to: &str| MetaRecord::parse(&META.replace(from, to)).unwrap_err().to_string();
    assert_eq!(meta("1 meta", "1 lane"), "expected a record that describes a space, found \"lane\"");
    assert_eq!(
        RegisterRecord::parse(LANE).unwrap_err().to_string(),
        "expected a record that names a register, found \"lane\""
    );
    assert!(meta("-d9cb", "d9cb").starts_with("expected a UUID, found"));
    assert_eq!(meta("bits=4", "bits=9999999999"), "expected a number of bits, found \"9999999999\"");
}

/// A record that lost its end, as a torn write leaves it, is never read as another record.
#[test]
fn no_beginning_of_a_record_is_a_record() {
    for text in [LANE, META, REGISTER] {
        for end in 0..text.len() {
            let text = &text[..end];
            assert!(LaneRecord::parse(text).is_err() && MetaRecord::parse(text).is_err());
            assert!(RegisterRecord::parse(text).is_err());
        }
    }
}

#[test]
fn a_uuid_has_its_version_and_variant_and_one_form() {
    for bits in [0, u128::MAX, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef] {
        let text = uuid(bits);
        assert_eq!(text.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&text.as_bytes()[19]), "{text}");
        let record = format!("imid-lease/1 register id={text}");
        assert_eq!(RegisterRecord::parse(&record).unwrap().to_string(), record);
        for wrong in
            [text.to_uppercase().replace('4', "A"), text.replace('-', ""), format!("{text}0"), text[1..].to_owned()]
        {
            RegisterRecord::parse(&format!("imid-lease/1 register id={wrong}")).unwrap_err();
        }
    }
}

#[test]
fn a_key_names_its_lane_in_its_era() {
    let space = Space::lanes(4).unwrap();
    assert_eq!(space.lane_key(2, 7), "lanes/2/00007");
    assert_eq!(space.lane_of("lanes/2/00007", 2), Some(7));
    for key in ["lanes/1/00007", "lanes/2/00016", "lanes/2/x", "lanes/meta", "lanes2/2/00007", "lanes"] {
        assert_eq!(space.lane_of(key, 2), None, "{key}");
    }
}

#[test]
fn a_space_has_a_plain_name_and_few_bits() {
    let refused = |space: Result<Space, SpaceError>| space.unwrap_err().to_string();
    let name = "expected a name of 1 to 64 of the characters A-Z, a-z, 0-9, '-', '_', '.' and ':', found ";
    assert_eq!(refused(Space::new("my lanes", "x", 1)), format!("{name}\"my lanes\""));
    assert_eq!(refused(Space::new("a", "", 1)), format!("{name}\"\""));
    assert_eq!(refused(Space::new("a", "b", 17)), "expected at most 16 lane bits, found 17");
    assert_eq!(refused(Space::lanes(13)), "expected at most 12 lane bits, found 13");
    assert_eq!(Space::new("a", "b", 16).unwrap().lane_count(), 65_536);
    assert!(Space::lanes(12).unwrap().has_generator_lanes());
    assert!(!Space::new("lanes", "snowflake", 12).unwrap().has_generator_lanes());
}
