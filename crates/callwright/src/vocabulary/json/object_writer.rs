//! Writes a JSON object member by member.

use super::write_json_string;

/// An object that is being written. It appends to a text, which is JSON once [`end`](Self::end) is called.
pub(crate) struct ObjectWriter<'o>(&'o mut String);

impl<'o> ObjectWriter<'o> {
    pub(crate) fn new(out: &'o mut String) -> Self {
        out.push('{');
        ObjectWriter(out)
    }

    /// A member. Keys are not escaped.
    pub(crate) fn member<T>(&mut self, key: &str, value: T, write: impl FnOnce(T, &mut String)) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(key);
        self.0.push_str("\":");
        write(value, self.0);
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) {
        self.member(key, text, write_json_string);
    }

    /// A member that is `null` if there is no value.
    pub(crate) fn nullable<T>(
        &mut self,
        key: &str,
        value: Option<T>,
        write: impl FnOnce(T, &mut String),
    ) {
        self.member(key, value, |value, out| match value {
            Some(value) => write(value, out),
            None => out.push_str("null"),
        });
    }

    /// A member that is left out if there is no value.
    pub(crate) fn optional<T>(
        &mut self,
        key: &str,
        value: Option<T>,
        write: impl FnOnce(T, &mut String),
    ) {
        if let Some(value) = value {
            self.member(key, value, write);
        }
    }

    pub(crate) fn end(self) {
        self.0.push('}');
    }
}

/// Appends a list.
pub(crate) fn write_list<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    out.push('[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}
