//! A canonical text: equal for two values exactly if JSON Schema considers them equal.
//!
//! Keys are sorted by their bytes, `1`, `1.0` and `10e-1` are one number, and numbers are exact at any length. Fingerprints are
//! computed from it, so its form is fixed: `docs/fingerprint.md` defines it for other languages.

use std::cell::Cell;

use smallvec::SmallVec;

use super::number::Decimal;
use super::{Number, Value};

/// Most objects have no more members.
pub(crate) const FEW: usize = 8;

/// The longest buffer that is kept for reuse, in bytes.
const LONGEST_KEPT: usize = 64 * 1024;

/// Lends an empty text to write into. Most canonical texts are hashed and dropped, so each thread reuses one.
pub(crate) fn with_buffer<T>(write: impl FnOnce(&mut String) -> T) -> T {
    thread_local! {
        static BUFFER: Cell<String> = const { Cell::new(String::new()) };
    }
    let mut buffer = BUFFER.take();
    buffer.clear();
    let result = write(&mut buffer);
    if buffer.capacity() <= LONGEST_KEPT {
        BUFFER.set(buffer);
    }
    result
}

impl Value<'_> {
    /// The canonical text of this value.
    pub(crate) fn canonical(&self) -> String {
        // Most values are short.
        let mut out = String::with_capacity(128);
        self.write_canonical(&mut out);
        out
    }

    /// Appends the canonical text of this value.
    pub(crate) fn write_canonical(&self, out: &mut String) {
        write(self, out);
    }
}

fn write(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| (key.as_ref(), member));
            write_object(members, out, |_, member, out| write(member, out));
        }
    }
}

/// Appends the canonical text of an object; `write` appends that of each member.
pub(crate) fn write_object<'k, M>(
    members: impl Iterator<Item = (&'k str, M)>,
    out: &mut String,
    mut write: impl FnMut(&'k str, M, &mut String),
) {
    let mut sorted: SmallVec<[_; FEW]> = members.collect();
    sorted.sort_by_key(|(key, _)| *key);
    out.push('{');
    for (key, member) in sorted {
        write_string(key, out);
        write(key, member, out);
        out.push(',');
    }
    out.push('}');
}

/// Length first, so that no content can imitate a border.
pub(crate) fn write_string(text: &str, out: &mut String) {
    write_integer(text.len() as u64, out);
    out.push(':');
    out.push_str(text);
}

/// Most are lengths and powers with a digit or two, and copying these costs more than working them out.
fn write_integer(integer: u64, out: &mut String) {
    match u8::try_from(integer) {
        Ok(digit @ 0..10) => out.push(char::from(b'0' + digit)),
        Ok(two @ 10..100) => {
            out.push(char::from(b'0' + two / 10));
            out.push(char::from(b'0' + two % 10));
        }
        _ => out.push_str(itoa::Buffer::new().format(integer)),
    }
}

/// The digits without zeros at either end, and their power of ten: `120` is `12e1`, `0.5` is `5e-1`.
fn write_number(number: &Number<'_>, out: &mut String) {
    let decimal = Decimal::of(number.as_str());
    if decimal.significant == 0 {
        // Zero has no sign.
        return out.push('0');
    }
    if decimal.negative {
        out.push('-');
    }
    let first = out.len();
    out.push_str(decimal.whole);
    out.push_str(decimal.fraction);
    out.truncate(first + decimal.significant);
    let zeros = out[first..].bytes().take_while(|it| *it == b'0').count();
    if zeros > 0 {
        out.drain(first..first + zeros);
    }
    out.push('e');
    if decimal.power < 0 {
        out.push('-');
    }
    write_integer(decimal.power.unsigned_abs(), out);
}

#[cfg(test)]
mod tests {
    use crate::json::read_value;

    fn same(left: &str, right: &str) -> bool {
        let canonical = |text| read_value(text).expect("JSON").canonical();
        canonical(left) == canonical(right)
    }

    #[test]
    fn equal_as_json_schema_understands_it() {
        assert!(same("1", "1.0"));
        assert!(same("-0", "0.0"));
        assert!(same("1e2", "100"));
        assert!(same("1E+2", "100.0"));
        assert!(same("0.10", "1e-1"));
        assert!(same("-0.0e5", "0"));
        assert!(same("1e30", "1000000000000000000000000000000"));
        assert!(same(r#"{"a":1,"b":[2]}"#, r#"{"b":[2.0],"a":1}"#));
    }

    #[test]
    fn different_values_stay_different() {
        assert!(!same("12345678901234567890123", "12345678901234567890124"));
        assert!(!same("0.1", "0.1000000000000000055"));
        assert!(!same("1e-400", "0"));
        assert!(!same("1", "-1"));
        assert!(!same("1", "\"1\""));
        assert!(!same("1", "true"));
        assert!(!same(r#"["a","b"]"#, r#"["a,1:b"]"#));
        assert!(!same("[]", "{}"));
        assert!(!same("[[1],2]", "[[1,2]]"));
    }
}
