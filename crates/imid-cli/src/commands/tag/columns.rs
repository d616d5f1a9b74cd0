//! The fields that get the ID, each in its own form.

use imid::MessageId;
use imid::dialect::Dialect;
use imid_inspect::{Form, Id};

/// A field for the ID, and the form of the ID in it.
pub(super) struct Column<'a> {
    pub(super) name: &'a str,
    pub(super) form: Form,
}

/// What is added to each message: the forms of its ID, with text around them.
pub(super) struct Addition {
    dialect: &'static Dialect<'static>,
    /// The text before each form.
    forms: Vec<(String, Form)>,
    /// The text after the last form.
    end: &'static str,
}

impl Addition {
    /// Returns the members of a JSON object.
    pub(super) fn json(columns: &[Column<'_>], dialect: &'static Dialect<'static>) -> Self {
        let before = |(index, column): (usize, &Column<'_>)| {
            let separator = if index == 0 { "" } else { "\"," };
            (format!("{separator}{}:\"", serde_json::Value::from(column.name)), column.form)
        };
        Self { dialect, forms: columns.iter().enumerate().map(before).collect(), end: "\"" }
    }

    /// Returns the fields of a record.
    pub(super) fn record(columns: &[Column<'_>], delimiter: u8, dialect: &'static Dialect<'static>) -> Self {
        let before = |column: &Column<'_>| (char::from(delimiter).to_string(), column.form);
        Self { dialect, forms: columns.iter().map(before).collect(), end: "" }
    }

    /// Returns the text for a message with this ID.
    pub(super) fn of(&self, id: MessageId) -> String {
        let id = Id::Message { dialect: self.dialect, id: id.into() };
        let mut text = String::new();
        for (before, form) in &self.forms {
            text += before;
            // PANIC: only dialects of the standard layout mint IDs, and these have each form.
            text += &id.in_form(*form).expect("an ID that is minted has each form");
        }
        text + self.end
    }
}
