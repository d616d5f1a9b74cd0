//! One ID in each form that it has in logs, dumps and tables.

use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use core::ops::Range;

use crate::find::starts_alone;
use crate::form::Form;
use crate::scheme::Id;

/// Returns what to search for one ID: the [short spellings](short_spellings), and the bytes and those of the view as clients
/// print them: pairs of hex digits, lists, escapes and dumps.
///
/// ```
/// use imid_inspect::{STANDARD, is_whole, spellings};
///
/// let id = STANDARD.parse(b"EMAQ-2948-WCRV-T3DD").expect("an ID");
/// let row = r"\x64d1601c46e2afbc856b,476098943286636231558507,emaq2948wcrvt3dd";
/// let is_there = |form, start, spelling: &str| is_whole(form, row.as_bytes(), &(start..start + spelling.len()));
/// let spellings = spellings(id);
/// let found = spellings.iter().filter(|(form, text)| row.find(text).is_some_and(|start| is_there(*form, start, text)));
/// assert_eq!(found.count(), 3);
/// ```
pub fn spellings(id: Id) -> Vec<(Form, String)> {
    let printed = bytes_of(id).flat_map(|bytes| printed(&bytes)).map(|text| (Form::Bytes, text));
    without_repeats(short_spellings(id).into_iter().chain(printed))
}

/// Returns the spellings that are one word, or a word with dashes: the text in both cases, with and without dashes, the hex digits,
/// the integer, the UUID view, and base64.
pub fn short_spellings(id: Id) -> Vec<(Form, String)> {
    let forms = [Form::LenientText, Form::Text, Form::Hex, Form::Int, Form::Uuid];
    let words = forms.into_iter().filter_map(|form| Some((form, id.in_form(form)?))).flat_map(|(form, text)| {
        let dashes = [text.replace('-', ""), text];
        dashes
            .into_iter()
            .flat_map(move |text| [text.to_ascii_lowercase(), text.to_ascii_uppercase(), text].map(|text| (form, text)))
    });
    let base64 = bytes_of(id).flat_map(|bytes| {
        let text = BASE64_STANDARD_NO_PAD.encode(&bytes);
        let url_safe = text.replace('+', "-").replace('/', "_");
        [text, url_safe].map(|text| (Form::Base64, text))
    });
    without_repeats(words.chain(base64))
}

fn without_repeats(texts: impl Iterator<Item = (Form, String)>) -> Vec<(Form, String)> {
    let mut spellings = Vec::<(Form, String)>::new();
    for (form, text) in texts {
        if !spellings.iter().any(|(_, known)| *known == text) {
            spellings.push((form, text));
        }
    }
    spellings
}

/// Returns whether a spelling of this form begins and ends at a place in a text, and is not a part of a longer word.
pub fn is_whole(form: Form, text: &[u8], at: &Range<usize>) -> bool {
    let (before, after) = (text[..at.start].last(), text.get(at.end));
    if form == Form::Bytes && text[at.clone()].contains(&b'\\') {
        // Ten bytes of ten are no chance, and what is beside them are other bytes.
        return true;
    }
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    if form == Form::Base64 {
        return !before.is_some_and(is_base64) && !after.is_some_and(is_base64);
    }
    let has_prefix = matches!(text[..at.start], [.., b'0' | b'\\', b'x' | b'X']);
    !after.is_some_and(u8::is_ascii_alphanumeric) && (has_prefix || starts_alone(text, at.start))
}

/// Returns the bytes of an ID, and those of its view.
fn bytes_of(id: Id) -> impl Iterator<Item = Vec<u8>> {
    let (scheme, key) = (id.scheme(), id.sort_key());
    let view = scheme.has_uuid().then(|| key.to_uuid_bytes().to_vec());
    scheme.is_text().then(|| key.to_bytes().to_vec()).into_iter().chain(view)
}

/// Writes one byte.
type Print = fn(u8) -> String;

/// How clients print a byte of a list, and what is between two: pairs of hex digits, the numbers of C and of Go, whose `%#v` has no
/// zero before a digit, and decimal numbers, signed as in Java or not.
const LISTS: [(Print, &[&str]); 7] = [
    (|byte| format!("{byte:02x}"), &[" ", ":", "-"]),
    (|byte| format!("{byte:02X}"), &[" ", ":", "-"]),
    (|byte| format!("0x{byte:02x}"), &[", ", ","]),
    (|byte| format!("0x{byte:02X}"), &[", ", ","]),
    (|byte| format!("{byte:#x}"), &[", ", ","]),
    (|byte| byte.to_string(), &[", ", ",", " "]),
    (|byte| byte.cast_signed().to_string(), &[", ", ",", " "]),
];

/// The groups of `xxd`, and of `hexdump -C`, which has a wider space in the middle: their bytes, and what is between two bytes and
/// two groups.
const DUMPS: [(usize, &str, &str); 2] = [(2, "", " "), (8, " ", "  ")];

