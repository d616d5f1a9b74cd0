//! Writes JSON. A library for it would be a third of the module.

use std::fmt::{Display, Write};

/// Writes a string, with quotes.
pub fn string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\x1f' => {
                // PANIC: a `String` takes everything.
                write!(out, "\\u{:04x}", u32::from(character)).expect("a string grows");
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Writes a list of what `write` writes for each item.
pub fn list<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// An object whose members are written one after another.
pub struct Object<'a>(&'a mut String);

impl<'a> Object<'a> {
    pub fn new(out: &'a mut String) -> Self {
        out.push('{');
        Self(out)
    }

    /// Writes a name, and returns where the value goes.
    pub fn member(&mut self, name: &str) -> &mut String {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        string(self.0, name);
        self.0.push(':');
        self.0
    }

    pub fn text(&mut self, name: &str, text: impl Display) -> &mut Self {
        let text = text.to_string();
        string(self.member(name), &text);
        self
    }

    /// Writes a number, `true`, `false` or `null`.
    pub fn raw(&mut self, name: &str, value: impl Display) -> &mut Self {
        let out = self.member(name);
        // PANIC: as above.
        write!(out, "{value}").expect("a string grows");
        self
    }

    pub fn end(&mut self) {
        self.0.push('}');
    }
}
