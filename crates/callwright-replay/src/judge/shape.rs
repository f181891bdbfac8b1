//! The shape of a value, as its cluster sees it.

use callwright::json::Value;
use callwright::validate::IssueCode;

use crate::summary::{HeldInText, ValueShape};

/// Values up to this many bytes of JSON are their own shape if only certain values are allowed.
const LONGEST_VALUE: usize = 64;

/// Sketches up to this many characters are distinguished: dates, addresses, identifiers.
const LONGEST_SKETCH: usize = 32;

/// A longer text is not a date, an address or an identifier.
const LONGEST_SKETCHED: usize = 200;

/// The longest text that is examined: whether it contains JSON shows at its beginning, and parsing megabytes twice is
/// not worth it.
const LONGEST_LOOKED_INTO: usize = 64 * 1024;

/// The shape of a value that violates its schema in this way. See [`crate::judge`].
pub(super) fn shape(value: Option<&Value<'_>>, issue: IssueCode) -> ValueShape {
    let Some(value) = value else {
        return ValueShape::Missing;
    };
    match issue {
        IssueCode::Enum | IssueCode::Const => itself(value).map(ValueShape::Other),
        IssueCode::Minimum | IssueCode::Maximum | IssueCode::MultipleOf => {
            size(value).map(ValueShape::Other)
        }
        IssueCode::MinLength
        | IssueCode::MaxLength
        | IssueCode::MinItems
        | IssueCode::MaxItems
        | IssueCode::MinProperties
        | IssueCode::MaxProperties => length(value).map(ValueShape::Other),
        IssueCode::Format => sketch(value, false),
        IssueCode::Pattern => sketch(value, true),
        _ => None,
    }
    .unwrap_or_else(|| general(value))
}

/// A number by which the values of a cluster are ordered: the value, or the length.
pub(crate) fn measure(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_str().parse().ok().filter(|n: &f64| n.is_finite()),
        Value::String(text) => Some(float(text.chars().count())),
        Value::Array(items) => Some(float(items.len())),
        Value::Object(members) => Some(float(members.len())),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths are far below 2^52")]
fn float(count: usize) -> f64 {
    count as f64
}

/// The value as JSON, if it is short.
fn itself(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        Value::String(text) if text.len() > LONGEST_VALUE => None,
        leaf => Some(leaf.to_string()).filter(|text| text.len() <= LONGEST_VALUE),
    }
}

/// `integer of 4 digits`
fn size(value: &Value<'_>) -> Option<String> {
    let number: f64 = value.as_number()?.as_str().parse().ok()?;
    let sign = if number < 0.0 { "negative " } else { "" };
    let kind = if is_integer(value) {
        "integer"
    } else {
        "number"
    };
    let whole = number.abs().trunc();
    let digits = if whole < 1.0 {
        1.0
    } else {
        whole.log10().floor() + 1.0
    };
    let plural = if digits > 1.0 { "s" } else { "" };
    Some(format!("{sign}{kind} of {digits} digit{plural}"))
}

/// `65 to 128 characters`
fn length(value: &Value<'_>) -> Option<String> {
    let (length, unit) = match value {
        Value::String(text) => (text.chars().count(), "character"),
        Value::Array(items) => (items.len(), "item"),
        Value::Object(members) => (members.len(), "key"),
        _ => return None,
    };
    Some(match length {
        0 => format!("no {unit}s"),
        1 => format!("1 {unit}"),
        _ => {
            let most = length.next_power_of_two();
            match most / 2 + 1 {
                least if least == most => format!("{most} {unit}s"),
                least => format!("{least} to {most} {unit}s"),
            }
        }
    })
}

/// `like 9999-99-99`: letters and digits by their kind, everything else as it is. Patterns describe codes and
/// identifiers, so words in capitals are distinguished there: `AUT` is `like A`, and `Austria` is `like a`.
fn sketch(value: &Value<'_>, capitals: bool) -> Option<ValueShape> {
    let text = value.as_str()?;
    if text.is_empty() {
        return None;
    }
    if text.len() > LONGEST_SKETCHED {
        return Some(ValueShape::Other("long text".to_owned()));
    }
    let mut drawn = String::new();
    let mut letters = 0;
    let mut count = 0;
    for character in text.chars() {
        // Words have any length; the length of a number matters.
        if character.is_alphabetic() {
            letters += 1;
            if letters > 1 {
                if !character.is_ascii_uppercase() && drawn.ends_with('A') {
                    drawn.pop();
                    drawn.push('a');
                }
                continue;
            }
        } else {
            letters = 0;
        }
        count += 1;
        if count > LONGEST_SKETCH {
            return Some(ValueShape::Other("long text".to_owned()));
        }
        drawn.push(match character {
            _ if capitals && character.is_ascii_uppercase() => 'A',
            _ if character.is_alphabetic() => 'a',
            _ if character.is_numeric() => '9',
            _ if character.is_control() => ' ',
            other => other,
        });
    }
    Some(ValueShape::Sketch(drawn))
}

fn general(value: &Value<'_>) -> ValueShape {
    match value {
        Value::Null => ValueShape::Null,
        Value::Bool(_) => ValueShape::Boolean,
        Value::Number(_) if is_integer(value) => ValueShape::Integer,
        Value::Number(_) => ValueShape::Number,
        Value::String(text) => text_shape(text.trim()),
        Value::Object(members) if members.is_empty() => ValueShape::EmptyObject,
        Value::Object(_) => ValueShape::Object,
        Value::Array(items) => match items.first().map(Value::kind) {
            None => ValueShape::EmptyArray,
            Some(kind) if items.iter().all(|item| item.kind() == kind) => {
                ValueShape::ArrayOf(kind.name().to_owned())
            }
            Some(_) => ValueShape::MixedArray,
        },
    }
}

