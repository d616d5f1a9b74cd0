//! Truncated IDs, and IDs with a wrong digit.

use core::ops::Range;

use imid::MessageId;
use imid::dialect::{Dialect, DialectId};

use crate::find::is_one_case;
use crate::identify::Rank;
use crate::scheme::Id;

/// What is left of an ID whose end is missing: `EUNC-Q8QJ-22G…`.
#[derive(Clone, Copy, Debug)]
pub struct CutOff {
    /// The first ID that begins so.
    pub first: Id,
    /// The last ID that begins so.
    pub last: Id,
    /// Number of digits that are left, of 16.
    pub digits: usize,
}

/// A word that is not all of an ID.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Its bytes in the text.
    pub at: Range<usize>,
    /// What is wrong with it.
    pub kind: BrokenKind,
}

/// What is wrong with a word.
#[derive(Clone, Debug)]
pub enum BrokenKind {
    /// It is the beginning of an ID, of each of these schemes, most likely first.
    CutOff(Vec<CutOff>),
    /// It is an ID with a wrong digit, with one too many, or in base64 without its padding.
    Mistyped {
        /// The place of the character in the text without the white space around it, or its end if the end is missing.
        at: usize,
        /// The texts with one of the digits that are mistaken for it, without it, or with the end.
        texts: Vec<String>,
    },
}

/// Number of digits of an ID.
const DIGITS: usize = 16;

/// The fewest digits that tell a time: 5 of them are 131 s.
const FEWEST: usize = 5;

impl CutOff {
    /// Reads the beginning of an ID, in upper or lower case, with or without its dashes, and with the dots of an ellipsis. It must
    /// have a digit, because a word can look like the beginning of an ID, and a likely time. If several dialects have such an
    /// ID, the most likely one is first; there is one if it is a standard ID of the years of imid.
    ///
    /// ```
    /// use imid_inspect::{CutOff, time};
    ///
    /// let cut = &CutOff::read("EUNC-Q8QJ-22G…", 1_767_225_600_000)[0];
    /// assert_eq!(time::rfc3339(cut.first.timestamp_ms()), "2025-11-20T19:10:00.000Z");
    /// assert_eq!(cut.first.timestamp_ms(), cut.last.timestamp_ms());
    /// ```
    pub fn read(text: &str, now_ms: u64) -> Vec<Self> {
        let text = text.trim().trim_end_matches(['.', '…', '-', '*']);
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        // Each group but the last one is whole.
        let has_groups = text.split('-').rev().skip(1).all(|group| group.len() == 4);
        let has_digit = digits.contains(|c: char| c.is_ascii_digit());
        // Base 64 has letters of both cases.
        let is_cut = has_groups && has_digit && is_one_case(digits.as_bytes());
        if !is_cut || !(FEWEST..DIGITS).contains(&digits.len()) {
            return Vec::new();
        }
        let filled = |dialect: &'static Dialect<'static>, byte: u8| {
            let end = DialectId::from_bytes([byte; MessageId::BYTE_LEN], dialect.layout());
            let digit = dialect.to_text(end).ok()?.chars().next_back()?;
            let filled: String = digits.chars().chain(core::iter::repeat(digit)).take(DIGITS).collect();
            Some(Id::Message { dialect, id: dialect.parse_lenient(&filled).ok()? })
        };
        let cut = |dialect| {
            let (first, last) = (filled(dialect, 0)?, filled(dialect, u8::MAX)?);
            // The type is cut off, or the same in both.
            let code = |id: Id| id.session().map(|(code, _)| code);
            let fit = |id: Id| if code(first) == code(last) { id.fit(now_ms) } else { id.fit_of_time(now_ms, true) };
            let best = if fit(first) <= fit(last) { first } else { last };
            let is_likely = fit(best).rank <= Rank::Imported && best.is_listed();
            is_likely.then(|| (fit(best), Self { first, last, digits: digits.len() }))
        };
        let mut cuts: Vec<_> = Dialect::ALL.iter().filter_map(cut).collect();
        cuts.sort_by_key(|(fit, _)| *fit);
        let is_clear = cuts.first().is_some_and(|(_, best)| best.first.is_standard());
        cuts.truncate(if is_clear { 1 } else { cuts.len() });
        cuts.into_iter().map(|(_, cut)| cut).collect()
    }
}

impl BrokenKind {
    /// Reads a word that is the beginning of an ID, or that is one with a wrong digit.
    pub(crate) fn read(text: &str, now_ms: u64) -> Option<Self> {
        let cuts = CutOff::read(text, now_ms);
        if cuts.is_empty() { Self::repaired(text, now_ms) } else { Some(Self::CutOff(cuts)) }
    }

