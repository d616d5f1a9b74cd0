//! `--session-field`: session names that are a field, or that are made from several fields.

use std::str::FromStr;

use crate::report::quote;

/// The parts of a session name, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template(pub(super) Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    Field(String),
}

impl Template {
    /// Returns the names of the fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = &String> {
        self.0.iter().filter_map(|part| match part {
            Part::Field(name) => Some(name),
            Part::Text(_) => None,
        })
    }
}

impl FromStr for Template {
    type Err = String;

    /// Reads the name of a field, or a template such as `{app}:{room}`. Two equal braces stand for one brace of the name.
    fn from_str(template: &str) -> Result<Self, String> {
        if !template.contains(['{', '}']) {
            return Ok(Self(vec![Part::Field(template.to_owned())]));
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            text += &rest[..at];
            let (brace, after) = rest[at..].split_at(1);
            if let Some(after) = after.strip_prefix(brace) {
                text += brace;
                rest = after;
                continue;
            }
            let field = (brace == "{").then(|| after.split_once('}')).flatten();
            let Some((field, after)) = field.filter(|(field, _)| !field.is_empty() && !field.contains('{')) else {
                let at = template.len() - rest.len() + at;
                return Err(format!("expected fields in braces, such as {{app}}:{{room}}, found {brace:?} at {at}"));
            };
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(Part::Field(field.into()));
            rest = after;
        }
        if !parts.iter().any(|part| matches!(part, Part::Field(_))) {
            return Err(format!("expected a field in braces, such as {{room}}, found {}", quote(template)));
        }
        text += rest;
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self(parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_braces_and_other_text_is_copied() {
        let text = |text: &str| Part::Text(text.into());
        let field = |name: &str| Part::Field(name.into());
        let parts = |template: &str| Template::from_str(template).unwrap().0;
        assert_eq!(parts("{app}:{room}"), [field("app"), text(":"), field("room")]);
        assert_eq!([parts("{a.b}"), parts("a.b")], [[field("a.b")], [field("a.b")]]);
        assert_eq!(parts("é{{{a}}}{b} "), [text("é{"), field("a"), text("}"), field("b"), text(" ")]);
    }

    #[test]
    fn a_template_without_a_field_or_with_a_single_brace_is_an_error() {
        let error = |template: &str| Template::from_str(template).unwrap_err();
        assert_eq!(error("{{a}}"), "expected a field in braces, such as {room}, found \"{{a}}\"");
        let expected = "expected fields in braces, such as {app}:{room}, found ";
        for (template, found) in [
            ("{a", "\"{\" at 0"),
            ("x{}", "\"{\" at 1"),
            ("{a}}", "\"}\" at 3"),
            ("é}", "\"}\" at 2"),
            ("{a{b}", "\"{\" at 0"),
        ] {
            assert_eq!(error(template), format!("{expected}{found}"), "{template}");
        }
    }
}
