//! The `cel` crate's errors → messages for the author of the expression.
//!
//! The parser names tokens and lists everything it expects; the evaluator prints the offending values, which may be secret.
//! Neither is passed on.

use cel::{ExecutionError, OverloadError, ParseErrors, Value};

use super::Mistake;
use super::prepare::place_of;
use crate::text::snippet;

/// How much of the text is shown.
const SHOWN: usize = 40;

/// What people used to other languages write, and what to write instead.
const ELSEWHERE: [(&str, &str); 8] = [
    ("=", "`=` is written `==`"),
    ("&", "`&` is written `&&`"),
    ("|", "`|` is written `||`"),
    ("and", "`and` is written `&&`"),
    ("or", "`or` is written `||`"),
    ("not", "`not` is written `!`"),
    ("is", "`is` is written `==`"),
    ("contains", "`contains` is written text.contains(\"part\")"),
];

/// The first mistake in an expression.
pub(super) fn syntax(source: &str, errors: &ParseErrors) -> Mistake {
    let deep = errors
        .errors
        .iter()
        .any(|error| error.msg.contains("Recursion limit"));
    if deep {
        return Mistake::whole("it is nested too deeply; write two checks");
    }
    let Some(first) = errors.errors.first() else {
        return Mistake::whole("it is not an expression");
    };
    Mistake {
        at: place_of(source, first.pos.0, first.pos.1),
        what: in_words(source, &first.msg),
    }
}

fn in_words(source: &str, message: &str) -> String {
    let message = message.trim_start_matches("Syntax error: ");
    // `… input 'and' expecting {…}`, `token recognition error at: '= '`
    let named = message.split_once('\'').map(|(_, rest)| {
        let end = rest.find("' expecting").or_else(|| rest.rfind('\''));
        end.map_or(rest, |end| &rest[..end])
    });
    let named = named.unwrap_or_default().trim();
    let elsewhere = ELSEWHERE.iter().find(|row| row.0 == named);
    if named == "<EOF>" || message.contains("at '<EOF>'") {
        "it ends too early".to_owned()
    } else if let Some((_, usage)) = elsewhere {
        (*usage).to_owned()
    } else if message.starts_with("token recognition") && named.starts_with(['"', '\'']) {
        "a string is not closed, or has an invalid escape; `\\\\` means `\\`".to_owned()
    } else if message.starts_with("token recognition")
        || message.starts_with("mismatched input")
        || message.starts_with("extraneous input")
        || message.starts_with("no viable alternative")
        || message.starts_with("missing")
    {
        format!("`{}` is not expected here", snippet(named, SHOWN))
    } else if message.contains("has() macro") {
        "`has` takes a field: has(output.field)".to_owned()
    } else if message.contains("simple name") {
        "the first argument is a name for each item: list.all(item, item > 0)".to_owned()
    } else if message.starts_with("invalid") && message.contains("literal") {
        let kind = message.trim_start_matches("invalid ").split(' ').next();
        match kind {
            Some("string" | "bytes") => "a string has an invalid escape".to_owned(),
            _ => "a number does not fit into 64 bits".to_owned(),
        }
    } else if source.contains('`') {
        "names are not written in backquotes; use output[\"name\"]".to_owned()
    } else {
        format!("it is not an expression: {}", snippet(message, 2 * SHOWN))
    }
}

/// Whether an error means that something is absent: a field, an item, or a field of something that has none.
pub(super) fn is_absence(error: &ExecutionError) -> bool {
    match error {
        ExecutionError::NoSuchKey(_) | ExecutionError::IndexOutOfBounds(_) => true,
        ExecutionError::NoSuchOverload(overload) => {
            let first = overload.argument_types().first();
            match overload.function() {
                "_._" => true,
                "_[_]" => first.is_some_and(|kind| kind != "list" && kind != "map"),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Why there is no answer, without quoting the values.
pub(super) fn no_answer(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchOverload(overload) => overload_words(overload),
        ExecutionError::UnsupportedBinaryOperator(operator, left, right) => {
            let sign = match *operator {
                "add" => "+",
                "sub" => "-",
                "mul" => "*",
                "div" => "/",
                "rem" => "%",
                other => other,
            };
            format!("`{sign}` does not take {} and {}", kind(left), kind(right))
        }
        ExecutionError::ValuesNotComparable(left, right) => {
            format!("{} and {} cannot be compared", kind(left), kind(right))
        }
        ExecutionError::UnexpectedType { got, want } if want == "iterable" => {
            format!("a value of type {got} has no items")
        }
        ExecutionError::UnexpectedType { got, want } => {
            format!("expected a value of type {want}, found {got}")
        }
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "it divides by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "a number does not fit into 64 bits".to_owned(),
        ExecutionError::FunctionError { function, .. } => {
            format!("`{}` does not take this value", snippet(function, SHOWN))
        }
        _ => "it cannot be evaluated".to_owned(),
    }
}

/// A function or an operator, and the types of its operands.
fn overload_words(overload: &OverloadError) -> String {
    let name = overload.function().trim_matches(['_', '@']);
    let types = overload.argument_types().join(" and ");
    format!("`{}` does not take {types}", snippet(name, SHOWN))
}

fn kind(value: &Value) -> String {
    value.type_of().to_string()
}