    /// Finds the only wrong digit of a text that is a plausible ID with each of the digits that are mistaken for it, or the digit
    /// that was typed twice.
    fn repaired(text: &str, now_ms: u64) -> Option<Self> {
        let text = text.trim();
        let is_lower = text.contains(|c: char| c.is_ascii_lowercase());
        let plausible = |text: &String| {
            let is_word = text.contains('-') || is_one_case(text.as_bytes());
            is_word && MessageId::parse_lenient(text).is_ok_and(|id| Id::from(id).is_plausible(now_ms))
        };
        let with = |at: usize, len: usize, digit: &str| [&text[..at], digit, &text[at + len..]].concat();
        let repairs = |at: usize, mut texts: Vec<String>| {
            texts.retain(plausible);
            (!texts.is_empty()).then_some(Self::Mistyped { at, texts })
        };
        if let Some((at, found)) = text.char_indices().find(|(_, c)| "0OoIi1l|".contains(*c)) {
            let fits = if "0Oo".contains(found) { "DQ" } else { "LTJ7" };
            let fits = if is_lower { fits.to_ascii_lowercase() } else { fits.to_owned() };
            return repairs(at, fits.chars().map(|digit| with(at, 1, digit.encode_utf8(&mut [0; 4]))).collect());
        }
        // A digit too many: the same one twice.
        let twice: Vec<_> = text.char_indices().zip(text.chars().skip(1)).filter(|((_, a), b)| a == b).collect();
        let ((at, _), _) = *twice.iter().find(|((at, digit), _)| plausible(&with(*at, digit.len_utf8(), "")))?;
        let mut texts: Vec<_> = twice.iter().map(|((at, digit), _)| with(*at, digit.len_utf8(), "")).collect();
        texts.dedup();
        repairs(at, texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_767_225_600_000;

    #[test]
    fn each_beginning_of_an_id_has_its_bounds() {
        let id = "EUNC-Q8QJ-22GH-T3DD";
        let whole: MessageId = id.parse().unwrap();
        for end in 7..id.len() {
            for text in [id[..end].to_owned(), id[..end].to_lowercase(), format!(" {}...", &id[..end])] {
                let [cut] = CutOff::read(&text, NOW)[..] else { panic!("{text}") };
                let (first, last) = (cut.first.sort_key(), cut.last.sort_key());
                assert!(cut.first.is_standard() && first <= whole && whole <= last && first < last, "{text}");
                assert_eq!(cut.digits, id[..end].replace('-', "").len());
                // A digit has 5 bits, and the 38 bits below the time are cut off first.
                let ms = cut.last.timestamp_ms() - cut.first.timestamp_ms() + 1;
                assert_eq!(ms, 1_u64 << (5 * (16 - cut.digits)).saturating_sub(38), "{text}");
            }
        }
        let end = |text| CutOff::read(text, NOW)[0].last.to_string();
        assert_eq!(end("euncq8qj22g"), end("EUNC-Q8QJ-22G…"));
        for text in [
            "",
            "EUNC",
            "EUNC-Q8QJ-22GH-T3DD",
            "EUN-CQ8Q",
            "hello",
            "EUNC-Q0QJ",
            "2222-2222",
            "EUNC-face",
            "Eunc-Q8QJ",
            "É8NC-Q8QJ",
        ] {
            assert!(CutOff::read(text, NOW).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_cut_off_id_of_another_dialect_has_its_time() {
        let read = |text: &str| {
            let cuts = CutOff::read(text, NOW);
            cuts.iter().map(|cut| (cut.first.scheme_name(), cut.first.timestamp_ms() / 1_000)).collect::<Vec<_>>()
        };
        let (of_2025, of_2016) = (("rongcloud", 1_758_619_309), ("standard", 1_466_280_243));
        assert_eq!(read("CPEN-GH7K-ECA4"), [of_2025, of_2016]);
        assert_eq!(read("cpen-gh7k"), [("rongcloud", 1_758_619_309), ("standard", 1_466_280_243)]);
        // The type is known from the twelfth digit on, and RongCloud has no type 15.
        assert_eq!(read("CPEN-GH7K-EFTS"), [of_2016]);
        assert_eq!(read("BUFE-A62U-32C4-0"), [("rongcloud", 1_642_750_828)]);
        assert_eq!(read("pb9hvkf86lyr"), [("juggleim", 1_795_194_000)]);
    }

    #[test]
    fn a_wrong_digit_has_a_place_and_repairs() {
        let cases: [(&str, usize, char, &[&str]); 5] = [
            ("EUNC-Q8QJ-22GH-T30D", 17, '0', &["EUNC-Q8QJ-22GH-T3DD", "EUNC-Q8QJ-22GH-T3QD"]),
            ("eunc-o8qj-22gh-t3dd", 5, 'o', &["eunc-d8qj-22gh-t3dd", "eunc-q8qj-22gh-t3dd"]),
            (
                " EUNCQ8QJ22GHI3DD",
                12,
                'I',
                &["EUNCQ8QJ22GHL3DD", "EUNCQ8QJ22GHT3DD", "EUNCQ8QJ22GHJ3DD", "EUNCQ8QJ22GH73DD"],
            ),
            ("EUNC-Q8QJ-222GH-T3DD", 10, '2', &["EUNC-Q8QJ-22GH-T3DD"]),
            ("EUNCQ8QJ22GHT3DDD", 8, '2', &["EUNCQ8QJ2GHT3DDD", "EUNCQ8QJ22GHT3DD"]),
        ];
        for (text, at, found, repaired) in cases {
            let Some(BrokenKind::Mistyped { at: place, texts }) = BrokenKind::read(text, NOW) else { panic!("{text}") };
            let has_place = place == at && text.trim()[place..].starts_with(found);
            assert!(has_place && texts == repaired, "{text}: {place} {texts:?}");
        }
        // Two wrong digits, none, a first one that no plausible time has, and a digit too many in another place.
        for text in ["EUNC-00QJ-22GH-T3DD", "EUNC-Q8QJ-22GH-T3DD", "1UNC-Q8QJ-22GH-T3DD", "EUNC-Q8QJ-2ZGHA-T3DE"] {
            assert!(BrokenKind::read(text, NOW).is_none(), "{text}");
        }
    }
}
