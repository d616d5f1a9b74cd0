//! Fields of TSV as databases write it: without quotes, and with escapes for tabs and line ends.
//!
//! These are the escapes of PostgreSQL's `COPY`, of `mysql -B`, of MariaDB's `INTO OUTFILE` (a backslash before a tab or a line
//! feed), and of `ClickHouse` (also `\'`). Any other one shows that a program wrote the file which escapes nothing: the field
//! would be read wrongly.

use std::borrow::Cow;

use crate::report::quote;

/// The error for a table in quotes. The ends of its records are elsewhere.
pub(super) const IN_QUOTES: &str = "expected TSV as databases write it, found quotes as in the TSV of a spreadsheet, which is not \
read (save the table as CSV)";

/// Returns a field without its escapes.
pub(super) fn read(field: &str) -> Result<Cow<'_, str>, String> {
    if is_quoted(field) {
        return Err(format!("{IN_QUOTES}: {}", quote(field)));
    }
    if !field.contains('\\') {
        return Ok(field.into());
    }
    let (mut text, mut chars) = (String::with_capacity(field.len()), field.char_indices());
    while let Some((at, char)) = chars.next() {
        text.push(match char {
            '\\' => chars.next().and_then(|(_, escaped)| unescaped(escaped)).ok_or_else(|| {
                let found: String = field[at..].chars().take(2).collect();
                format!("expected an escape of a database, such as \\t or \\\\, found {found} at {at}")
            })?,
            char => char,
        });
    }
    Ok(text.into())
}

fn unescaped(escaped: char) -> Option<char> {
    Some(match escaped {
        '0' => '\0',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '\t' | '\n' | '\r' => escaped,
        _ => return None,
    })
}

/// Returns a field as it is written in TSV.
pub(crate) fn write(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// Returns whether a field is in quotes that a spreadsheet adds: because of quotes in it, which are doubled, or of a comma.
fn is_quoted(field: &str) -> bool {
    let inner = field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or_default();
    let rest = inner.replace("\"\"", "");
    !rest.contains('"') && (rest.len() < inner.len() || inner.contains(','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_what_was_written_and_other_escapes_are_errors() {
        for text in ["", "room", "a\tb\nc\r\\d", "\\N", "\\\\", "é\\t"] {
            assert_eq!(read(&write(text)).unwrap(), text);
        }
        assert_eq!(read("\\b\\f\\v\\0\\'\\\"\\\t\\\n").unwrap(), "\u{8}\u{c}\u{b}\0'\"\t\n");
        for (field, found) in [("C:\\x", "\\x at 2"), ("é\\", "\\ at 2"), ("\\é", "\\é at 0"), ("a\\N", "\\N at 1")]
        {
            let expected = "expected an escape of a database, such as \\t or \\\\, found ";
            assert_eq!(read(field), Err(format!("{expected}{found}")), "{field}");
        }
    }

    #[test]
    fn quotes_around_a_field_are_those_of_a_spreadsheet_if_it_needs_them() {
        for field in ["\"a, b\"", "\"say \"\"hi\"\"\"", "\"\"\"hi\"\"\"", "\"\"\"\""] {
            assert!(is_quoted(field), "{field}");
        }
        for field in ["", "\"", "\"\"", "\"hi\"", "\"hi\" he said", "\"hi\", \"ho\"", "he said \"\"hi\"\"", "\"a, b"] {
            assert!(!is_quoted(field), "{field}");
        }
    }
}
