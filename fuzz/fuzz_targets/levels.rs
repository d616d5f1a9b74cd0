//! Law: with AVX2 and without it, the codec writes and reads the same as the model.
#![no_main]

#[cfg(not(imid_levels))]
compile_error!("this target needs RUSTFLAGS=\"--cfg imid_levels\"; ci/fuzz.sh sets it");

use std::fmt::Debug;

use imid::codec::{self, LINE_LEN, allow_avx2};
use imid::{MessageId, message_id};
use imid_fuzz::model::{self, Fault};
use imid_fuzz::{Change, changed};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// The first ID and the distance from each ID to the next, so that 20 bytes make any number of IDs.
    first: [u8; MessageId::BYTE_LEN],
    step: [u8; MessageId::BYTE_LEN],
    count: u8,
    room: u8,
    margin: u8,
    separator: u8,
    changes: [Change<'a>; 2],
}

/// Enough lines for many steps of two lines, and for a last line.
const MAX_COUNT: usize = 70;
const MAX_MARGIN: usize = 3;

fuzz_target!(init: say_if_avx2_is_missing(), |input: Input| {
    let at_most = |max: usize, byte: u8| usize::from(byte) % (max + 1);
    let Input { separator, changes, .. } = &input;
    let (first, ids) = ids(&input, at_most(MAX_COUNT, input.count));
    let (room, margin) = (at_most(MAX_COUNT, input.room), at_most(MAX_MARGIN, input.margin));

    let text = changed(&model::text(first), changes);
    let lines: Box<[_]> = ids.iter().map(|id| model::line(*id, *separator)).collect();
    let block = changed(lines.as_flattened(), changes);
    let (read, fault) = model::parse_lines(&block, *separator, room);

    for (level, _) in LEVELS.into_iter().filter(|(_, allowed)| allow_avx2(*allowed) == *allowed) {
        let output = Output { level, room, margin };
        a_text_is_written(&output, first);
        assert_eq!(MessageId::parse_bytes(&text).map_err(Fault::from), model::parse(&text), "{level}");
        output.becomes(&lines, [b'?'; LINE_LEN], |lines| codec::encode_lines(&ids, *separator, lines));
        output.becomes(&read, BLANK, |ids| match codec::decode_lines(&block, *separator, ids) {
            Ok(count) => {
                assert_eq!(fault, None, "{level}");
                count
            }
            Err(error) => {
                assert_eq!(fault, Some(error.error().into()), "{level}");
                error.index()
            }
        });
    }
});

/// The ID in places that have not been written.
const BLANK: MessageId = message_id!("BLNK-BLNK-BLNK-BLNK");

/// The names of the levels, and whether AVX2 is allowed.
const LEVELS: [(&str, bool); 2] = [("portable", false), ("AVX2", true)];

fn say_if_avx2_is_missing() {
    if !allow_avx2(true) {
        eprintln!("not run: this processor does not have AVX2");
    }
}

/// Returns a first ID and a series of `count` IDs that begins with it.
fn ids(input: &Input, count: usize) -> (MessageId, Box<[MessageId]>) {
    let [first, step] = [input.first, input.step].map(MessageId::from_bytes);
    let id = |index| (first.to_u128() + step.to_u128() * index) & MessageId::MAX.to_u128();
    let ids = (0..count as u128).map(|index| MessageId::from_u128(id(index)).expect("80 bits"));
    (first, ids.collect())
}

fn a_text_is_written(output: &Output, id: MessageId) {
    let (level, text) = (output.level, model::text(id));
    assert_eq!(id.to_text().as_bytes(), text, "{level}");
    assert_eq!(id.to_string().as_bytes(), text, "{level}");
    assert_eq!(String::from(id).as_bytes(), text, "{level}");
    let output = Output { room: text.len(), ..*output };
    output.becomes(&text, b'?', |buffer| {
        let shown = id.encode(buffer.try_into().expect("19 bytes"));
        assert_eq!(shown.as_bytes(), text, "{level}");
        shown.len()
    });
}

/// A slice to write to, between margins that must not change. Without margins the slice is all of its memory.
#[derive(Clone, Copy)]
struct Output {
    level: &'static str,
    room: usize,
    margin: usize,
}

impl Output {
    /// Asserts that `write` writes as much of `wanted` as there is room for, returns this number, and does not change
    /// the rest.
    fn becomes<T: Copy + PartialEq + Debug>(&self, wanted: &[T], blank: T, write: impl FnOnce(&mut [T]) -> usize) {
        let Self { level, room, margin } = *self;
        let mut memory = vec![blank; margin + room + margin].into_boxed_slice();
        let mut after = memory.clone();
        let count = room.min(wanted.len());
        after[margin..][..count].copy_from_slice(&wanted[..count]);

        assert_eq!(write(&mut memory[margin..][..room]), count, "{level}");
        assert_eq!(memory, after, "{level}");
    }
}