fn is_integer(value: &Value<'_>) -> bool {
    let number = value.as_number();
    number.is_some_and(|number| !number.as_str().contains(['.', 'e', 'E']))
}

fn text_shape(inner: &str) -> ValueShape {
    let held = match inner {
        "" => return ValueShape::EmptyText,
        "true" | "false" | "True" | "False" => HeldInText::Boolean,
        "null" | "None" | "undefined" => HeldInText::Null,
        _ if inner.parse::<i128>().is_ok() => HeldInText::Integer,
        _ if inner.starts_with(|first: char| first.is_ascii_digit() || "-+".contains(first))
            && inner.parse::<f64>().is_ok() =>
        {
            HeldInText::Number
        }
        _ if inner.starts_with(['{', '[']) && inner.len() <= LONGEST_LOOKED_INTO => {
            let read = serde_json::from_str::<serde::de::IgnoredAny>(inner).is_ok();
            match (read, inner.starts_with('{')) {
                (true, true) => HeldInText::Object,
                (true, false) => HeldInText::Array,
                (false, _) => HeldInText::BrokenJson,
            }
        }
        _ => return date_shape(inner).unwrap_or(ValueShape::Text),
    };
    ValueShape::Holds(held)
}

/// A date, or a date with its time and zone, as the standard writes them. Whether such a day exists is not checked.
fn date_shape(text: &str) -> Option<ValueShape> {
    let is_like = |text: &str, model: &str| {
        let mut pairs = text.bytes().zip(model.bytes());
        text.len() == model.len()
            && pairs.all(|(byte, model)| match model {
                b'9' => byte.is_ascii_digit(),
                sign => byte == sign,
            })
    };
    let (date, rest) = text.split_at_checked(10)?;
    if !is_like(date, "9999-99-99") {
        return None;
    }
    if rest.is_empty() {
        return Some(ValueShape::Date);
    }
    let (time, rest) = rest.split_at_checked(9)?;
    let fraction = rest.strip_prefix('.').unwrap_or_default();
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    let zone = if digits > 0 {
        &fraction[digits..]
    } else {
        rest
    };
    let is_zone = zone == "Z" || is_like(zone, "+99:99") || is_like(zone, "-99:99");
    (is_like(time, "T99:99:99") && is_zone).then_some(ValueShape::DateTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str, issue: IssueCode) -> String {
        let value = callwright::parse::read_value(json).expect("JSON");
        shape(Some(&value), issue).to_string()
    }

    #[test]
    fn shapes_are_what_the_table_says() {
        let cases = [
            (r#""urgent""#, IssueCode::Enum, r#""urgent""#),
            ("1500", IssueCode::Maximum, "integer of 4 digits"),
            ("-15.5", IssueCode::Minimum, "negative number of 2 digits"),
            ("0", IssueCode::Minimum, "integer of 1 digit"),
            (r#""abc""#, IssueCode::MinLength, "3 to 4 characters"),
            (r#""ab""#, IssueCode::MinLength, "2 characters"),
            (r#""""#, IssueCode::MinLength, "no characters"),
            ("[1,2,3,4,5]", IssueCode::MaxItems, "5 to 8 items"),
            (r#""2026-05-01""#, IssueCode::Format, "like 9999-99-99"),
            (r#""tomorrow""#, IssueCode::Format, "like a"),
            (r#""Ann@example.org""#, IssueCode::Pattern, "like a@a.a"),
            (r#""DEV-00A1""#, IssueCode::Pattern, "like A-99A9"),
            (r#""Austria""#, IssueCode::Pattern, "like a"),
            (r#""5""#, IssueCode::Type, "integer in a string"),
            (r#"" -5.5""#, IssueCode::Type, "number in a string"),
            (r#""True""#, IssueCode::Type, "boolean in a string"),
            (r#""null""#, IssueCode::Type, "null in a string"),
            (r#""{\"a\": 1}""#, IssueCode::Type, "object in a string"),
            (r#""[1, 2""#, IssueCode::Type, "broken JSON in a string"),
            (r#""2026-05-01""#, IssueCode::Type, "date in a string"),
            (
                r#""2026-05-01T10:00:00.5+02:00""#,
                IssueCode::Type,
                "date-time in a string",
            ),
            (r#""2026-05-01T10:00""#, IssueCode::Type, "string"),
            (r#""2026-05-0ä""#, IssueCode::Type, "string"),
            (r#""nan""#, IssueCode::Type, "string"),
            (r#"" ""#, IssueCode::Type, "empty string"),
            ("1.5", IssueCode::Type, "number"),
            ("1", IssueCode::Type, "integer"),
            ("null", IssueCode::Type, "null"),
            ("[]", IssueCode::Type, "empty array"),
            (r#"["a"]"#, IssueCode::Type, "array of string"),
            (r#"["a", 1]"#, IssueCode::Type, "array of several types"),
            ("{}", IssueCode::UnknownKey, "empty object"),
        ];
        for (json, issue, expected) in cases {
            assert_eq!(of(json, issue), expected, "{json}");
        }
        assert_eq!(shape(None, IssueCode::Required), ValueShape::Missing);
    }

    #[test]
    fn long_texts_have_one_shape() {
        let long = format!("\"{}\"", "word, ".repeat(30));
        assert_eq!(of(&long, IssueCode::Format), "long text");
        let value = format!("\"{}\"", "x".repeat(100));
        assert_eq!(of(&value, IssueCode::Enum), "string");
    }
}
