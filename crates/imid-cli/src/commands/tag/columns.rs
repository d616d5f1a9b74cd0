//! The fields that get the ID, each in its own form.

use imid::MessageId;
use imid::dialect::Dialect;

use imid_inspect::Form;

/// A field for the ID, and the form of the ID in it.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) form: Form,
    /// The dialect of the text.
    pub(super) dialect: &'static Dialect<'static>,
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
    form: Form,
    dialect: &'static Dialect<'static>,
}

impl Slot {
    /// The number of bytes that the form has, or has at most.
    pub(super) const fn len(self) -> usize {
        match self.form {
            // A dialect has the same number of characters, or no dashes.
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
            Form::Text if self.dialect.name() == Dialect::STANDARD.name() => put(id.to_text().as_bytes()),
            // PANIC: only dialects of the standard layout mint IDs.
            Form::Text => put(self.dialect.to_text(id).expect("the layout is the standard one").as_str().as_bytes()),
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
            addition.add_slot(column);
            addition.text.push(b'"');
        }
        addition
    }

    /// Returns the fields of a line of CSV.
    pub(super) fn csv(columns: &[Column], delimiter: u8) -> Self {
        let mut addition = Self::default();
        for column in columns {
            addition.text.push(delimiter);
            addition.add_slot(column);
        }
        addition
    }

    /// Returns the text with an ID in its slots.
    pub(super) fn with(&self, id: MessageId) -> Vec<u8> {
        let (mut filled, mut taken) = (Vec::new(), 0);
        for slot in &self.slots {
            filled.extend_from_slice(&self.text[taken..slot.start]);
            let start = filled.len();
            filled.resize(start + slot.len(), 0);
            let len = slot.fill(id, &mut filled[start..]);
            filled.truncate(start + len);
            taken = slot.start + slot.len();
        }
        filled.extend_from_slice(&self.text[taken..]);
        filled
    }

    fn add_slot(&mut self, column: &Column) {
        let slot = Slot { start: self.text.len(), form: column.form, dialect: column.dialect };
        self.text.resize(slot.start + slot.len(), b'0');
        self.slots.push(slot);
    }
}
