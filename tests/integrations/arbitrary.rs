//! arbitrary: values for fuzzing.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use imid::{IdParts, MessageId, SessionHash, SessionTag, SessionType};

#[test]
fn values_are_in_range_whatever_the_data_is() {
    let mut data = Unstructured::new(&[0xff; 64]);
    assert_eq!(MessageId::arbitrary(&mut data), Ok(MessageId::MAX));
    assert_eq!(IdParts::arbitrary(&mut data), Ok(MessageId::MAX.parts()));
    assert_eq!(SessionTag::arbitrary(&mut data), Ok(SessionTag::from_u32((1 << 26) - 1).unwrap()));
    assert_eq!(SessionHash::arbitrary(&mut data), Ok(SessionHash::from_u32((1 << 22) - 1).unwrap()));
    assert_eq!(SessionType::arbitrary(&mut data), Ok(SessionType::MAX));
}

#[test]
fn each_session_type_can_be_made() {
    let codes: Vec<u8> = (0..=255).collect();
    let mut data = Unstructured::new(&codes);
    let made: BTreeSet<SessionType> = (0..256).map(|_| SessionType::arbitrary(&mut data).unwrap()).collect();
    assert_eq!(made.len(), 16);
}

#[test]
fn a_value_takes_the_data_that_it_says() {
    fn taken<'a, T: Arbitrary<'a>>() -> usize {
        let mut data = Unstructured::new(&[7; 64]);
        T::arbitrary(&mut data).unwrap();
        let taken = 64 - data.len();
        assert_eq!(T::size_hint(0), (taken, Some(taken)));
        taken
    }
    assert_eq!([taken::<MessageId>(), taken::<IdParts>()], [10, 10]);
    assert_eq!([taken::<SessionTag>(), taken::<SessionHash>(), taken::<SessionType>()], [4, 4, 1]);
}
