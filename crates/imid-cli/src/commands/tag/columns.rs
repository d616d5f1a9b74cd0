//! The fields that get the ID, each in its own form.

use imid_inspect::{Form, Id};

/// A field for the ID, and the form of the ID in it.
pub(super) struct Column<'a> {
    pub(super) name: &'a str,
    pub(super) form: Form,
}

/// The length of the longest form, the UUID view.
const MAX_FORM_LEN: usize = 36;

/// What is added to each message: the forms of its ID, with text around them.
pub(super) struct Addition {
    /// The text before each form.
    forms: Vec<(String, Form)>,
    /// The text after the last form.
    end: &'static str,
}

impl Addition {
    /// Returns the members of a JSON object.
    pub(super) fn json(columns: &[Column<'_>]) -> Self {
        let before = |(index, column): (usize, &Column<'_>)| {
            let separator = if index == 0 { "" } else { "\"," };
            (format!("{separator}{}:\"", serde_json::Value::from(column.name)), column.form)
        };
        Self { forms: columns.iter().enumerate().map(before).collect(), end: "\"" }
    }

    /// Returns the fields of a record.
    pub(super) fn record(columns: &[Column<'_>], delimiter: u8) -> Self {
        let before = |column: &Column<'_>| (char::from(delimiter).to_string(), column.form);
        Self { forms: columns.iter().map(before).collect(), end: "" }
    }

    /// Returns the most bytes that the text for a message has.
    pub(super) fn max_len(&self) -> usize {
        self.forms.iter().map(|(before, _)| before.len() + MAX_FORM_LEN).sum::<usize>() + self.end.len()
    }

    /// Appends the text for a message with this ID.
    pub(super) fn write(&self, out: &mut Vec<u8>, id: Id) {
        for (before, form) in &self.forms {
            out.extend_from_slice(before.as_bytes());
            // PANIC: only dialects of the standard layout mint IDs, and these have each form.
            out.extend_from_slice(id.in_form(*form).expect("an ID that is minted has each form").as_bytes());
        }
        out.extend_from_slice(self.end.as_bytes());
    }
}
