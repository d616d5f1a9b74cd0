//! The fields that get the ID, each in its own form.

use imid::MessageId;

use imid_inspect::Form;

/// A field for the ID, and the form of the ID in it.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) form: Form,
}

/// What is added to each message: text with a slot for each form of the ID.
#[derive(Default)]
pub(super) struct Addition {
    /// The text, with zeros where the ID is written.
    pub(super) text: Vec<u8>,
    /// The slots, in the order of the text.
    pub(super) slots: Vec<Slot>,
}

/// The place of one form of the ID in the text of an addition.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) start: usize,
    pub(super) form: Form,
}

impl Slot {
    /// The number of bytes that the form has, or has at most.
    pub(super) const fn len(self) -> usize {
        match self.form {
            Form::Text => MessageId::TEXT_LEN,
            Form::Hex => 2 * MessageId::BYTE_LEN,
            Form::Uuid => 36,
            // The digits of 2^80.
            Form::Int => 25,
        }
    }

    /// Writes the ID at the start of `to`, and returns its length.
    pub(super) fn fill(self, id: MessageId, to: &mut [u8]) -> usize {
        let mut put = |bytes: &[u8]| {
            to[..bytes.len()].copy_from_slice(bytes);
            bytes.len()
        };
        match self.form {
            Form::Text => put(id.to_text().as_bytes()),
            Form::Hex => put(id.to_hex().as_bytes()),
            Form::Uuid => id.to_uuid().hyphenated().encode_lower(&mut to[..36]).len(),
            Form::Int => put(id.to_u128().to_string().as_bytes()),
        }
    }
}

impl Addition {
    /// Returns the members of a JSON object.
    pub(super) fn json(columns: &[Column]) -> Self {
        let mut addition = Self::default();
        for column in columns {
            if !addition.text.is_empty() {
                addition.text.push(b',');
            }
            addition.text.extend_from_slice(serde_json::Value::from(&*column.name).to_string().as_bytes());
            addition.text.extend_from_slice(b":\"");
            addition.add_slot(column.form);
            addition.text.push(b'"');
        }
        addition
    }

    /// Returns the fields of a line of CSV.
    pub(super) fn csv(columns: &[Column], delimiter: u8) -> Self {
        let mut addition = Self::default();
        for column in columns {
            addition.text.push(delimiter);
            addition.add_slot(column.form);
        }
        addition
    }

    fn add_slot(&mut self, form: Form) {
        let slot = Slot { start: self.text.len(), form };
        self.text.resize(slot.start + slot.len(), b'0');
        self.slots.push(slot);
    }
}
