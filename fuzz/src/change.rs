//! Makes texts that are nearly right. Random bytes are seldom nearly right.

use libfuzzer_sys::arbitrary::{self, Arbitrary};

/// A change that makes a right text nearly right.
#[derive(Arbitrary, Debug)]
pub enum Change<'a> {
    None,
    Byte { at: u16, byte: u8 },
    Flip { at: u16, bit: u8 },
    Odd { at: u16, pick: u8 },
    Cut { at: u16 },
    Append(&'a [u8]),
}

/// Returns the text after these changes. Its memory is as long as the text, so that a read past the end is found.
pub fn changed(text: &[u8], changes: &[Change]) -> Box<[u8]> {
    let mut text = text.to_vec();
    for change in changes {
        match *change {
            Change::None => {}
            Change::Byte { at, byte } => replace(&mut text, at, |_| byte),
            Change::Flip { at, bit } => replace(&mut text, at, |byte| byte ^ 1 << (bit % 8)),
            Change::Odd { at, pick } => replace(&mut text, at, |_| ODD[usize::from(pick) % ODD.len()]),
            Change::Cut { at } => text.truncate(usize::from(at) % (text.len() + 1)),
            Change::Append(bytes) => text.extend(bytes),
        }
    }
    text.into()
}

/// Bytes that a wrong reader could take for a digit, a dash or white space: neighbours and similar characters.
const ODD: &[u8] = b",-./01:@IO[`aioz{\0\x7F\x80\xFF \t\n\x0B\x0C\r\x1C\x85\xA0";

fn replace(text: &mut [u8], at: u16, with: impl Fn(u8) -> u8) {
    if !text.is_empty() {
        let at = usize::from(at) % text.len();
        text[at] = with(text[at]);
    }
}
