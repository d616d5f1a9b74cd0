//! Finds many IDs, each in all of its forms, in one pass.

use imid_inspect::{Form, Found, Id, Read, is_whole, short_spellings, spellings};

/// IDs and their spellings, which are found by their first bytes.
pub(super) struct GivenIds {
    ids: Vec<Id>,
    /// Sorted by text. Each has the index of its ID.
    spellings: Vec<(Box<[u8]>, Form, u32)>,
    /// Number of bytes that are hashed: those of the shortest spelling, and at most 8.
    hashed: usize,
    /// One bit for each hash of the first bytes of a spelling.
    firsts: Vec<u64>,
}

/// The most IDs whose bytes are found as lists, escapes and dumps, too: they take 7 KB each. Of more IDs, the words are found.
pub(super) const FEW: usize = 10_000;

/// Bits of a hash. With 10^5 IDs, about one place in fifty of other text is looked up.
const HASH_BITS: u32 = 26;

impl GivenIds {
    pub(super) fn new(ids: Vec<Id>) -> Self {
        let mut known = Vec::<(Box<[u8]>, Form, u32)>::new();
        for (index, id) in (0..).zip(&ids) {
            let texts = if ids.len() > FEW { short_spellings(*id) } else { spellings(*id) };
            known.extend(texts.into_iter().map(|(form, text)| (Box::from(text.into_bytes()), form, index)));
        }
        known.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
        // An ID that is given twice is one.
        known.dedup_by(|(a, ..), (b, ..)| a == b);
        let hashed = known.iter().map(|(text, ..)| text.len()).min().unwrap_or(0).min(size_of::<u64>());
        let mut given = Self { ids, spellings: known, hashed, firsts: vec![0; 1 << (HASH_BITS - u64::BITS.ilog2())] };
        for index in 0..given.spellings.len() {
            let hash = given.hash(&given.spellings[index].0);
            given.firsts[hash / 64] |= 1 << (hash % 64);
        }
        given
    }

    /// Returns the hash of the first bytes of a text.
    fn hash(&self, text: &[u8]) -> usize {
        let mut first = [0; size_of::<u64>()];
        match text.first_chunk() {
            Some(chunk) if self.hashed == first.len() => first = *chunk,
            _ => first[..self.hashed].copy_from_slice(&text[..self.hashed]),
        }
        (u64::from_le_bytes(first).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - HASH_BITS)) as usize
    }

    /// Returns all places of the IDs in a text, in order.
    pub(super) fn find_in(&self, text: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        for start in 0..(text.len() + 1).saturating_sub(self.hashed) {
            let rest = &text[start..];
            let hash = self.hash(rest);
            if self.firsts[hash / 64] >> (hash % 64) & 1 == 0 {
                continue;
            }
            // The last spelling that is not after this text can be its start, or a number can be before it that is a beginning
            // of that one.
            let next = self.spellings.partition_point(|(spelling, ..)| **spelling <= *rest);
            let candidates = self.spellings[..next].iter().rev().take(2);
            for (spelling, form, id) in candidates.filter(|(spelling, ..)| rest.starts_with(spelling)) {
                let at = start..start + spelling.len();
                if is_whole(*form, text, &at) {
                    found.push(Found { at, read: Read { id: self.ids[*id as usize], form: *form } });
                    break;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use imid::{IdParts, MessageId, SessionTag};

    use super::*;

    #[test]
    fn many_ids_are_found_in_the_places_of_each() {
        // Neighbors, whose spellings begin alike.
        let id = |n: u64| {
            let session_tag = SessionTag::from_u32(n as u32 % 3).unwrap();
            let parts = IdParts { timestamp_ms: 1_763_640_000_000 + n / 7, spin: n as u16 % 7, session_tag };
            Id::from(MessageId::try_from_parts(parts).unwrap())
        };
        let given = GivenIds::new((0..30).map(|n| id(n * 2)).collect());
        let mut text = Vec::new();
        for n in 0..60 {
            for (_, spelling) in spellings(id(n)) {
                text.extend_from_slice(spelling.as_bytes());
                text.push(b' ');
            }
        }
        let found = given.find_in(&text);
        let mut expected = Vec::new();
        for n in 0..30 {
            for (form, spelling) in spellings(id(n * 2)) {
                let places = memchr::memmem::find_iter(&text, &spelling).map(|start| start..start + spelling.len());
                expected.extend(places.filter(|at| is_whole(form, &text, at)));
            }
        }
        expected.sort_by_key(|at| at.start);
        assert!(expected.len() > 1_000);
        assert!(found.iter().map(|found| found.at.clone()).eq(expected));
    }
}
