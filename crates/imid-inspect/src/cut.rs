//! Truncated IDs, and IDs with a wrong digit.

use imid::MessageId;

use crate::scheme::Id;

/// What is left of a standard ID whose end is missing: `EUNC-Q8QJ-22G…`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CutOff {
    /// The first ID that begins so.
    pub first: MessageId,
    /// The last ID that begins so.
    pub last: MessageId,
    /// Number of digits that are left, of 16.
    pub digits: usize,
}

/// A character that is not a digit of IDs, and the digits it is mistaken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WrongDigit {
    /// Its place in the text without the white space around it.
    pub at: usize,
    /// What is there.
    pub found: char,
    /// What fits there.
    pub fits: &'static str,
}

/// Number of digits of an ID.
const DIGITS: usize = 16;

/// The fewest digits that tell a time: 5 of them are 131 s.
const FEWEST: usize = 5;

impl CutOff {
    /// Reads the beginning of an ID, in upper or lower case, with or without its dashes, and with the dots of an ellipsis. It must
    /// have a digit, because a word can look like the beginning of an ID, and a plausible time.
    ///
    /// ```
    /// use imid_inspect::{CutOff, time};
    ///
    /// let cut = CutOff::read("EUNC-Q8QJ-22G…", 1_767_225_600_000).expect("the beginning of an ID");
    /// assert_eq!(time::rfc3339(cut.first.timestamp_ms()), "2025-11-20T19:10:00.000Z");
    /// assert_eq!(cut.first.timestamp_ms(), cut.last.timestamp_ms());
    /// ```
    pub fn read(text: &str, now_ms: u64) -> Option<Self> {
        let text = text.trim().trim_end_matches(['.', '…', '-', '*']);
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        // Each group but the last one is whole.
        let has_groups = text.split('-').rev().skip(1).all(|group| group.len() == 4);
        // Base 64 has letters of both cases.
        let is_one_case = digits == digits.to_ascii_lowercase() || digits == digits.to_ascii_uppercase();
        if !(FEWEST..DIGITS).contains(&digits.len())
            || !is_one_case
            || !has_groups
            || !digits.contains(|c: char| c.is_ascii_digit())
        {
            return None;
        }
        let filled = |digit: char| {
            let filled: String = digits.chars().chain(core::iter::repeat(digit)).take(DIGITS).collect();
            MessageId::parse_lenient(&filled).ok()
        };
        let (first, last) = (filled('2')?, filled('Z')?);
        let is_plausible = Id::from(first).is_plausible(now_ms) || Id::from(last).is_plausible(now_ms);
        is_plausible.then_some(Self { first, last, digits: digits.len() })
    }
}

impl WrongDigit {
    /// Finds the only wrong digit of a text that is a plausible ID with each of the digits that fit there.
    pub fn read(text: &str, now_ms: u64) -> Option<Self> {
        let text = text.trim();
        let (at, found) = text.char_indices().find(|(_, c)| "0OoIi1l|".contains(*c))?;
        let fits = if "0Oo".contains(found) { "DQ" } else { "LTJ7" };
        let repaired =
            |digit: char| text[..at].chars().chain([digit]).chain(text[at..].chars().skip(1)).collect::<String>();
        let is_id = |text: &String| MessageId::parse_lenient(text).is_ok_and(|id| Id::from(id).is_plausible(now_ms));
        fits.chars().map(repaired).any(|text| is_id(&text)).then_some(Self { at, found, fits })
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
                let cut = CutOff::read(&text, NOW).expect(&text);
                assert!(cut.first <= whole && whole <= cut.last && cut.first < cut.last, "{text}");
                assert_eq!(cut.digits, id[..end].replace('-', "").len());
                // A digit has 5 bits, and the 38 bits below the time are cut off first.
                let ms = cut.last.timestamp_ms() - cut.first.timestamp_ms() + 1;
                assert_eq!(ms, 1_u64 << (5 * (16 - cut.digits)).saturating_sub(38), "{text}");
            }
        }
        assert_eq!(CutOff::read("euncq8qj22g", NOW), CutOff::read("EUNC-Q8QJ-22G…", NOW));
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
            assert_eq!(CutOff::read(text, NOW), None, "{text}");
        }
    }

    #[test]
    fn a_wrong_digit_has_a_place_and_what_fits() {
        for (text, at, found, fits) in [
            ("EUNC-Q8QJ-22GH-T30D", 17, '0', "DQ"),
            ("eunc-o8qj-22gh-t3dd", 5, 'o', "DQ"),
            (" EUNCQ8QJ22GHI3DD", 12, 'I', "LTJ7"),
        ] {
            assert_eq!(WrongDigit::read(text, NOW), Some(WrongDigit { at, found, fits }), "{text}");
        }
        // Two wrong digits, none, and a first one that no plausible time has.
        for text in ["EUNC-00QJ-22GH-T3DD", "EUNC-Q8QJ-22GH-T3DD", "1UNC-Q8QJ-22GH-T3DD"] {
            assert_eq!(WrongDigit::read(text, NOW), None, "{text}");
        }
    }
}
