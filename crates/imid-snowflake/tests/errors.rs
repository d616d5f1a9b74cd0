//! The errors of IDs, layouts and generators: their sizes, and that nothing is hidden behind their words. The tests beside them
//! assert the words.
#![cfg(target_has_atomic = "64")]

use imid_snowflake::{
    BuildError, GenerateError, Generator, Layout, LengthError, ParseError, Preset, RangeError, Snowflake,
    TimeRangeError,
};

#[test]
fn a_length_error_has_the_number_of_bytes() {
    for length in [0, 1, 7, 9, 10, 16, 19] {
        let error = Snowflake::from_slice(&[b'2'; 20][..length], Layout::TWITTER).unwrap_err();
        assert_eq!(error.to_string(), format!("expected 8 bytes, found {length}"));
        assert_eq!(error.found(), length);
    }
}

/// A small result is returned in registers or in a few words.
#[test]
fn errors_are_small() {
    for (size, most) in [
        (size_of::<BuildError>(), 40),
        (size_of::<GenerateError>(), 24),
        (size_of::<LengthError>(), 8),
        (size_of::<ParseError>(), 16),
        (size_of::<RangeError>(), 32),
        (size_of::<TimeRangeError>(), 40),
    ] {
        assert!(size <= most, "{size} {most}");
    }
}

#[test]
fn errors_have_no_hidden_source() {
    fn alone(error: &dyn std::error::Error) -> bool {
        error.source().is_none()
    }
    assert!(alone(&Snowflake::from_slice(&[], Layout::TWITTER).unwrap_err()));
    assert!(alone(&Layout::TWITTER.parse("").unwrap_err()));
    assert!(alone(&Layout::builder().tick_bits(49).build().unwrap_err()));
    assert!(alone(&Layout::TWITTER.first_at(0).unwrap_err()));
    // The message of these errors is already that of the range error inside them.
    assert!(alone(&Layout::TWITTER.range(0..5).unwrap_err()));
    assert!(alone(&Generator::try_new(Preset::TWITTER, 1_024).unwrap_err()));
    let ids = Generator::builder(Preset::TWITTER).node(1).clock(imid::clock::ManualClock::new(0)).build().unwrap();
    assert!(alone(&ids.generate().unwrap_err()));
}
