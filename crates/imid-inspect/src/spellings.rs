//! One ID in each form that it has in logs, dumps and tables.

use core::ops::Range;
use std::collections::HashSet;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use imid::MessageId;
use memchr::memmem;

use crate::find::{Found, starts_alone};
use crate::form::{Form, Read, ReadForm};
use crate::scheme::Id;

/// Finds one ID: its text in both cases, with and without dashes, its hex digits, its integer, its UUID view, and its bytes and
/// those of the view as clients print them: base64, pairs of hex digits, lists, escapes and dumps.
///
/// ```
/// use imid_inspect::{STANDARD, Spellings};
///
/// let id = STANDARD.parse(b"EMAQ-2948-WCRV-T3DD")?;
/// let row = br"\x64d1601c46e2afbc856b,476098943286636231558507,emaq2948wcrvt3dd";
/// assert_eq!(Spellings::new(id).find_in(row).len(), 3);
/// # Ok::<(), imid_inspect::ReadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spellings {
    id: Id,
    texts: Vec<(ReadForm, String)>,
}

impl Spellings {
    /// Returns the spellings of an ID.
    pub fn new(id: Id) -> Self {
        let mut spellings = Self::short(id);
        let mut known: HashSet<_> = spellings.texts.iter().map(|(_, text)| text.clone()).collect();
        let all = bytes_of(id).flat_map(|bytes| printed(&bytes));
        spellings.texts.extend(all.filter(|text| known.insert(text.clone())).map(|text| (ReadForm::Bytes, text)));
        spellings
    }

    /// Returns the spellings that are one word, or a word with dashes.
    pub fn short(id: Id) -> Self {
        let mut texts = Vec::new();
        let mut add = |form, text: String| {
            for text in [text.to_ascii_lowercase(), text.to_ascii_uppercase(), text] {
                if !texts.iter().any(|(_, known)| *known == text) {
                    texts.push((form, text));
                }
            }
        };
        let text = id.to_string();
        add(ReadForm::LenientText, text.replace('-', ""));
        add(ReadForm::Exact(Form::Text), text);
        for form in [Form::Hex, Form::Int, Form::Uuid] {
            if let Some(text) = id.in_form(form) {
                add(ReadForm::Exact(form), text.replace('-', ""));
                add(ReadForm::Exact(form), text);
            }
        }
        for bytes in bytes_of(id) {
            for engine in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
                let text = engine.encode(&bytes);
                if !texts.iter().any(|(_, known)| *known == text) {
                    texts.push((ReadForm::Base64, text));
                }
            }
        }
        Self { id, texts }
    }

    /// Returns each spelling with its form.
    pub fn iter(&self) -> impl Iterator<Item = (ReadForm, &str)> {
        self.texts.iter().map(|(form, text)| (*form, text.as_str()))
    }

    /// Returns all places of the ID in a text, in order.
    pub fn find_in(&self, text: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        for (form, spelling) in self.iter() {
            for start in memmem::find_iter(text, spelling) {
                let at = start..start + spelling.len();
                if Self::is_whole(form, text, &at) {
                    found.push(Found { at, read: Read { id: self.id, form } });
                }
            }
        }
        found.sort_by_key(|found| found.at.start);
        found
    }

    /// Returns whether a spelling of this form begins and ends at a place in a text, and is not a part of a longer word.
    pub fn is_whole(form: ReadForm, text: &[u8], at: &Range<usize>) -> bool {
        let (before, after) = (text[..at.start].last(), text.get(at.end));
        if form == ReadForm::Bytes && text[at.clone()].contains(&b'\\') {
            // Ten bytes of ten are no chance, and what is beside them are other bytes.
            return true;
        }
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
        if form == ReadForm::Base64 {
            return !before.is_some_and(is_base64) && !after.is_some_and(is_base64);
        }
        let has_prefix = matches!(text[..at.start], [.., b'0' | b'\\', b'x' | b'X']);
        !after.is_some_and(u8::is_ascii_alphanumeric) && (has_prefix || starts_alone(text, at.start))
    }
}

