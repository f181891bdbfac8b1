//! A text that two values share exactly when they are equal as JSON Schema understands it.
//!
//! Keys are sorted, `1`, `1.0` and `1e0` are one number, and integers are exact at any length.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::{Number, Value};

/// Up to here every integer is a double of its own, so a double that is one can be printed as one.
const EXACT_IN_F64: f64 = 9_007_199_254_740_992.0;

impl Value<'_> {
    /// The canonical text of this value.
    pub(crate) fn canonical(&self) -> String {
        let mut out = String::new();
        write(self, &mut out);
        out
    }
}

fn write(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
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
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
            out.push('{');
            for (key, member) in sorted {
                write_string(key, out);
                write(member, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}

/// Length first, so that no content can imitate a border.
fn write_string(text: &str, out: &mut String) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{}:{text}", text.len());
}

fn number_text<'n>(number: &'n Number<'_>) -> Cow<'n, str> {
    if number.is_written_as_integer() {
        return Cow::Borrowed(match number.as_str() {
            "-0" => "0",
            digits => digits,
        });
    }
    let double = number.as_f64();
    if double.fract() == 0.0 && double.abs() <= EXACT_IN_F64 {
        // Exact: the value is integral and within the range in which doubles are integers.
        #[expect(clippy::cast_possible_truncation)]
        let integer = double as i64;
        Cow::Owned(integer.to_string())
    } else {
        Cow::Owned(double.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::read_value;

    fn same(left: &str, right: &str) -> bool {
        let canonical = |text| read_value(text).expect("JSON").canonical();
        canonical(left) == canonical(right)
    }

    #[test]
    fn equal_as_json_schema_understands_it() {
        assert!(same("1", "1.0"));
        assert!(same("-0", "0.0"));
        assert!(same("1e2", "100"));
        assert!(same(r#"{"a":1,"b":[2]}"#, r#"{"b":[2.0],"a":1}"#));
    }

    #[test]
    fn different_values_stay_different() {
        assert!(!same("12345678901234567890123", "12345678901234567890124"));
        assert!(!same("1", "\"1\""));
        assert!(!same("1", "true"));
        assert!(!same(r#"["a","b"]"#, r#"["a,1:b"]"#));
        assert!(!same("[]", "{}"));
        assert!(!same("[[1],2]", "[[1,2]]"));
    }
}
