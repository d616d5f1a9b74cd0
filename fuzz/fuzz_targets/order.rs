//! Law: IDs sort as their integers, bytes, texts and hex digits do.
#![no_main]

use imid::MessageId;
use libfuzzer_sys::fuzz_target;

type Bytes = [u8; MessageId::BYTE_LEN];

// `shared` bytes of the second ID are those of the first, so that each byte decides the order in some inputs.
fuzz_target!(|input: (Bytes, Bytes, u8)| {
    let (a, mut b, shared) = input;
    let shared = usize::from(shared) % (MessageId::BYTE_LEN + 1);
    b[..shared].copy_from_slice(&a[..shared]);

    let order = a.cmp(&b);
    let (a, b) = (MessageId::from_bytes(a), MessageId::from_bytes(b));
    assert_eq!(a.cmp(&b), order);
    assert_eq!(a == b, order.is_eq());
    assert_eq!(a.to_u128().cmp(&b.to_u128()), order);
    assert_eq!(a.to_bytes().cmp(&b.to_bytes()), order);
    assert_eq!(a.to_string().cmp(&b.to_string()), order);
    assert_eq!(a.to_text().cmp(&b.to_text()), order);
    assert_eq!(format!("{a:x}").cmp(&format!("{b:x}")), order);
    let fields = |id: MessageId| (id.timestamp_ms(), id.spin(), id.session_type(), id.session_hash().to_u32());
    assert_eq!(fields(a).cmp(&fields(b)), order);
});