/// Returns the bytes of an ID, and those of its view.
fn bytes_of(id: Id) -> impl Iterator<Item = Vec<u8>> {
    let id = if let Id::Message { id, .. } = id { Some(id) } else { None };
    let view = id.and_then(|id| Some(MessageId::try_from(id).ok()?.to_uuid_bytes().to_vec()));
    id.map(|id| id.to_bytes().to_vec()).into_iter().chain(view)
}

/// Returns bytes as clients print them, without what is around them.
fn printed(bytes: &[u8]) -> Vec<String> {
    let list = |byte: &dyn Fn(u8) -> String, separator: &str| {
        bytes.iter().map(|each| byte(*each)).collect::<Vec<_>>().join(separator)
    };
    let mut texts = Vec::new();
    // Pairs of hex digits, in a list of C and Go as well, whose `%#v` has no zero before a digit.
    for hex in [|byte| format!("{byte:02x}"), |byte| format!("{byte:02X}")] as [fn(u8) -> String; 2] {
        texts.extend([" ", ":", "-"].map(|separator| list(&hex, separator)));
        texts.extend([", ", ","].map(|separator| list(&|byte| format!("0x{}", hex(byte)), separator)));
    }
    texts.extend([", ", ","].map(|separator| list(&|byte| format!("{byte:#x}"), separator)));
    for separator in [", ", ",", " "] {
        texts.extend([
            list(&|byte| byte.to_string(), separator),
            list(&|byte| byte.cast_signed().to_string(), separator),
        ]);
    }
    // xxd, and `hexdump -C`, which has a wider space in the middle.
    let pairs = |bytes: &[u8], separator: &str| {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(separator)
    };
    texts.push(bytes.chunks(2).map(|two| pairs(two, "")).collect::<Vec<_>>().join(" "));
    texts.push(bytes.chunks(8).map(|eight| pairs(eight, " ")).collect::<Vec<_>>().join("  "));
    // Escapes of languages and redis-cli, all or where a byte cannot be seen, and PostgreSQL's in octal.
    let named = |byte: u8, names: &[(u8, char)]| {
        let name = names.iter().find(|(known, _)| *known == byte);
        name.map_or_else(|| format!("\\x{byte:02x}"), |(_, name)| format!("\\{name}"))
    };
    let seen = |escape: &dyn Fn(u8) -> String, escaped: &str| {
        let is_plain = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && !escaped.contains(char::from(byte));
        list(&|byte| if is_plain(byte) { char::from(byte).to_string() } else { escape(byte) }, "")
    };
    let python = [(b'\n', 'n'), (b'\r', 'r'), (b'\t', 't'), (b'\\', '\\'), (b'\'', '\''), (b'"', '"')];
    let redis = [&python[..], &[(7, 'a'), (8, 'b')]].concat();
    texts.push(list(&|byte| format!("\\x{byte:02x}"), ""));
    for escaped in ["\\'", "\\\"", "\\'\"", "\\"] {
        texts.extend([seen(&|byte| named(byte, &python), escaped), seen(&|byte| named(byte, &redis), escaped)]);
    }
    texts.push(seen(&|byte| if byte == b'\\' { "\\\\".to_owned() } else { format!("\\{byte:03o}") }, "\\"));
    // In JSON and in an export, a backslash is written twice.
    let doubled: Vec<_> =
        texts.iter().filter(|text| text.contains('\\')).map(|text| text.replace('\\', "\\\\")).collect();
    texts.extend(doubled);
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::STANDARD;

    #[test]
    fn an_id_is_found_in_each_form_and_not_in_a_longer_word() {
        let spellings = Spellings::new(STANDARD.parse(b"EUNC-Q8QJ-22GH-T3DD").unwrap());
        let found = |text: &str| spellings.find_in(text.as_bytes()).len();
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
