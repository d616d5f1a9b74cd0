//! Lines that are one JSON object. A line that is read knows the positions of its members: output is copied from it, so its
//! bytes do not change.

use std::borrow::Cow;
use std::fmt;
use std::io::Write;

use bstr::ByteSlice;
use serde::de::{MapAccess, Visitor};
use serde::{Deserializer as _, Serialize};
use serde_json::value::RawValue;

use crate::input::utf8;
use crate::report::{Stop, quote};

/// The argument that asks for JSON.
#[derive(clap::Args)]
pub(crate) struct JsonArg {
    /// Print JSON: one object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// A line that is one JSON object.
pub(crate) struct JsonLine<'a> {
    line: &'a str,
    /// Whether the line has an escape. One search for the whole line replaces one per key.
    has_escapes: bool,
    members: Vec<Member<'a>>,
}

/// One member. Key and value are slices of the line, with their quotes and escapes.
struct Member<'a> {
    key: &'a str,
    value: &'a str,
}

/// Returns a hint for a line that can be the header of a table, or the start of an array of objects.
pub(crate) fn table_hint(line: &str) -> Option<&'static str> {
    let is_header = |delimiter| {
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "_-. \"".contains(c));
        line.contains(delimiter) && line.trim_end().split(delimiter).all(|name| !name.is_empty() && is_name(name))
    };
    if line.starts_with("[{") || line.trim() == "[" {
        return Some("for a JSON array, use jq -c '.[]'");
    }
    [(',', "for CSV, give --in csv"), ('\t', "for TSV, give --in tsv")]
        .into_iter()
        .find_map(|(delimiter, hint)| is_header(delimiter).then_some(hint))
}

/// Returns the parser's message with only the position, because for the parser each line is line 1.
fn syntax_error(error: &serde_json::Error) -> String {
    let (message, column) = (error.to_string(), error.column());
    let place = format!(" at line {} column {column}", error.line());
    // The parser counts from 1. Where the line ends too early, it gives the place of the last byte.
    let at = if error.is_eof() { column } else { column.saturating_sub(1) };
    format!("invalid JSON: {} at {at}", message.strip_suffix(&place).unwrap_or(&message))
}

/// Room for the members of most messages, so that the vector seldom grows.
const USUAL_MEMBERS: usize = 16;

/// Collects the members of an object.
struct MemberList;

impl<'de> Visitor<'de> for MemberList {
    type Value = Vec<Member<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::with_capacity(USUAL_MEMBERS);
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            members.push(Member { key: key.get(), value: value.get() });
        }
        Ok(members)
    }
}

impl<'a> JsonLine<'a> {
    /// Reads a line, with or without its line end.
    pub(crate) fn read(line: &'a [u8]) -> Result<Self, String> {
        let line = utf8(line)?;
        // Only the white space of JSON is trimmed. Any other character before the brace is part of the error.
        let space = [' ', '\t', '\r', '\n'];
        if !line.trim_start_matches(space).starts_with('{') {
            let hint = table_hint(line).map(|hint| format!(" ({hint})")).unwrap_or_default();
            return Err(format!("expected a JSON object, found {}{hint}", quote(line.trim_matches(space))));
        }
        // The line end is not passed on: the parser could then report a column of line 2.
        let mut json = serde_json::Deserializer::from_str(line.trim_end_matches(['\r', '\n']));
        let members = json
            .deserialize_map(MemberList)
            .and_then(|members| json.end().map(|()| members))
            .map_err(|error| syntax_error(&error))?;
        Ok(Self { line, has_escapes: line.as_bytes().find_byte(b'\\').is_some(), members })
    }

    /// Returns the value of a field, as it is in the line.
    ///
    /// A name with dots is the name of a member, or else a path of nested objects: `message.room` is the member `room` of
    /// the member `message`. A field that occurs twice is an error, because some JSON readers take the first value and
    /// some the last.
    pub(crate) fn value(&self, name: &str) -> Result<&'a str, String> {
        let missing = || format!("field {} is missing", quote(name));
        let mut rest = name;
        let mut object: Option<Self> = None;
        // Not a recursion: a path can be longer than the stack is deep.
        loop {
            let present = object.as_ref().unwrap_or(self);
            if let Some(value) = present.member(rest, name)? {
                return Ok(value);
            }
            let (outer, inner) = rest.split_once('.').ok_or_else(missing)?;
            let nested = present.member(outer, name)?.filter(|value| value.starts_with('{')).ok_or_else(missing)?;
            object = Some(Self::read(nested.as_bytes())?);
            rest = inner;
        }
    }

    /// Returns the value of a member.
    fn member(&self, name: &str, whole: &str) -> Result<Option<&'a str>, String> {
        let mut found = self.members.iter().filter(|member| self.is_called(member, name));
        let value = found.next().map(|member| member.value);
        if found.next().is_some() {
            let part = if name == whole { String::new() } else { format!(": {} in it", quote(name)) };
            return Err(format!("field {}{part} occurs more than once", quote(whole)));
        }
        Ok(value)
    }

    /// Returns whether there is a member with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|member| self.is_called(member, name))
    }

    fn is_called(&self, member: &Member<'_>, name: &str) -> bool {
        if self.has_escapes {
            // A key that is not valid Unicode has no name.
            return text(member.key).is_some_and(|key| key == name);
        }
        &member.key[1..member.key.len() - 1] == name
    }

    /// Adds the line to `out`, with more members at the end, which `last` adds. Other bytes do not change.
    pub(crate) fn write_with_last(&self, out: &mut Vec<u8>, last: impl FnOnce(&mut Vec<u8>)) {
        let end = match self.members.last() {
            Some(Member { value, .. }) => value.as_ptr().addr() - self.line.as_ptr().addr() + value.len(),
            // PANIC: the line was read as an object.
            None => self.line.find('{').expect("an object has a brace") + 1,
        };
        out.extend_from_slice(&self.line.as_bytes()[..end]);
        if !self.members.is_empty() {
            out.push(b',');
        }
        last(out);
        out.extend_from_slice(&self.line.as_bytes()[end..]);
    }
}