/// The bytes that languages and redis-cli write as a backslash and a character. The last two are redis-cli's alone.
const NAMED: &[u8; 16] = b"\nn\rr\tt\\\\''\"\"\x07a\x08b";

/// Returns bytes as clients print them, without what is around them.
fn printed(bytes: &[u8]) -> Vec<String> {
    let list = |bytes: &[u8], byte: &dyn Fn(u8) -> String, separator: &str| {
        bytes.iter().map(|each| byte(*each)).collect::<Vec<_>>().join(separator)
    };
    let mut texts = Vec::new();
    for (byte, separators) in LISTS {
        texts.extend(separators.iter().map(|separator| list(bytes, &byte, separator)));
    }
    for (size, separator, gap) in DUMPS {
        let groups = bytes.chunks(size).map(|group| list(group, &LISTS[0].0, separator));
        texts.push(groups.collect::<Vec<_>>().join(gap));
    }
    // Escapes of all bytes, or of those that cannot be seen and of those that would end the literal; and PostgreSQL's in octal.
    let escaped = |escape: &dyn Fn(u8) -> String, ends: &str| {
        let is_plain = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && !ends.contains(char::from(byte));
        list(bytes, &|byte| if is_plain(byte) { char::from(byte).to_string() } else { escape(byte) }, "")
    };
    let hex = |byte: u8| format!("\\x{byte:02x}");
    texts.push(list(bytes, &hex, ""));
    for (ends, names) in ["\\'", "\\\"", "\\'\"", "\\"].iter().flat_map(|ends| [(ends, &NAMED[..12]), (ends, NAMED)]) {
        let named = |byte: u8| names.chunks(2).find(|named| named[0] == byte).map(|named| char::from(named[1]));
        texts.push(escaped(&|byte| named(byte).map_or_else(|| hex(byte), |name| format!("\\{name}")), ends));
    }
    texts.push(escaped(&|byte| if byte == b'\\' { "\\\\".to_owned() } else { format!("\\{byte:03o}") }, "\\"));
    // In JSON and in an export, a backslash is written twice.
    let doubled = texts.iter().filter(|text| text.contains('\\')).map(|text| text.replace('\\', "\\\\"));
    let doubled: Vec<_> = doubled.collect();
    texts.extend(doubled);
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::STANDARD;

    #[test]
    fn an_id_is_found_in_each_form_and_not_in_a_longer_word() {
        let spellings = spellings(STANDARD.parse(b"EUNC-Q8QJ-22GH-T3DD").unwrap());
        let is_whole =
            |text: &str, form, at: usize, spelling: &str| is_whole(form, text.as_bytes(), &(at..at + spelling.len()));
        let found = |text: &str| -> usize {
            let places = |(form, spelling): &(Form, String)| {
                text.match_indices(spelling).filter(|(at, _)| is_whole(text, *form, *at, spelling)).count()
            };
            spellings.iter().map(places).sum()
        };
        for text in [
            "EUNC-Q8QJ-22GH-T3DD",
            "eunc-q8qj-22gh-t3dd",
            "chat-EUNC-Q8QJ-22GH-T3DD-orig",
            "EUNCQ8QJ22GHT3DD",
            "\\neuncq8qj22ght3dd",
            "66a8ab1ad0001cfc856b",
            "0x66A8AB1AD0001CFC856B",
            "\\\\x66a8ab1ad0001cfc856b",
            "X'66A8AB1AD0001CFC856B'",
            "484792763652715801511275",
            "019aa2ac-6b40-7007-8fc8-56bfffffffff",
            "019AA2AC6B4070078FC856BFFFFFFFFF",
            "ZqirGtAAHPyFaw==",
            "ZqirGtAAHPyFaw",
            "AZqirGtAcAePyFa//////w==",
            "AZqirGtAcAePyFa//////w",
        ] {
            assert_eq!(found(text), 1, "{text}");
            for text in [format!("\"{text}\","), format!("{text} "), format!("\t{text}\n")] {
                assert_eq!(found(&text), 1, "{text}");
            }
        }
        for text in [
            "EUNC-Q8QJ-22GH-T3DE",
            "Eunc-Q8QJ-22GH-T3DD",
            "xEUNCQ8QJ22GHT3DD",
            "1484792763652715801511275",
            "4847927636527158015112750",
            "zqirgtaahpyfaw",
            "+ZqirGtAAHPyFaw",
            "66a8ab1ad0001cfc856b00",
        ] {
            assert_eq!(found(text), 0, "{text}");
        }
        assert_eq!(found("EUNC-Q8QJ-22GH-T3DD ZqirGtAAHPyFaw== EUNC-Q8QJ-22GH-T3DD"), 3);
    }
}
