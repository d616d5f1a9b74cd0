//! IDs in text: each of them is found, whatever is beside it.

use imid::MessageId;
use imid::dialect::Dialect;
use imid_inspect::{Finder, scan};
use proptest::prelude::*;

/// 2064-11-01, so that times of 60 years are plausible.
const NOW: u64 = 2_992_896_000_000;
const FROM: u64 = 1_104_537_600_000;

/// What is before and after an ID.
const SURROUNDINGS: [(&str, &str); 44] = [
    ("", ""),
    (" ", " "),
    ("\"", "\""),
    ("'", "',"),
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("<b>", "</b>"),
    ("id=", "&x=1"),
    ("id:", ";"),
    ("\t", "\t"),
    ("|", "|"),
    ("/", "/"),
    ("/m/", "?q=1"),
    ("#", "#"),
    ("@", ","),
    ("_", "_"),
    ("msg_", ".json"),
    ("中", "文"),
    ("\u{feff}", "\r"),
    ("\\n", "\\n"),
    ("\\t", "\\r"),
    ("\\b", "\\b"),
    ("\\\"", "\\\""),
    ("\\x22", "\\x22"),
    ("\\u003c", "\\u003e"),
    ("\\042", "\\042"),
    ("%22", "%22"),
    ("%2F", "%3F"),
    ("%252F", "%253F"),
    ("=22", "=22"),
    ("&quot;", "&quot;"),
    ("\u{1b}[32m", "\u{1b}[0m"),
    ("\u{1b}[01;31m\u{1b}[K", "\u{1b}[m\u{1b}[K"),
    ("\\u001b[32m", "\\u001b[0m"),
    ("\\x1b[32m", "\\x1b[0m"),
    ("^[[32m", "^[[0m"),
    ("#033[32m", "#033[0m"),
    ("chat-", ""),
    ("", "-orig.png"),
    ("2026-", ""),
    ("backup-2026-11-23-", "-old.tar.gz"),
    ("---", "---"),
    ("original-", "-original"),
];

fn found(text: &str) -> Vec<(usize, String)> {
    let (finder, mut found, mut from) = (Finder::new(None, NOW), Vec::new(), 0);
    while let Some(next) = finder.next(text.as_bytes(), from) {
        from = next.at.end;
        found.push((next.at.start, next.read.id.to_string()));
    }
    found
}

/// IDs of random times, with any spin, type and hash: the 38 bits after the time.
fn ids() -> impl Strategy<Value = MessageId> {
    (FROM..NOW, 0..1_u128 << 38).prop_map(|(ms, rest)| MessageId::from_u128(u128::from(ms) << 38 | rest).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_id_of_60_years_is_found_in_each_surrounding(id in ids(), is_lower: bool) {
        let text = if is_lower { id.to_string().to_lowercase() } else { id.to_string() };
        for (before, after) in SURROUNDINGS {
            let line = format!("{before}{text}{after}");
            let found = found(&line);
            // The standard dialect has all digits of RongCloud's but 0 and 1, so the best guess can be that of another system.
            prop_assert_eq!(found.len(), 1, "{}: {:?}", line, found);
            // Beside a word of four, an ID that itself ends with such a word has two readings, and one of them is found.
            let is_word = |group: &str| !group.contains(|c: char| c.is_ascii_digit());
            let has_two = before == "chat-" && is_word(&text[15..]) || after == "-orig.png" && is_word(&text[..4]);
            prop_assert!(has_two || found[0].0 == before.len(), "{}", line);
        }
        for line in [format!("{text}-{text}"), format!("{text}-{text}-{text}")] {
            let places: Vec<_> = found(&line).into_iter().map(|(at, _)| at).collect();
            prop_assert_eq!(places.len(), line.len() / 19, "{}", line);
        }
    }

    #[test]
    fn each_view_of_60_years_is_found_in_each_surrounding(id in ids()) {
        for (before, after) in SURROUNDINGS {
            let line = format!("{before}{}{after}", id.to_uuid());
            prop_assert_eq!(found(&line), [(before.len(), id.to_string())], "{}", line);
        }
    }

    #[test]
    fn a_pasted_text_has_its_ids_in_all_forms(ids in prop::collection::vec((ids(), 0..6), 1..20)) {
        let lower = |id: &MessageId| Dialect::JUGGLEIM.to_text(*id).unwrap().to_string();
        let form = |(id, form): &(MessageId, i32)| match form {
            0 => id.to_string(),
            1 => id.to_uuid().to_string(),
            2 => format!("\\x{}", id.to_hex()),
            3 => format!("0x{}", id.to_hex()),
            // Without a digit it could be a word, and its system has no other types and no earlier times.
            4 if lower(id).contains(|c: char| c.is_ascii_digit())
                && (1..=6).contains(&id.session_type().to_u8())
                && id.timestamp_ms() > 1_722_470_400_000 =>
            {
                lower(id)
            }
            _ => id.to_u128().to_string(),
        };
        let texts: Vec<_> = ids.iter().map(form).collect();
        let line = texts.join(", ");
        let scan = scan(&line, NOW);
        let mut found = [scan.ids, scan.others].concat();
        found.sort_by_key(|found| found.at.start);
        prop_assert_eq!(found.into_iter().map(|found| line[found.at].to_owned()).collect::<Vec<_>>(), texts);
    }
}