/// Writes a value as one line of JSON.
pub(crate) fn write_line(out: &mut impl Write, value: &impl Serialize) -> Result<(), Stop> {
    // The serializer writes in small pieces, which a vector takes fastest.
    let mut line = serde_json::to_vec(value).map_err(std::io::Error::from)?;
    line.push(b'\n');
    Ok(out.write_all(&line)?)
}

/// Returns the text of a string, or any other value as it is in the line. Returns `None` for a string that is not valid
/// Unicode.
pub(crate) fn text(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Some(plain.into()),
        // The grammar of JSON allows one half of a surrogate pair as an escape.
        Some(_) => serde_json::from_str::<String>(value).ok().map(Cow::Owned),
        None => Some(value.into()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tagged(line: &str) -> String {
        let mut out = b"before".to_vec();
        let object = JsonLine::read(line.as_bytes()).unwrap();
        object.write_with_last(&mut out, |out| out.extend_from_slice(br#""id":"new""#));
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    #[test]
    fn the_new_member_is_the_last_and_no_other_byte_changes() {
        assert_eq!(tagged("{}"), r#"{"id":"new"}"#);
        assert_eq!(tagged(" { } \r\n"), " {\"id\":\"new\" } \r\n");
        assert_eq!(tagged(r#"{ "a" : 1 }"#), r#"{ "a" : 1,"id":"new" }"#);
        assert_eq!(tagged(r#"{"a":{"id":1},"b":["id"]}"#), r#"{"a":{"id":1},"b":["id"],"id":"new"}"#);
        assert_eq!(
            tagged("\t{\"é\\u00e9\":1e400,\"\\\"\":\"{}\"}"),
            "\t{\"é\\u00e9\":1e400,\"\\\"\":\"{}\",\"id\":\"new\"}"
        );
    }

    #[test]
    fn a_field_is_found_by_its_unescaped_key() {
        let object = JsonLine::read(br#"{"\u0074opic":1,"a":{"b":2},"c":3,"\u0063":4,"d":"\ud800","\n":5}"#).unwrap();
        assert_eq!(object.value("topic"), Ok("1"));
        assert_eq!(object.value("b"), Err(r#"field "b" is missing"#.into()));
        assert_eq!(object.value("c"), Err(r#"field "c" occurs more than once"#.into()));
        assert_eq!(object.value("d").map(text), Ok(None));
        assert_eq!(object.value("\n"), Ok("5"));
        assert_eq!(object.value(r"\n"), Err(r#"field "\\n" is missing"#.into()));
    }

    /// A key, a value, and the spaces before, between and after them.
    fn member() -> impl Strategy<Value = (&'static str, &'static str, [&'static str; 4])> {
        let key = prop::sample::select(vec!["id", r"\u0069d", "i", "id ", r#"\"id\""#, ""]);
        let value = prop::sample::select(vec!["1e400", r#""id""#, r#"{"id" : [ 1,{} ]}"#, r#""\"},\\""#, "null"]);
        (key, value, prop::array::uniform4(prop::sample::select(vec!["", " ", "\t ", "\r"])))
    }

    proptest! {
        #[test]
        fn the_other_members_keep_their_order_and_text(members in prop::collection::vec(member(), 0..8)) {
            let texts = members.iter().map(|(key, value, [a, b, c, d])| format!("{a}\"{key}\"{b}:{c}{value}{d}"));
            let tagged = tagged(&format!("{{{}}}", texts.collect::<Vec<_>>().join(",")));
            let expected = members.iter().map(|(key, value, _)| (format!("\"{key}\""), (*value).to_owned()));
            let expected: Vec<_> = expected.chain([("\"id\"".into(), "\"new\"".into())]).collect();
            let object = JsonLine::read(tagged.as_bytes()).unwrap();
            let found = object.members.iter().map(|member| (member.key.to_owned(), member.value.to_owned()));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}
