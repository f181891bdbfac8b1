//! Plain data from another language, as JSON → the structs of the bindings.
//!
//! An error names the member that does not fit, says what is expected there, and what was given. It never shows more of the
//! text than the beginning of that.

use std::fmt;

use callwright::internal::first_bytes;
use serde::Deserialize;

/// A member that does not fit, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Its path, such as `admission.same_call`; empty for the whole.
    pub member: String,
    /// What is wrong with it, and what is expected.
    pub why: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member.as_str() {
            "" => f.write_str(&self.why),
            member => write!(f, "{member}: {}", self.why),
        }
    }
}

/// Reads a struct.
///
/// # Errors
/// Returns the first member that does not fit.
pub fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, Misfit> {
    // The place of an error is only looked for once there is one.
    serde_json::from_str(text).or_else(|_| {
        let mut json = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            Misfit {
                member: if path == "." { String::new() } else { path },
                why: in_words(&error.into_inner().to_string()),
            }
        })
    })
}

/// How much of a wrong value is shown, in bytes: enough to recognise it.
const SHOWN: usize = 60;

/// An error of serde in the words of the other errors, which do not depend on Rust, without its place in a text that was
/// generated. An error in any other form is left as it is.
fn in_words(error: &str) -> String {
    let why = error.rsplit_once(" at line ").map_or(error, |(why, _)| why);
    let forms = [
        "invalid type: ",
        "invalid value: ",
        "invalid length ",
        "unknown variant ",
    ];
    let misfit = forms.iter().find_map(|form| why.strip_prefix(form));
    if let Some((given, expected)) = misfit.and_then(|misfit| misfit.rsplit_once(", expected ")) {
        return format!(
            "expected {}, got {}",
            expected_in_words(expected),
            given_in_words(given)
        );
    }
    // Its path names it.
    let unknown = why.strip_prefix("unknown field ");
    if let Some((_, known)) = unknown.and_then(|unknown| unknown.split_once(", expected ")) {
        return format!("unknown; known are {}", listed(known));
    }
    match why.strip_prefix("missing field ") {
        Some(name) => format!("{name} is missing"),
        None => why.to_owned(),
    }
}

/// What is expected, without Rust's names of types.
fn expected_in_words(expected: &str) -> String {
    match expected {
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number".to_owned(),
        "f64" | "f32" => "a number".to_owned(),
        "a map" => "an object".to_owned(),
        "a sequence" => "a list".to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        other if other.contains('`') => format!("one of {}", listed(other)),
        other => other.to_owned(),
    }
}

/// What was given: a value, or the name of its type.
fn given_in_words(given: &str) -> String {
    match given {
        "map" => return "an object".to_owned(),
        "sequence" => return "a list".to_owned(),
        "unit value" => return "null".to_owned(),
        _ => {}
    }
    let types = ["string ", "integer ", "floating point ", "boolean "];
    let value = types.iter().find_map(|name| given.strip_prefix(name));
    let value = value.unwrap_or(given).trim_matches('`');
    let shown = first_bytes(value, SHOWN);
    if shown.len() < value.len() {
        format!("{shown}…")
    } else {
        shown.to_owned()
    }
}

/// Names as serde lists them: `` one of `a`, `b` ``.
fn listed(names: &str) -> String {
    let names = names.split('`').skip(1).step_by(2);
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailedOutcome, Options, Reply};

    #[test]
    fn an_error_names_the_member() {
        let options = |text: &str| read::<Options>(text).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            options(r#"{"sessions": "5"}"#),
            r#"sessions: expected a whole number, got "5""#
        );
        assert_eq!(
            options(r#"{"max_bytes": -1}"#),
            "max_bytes: expected a whole number, got -1"
        );
        assert_eq!(
            options(r#"{"effects": {"a": 1}}"#),
            "effects.a: expected a string, got 1"
        );
        let long = format!(r#"{{"sessions": "{}"}}"#, "é".repeat(100));
        let long = options(&long);
        assert!(long.ends_with("éé…") && long.len() < 120, "{long}");
        for (text, said) in [
            (
                r#"{"keep_output": "yes"}"#,
                r#"keep_output: expected a boolean, got "yes""#,
            ),
            (
                r#"{"receipts": 1.5}"#,
                "receipts: expected a boolean, got 1.5",
            ),
            (
                r#"{"effects": []}"#,
                "effects: expected an object, got a list",
            ),
            (
                r#"{"repair": {}}"#,
                "repair: expected a string, got an object",
            ),
            (
                r#"{"max_bytes": null, "keep_output": null}"#,
                "keep_output: expected a boolean, got null",
            ),
        ] {
            assert_eq!(options(text), said);
        }
        let unknown = options(r#"{"sesions": 1}"#);
        assert!(
            unknown.starts_with("sesions: unknown; known are policy, repair, "),
            "{unknown}"
        );
        let failed = read::<FailedOutcome>(r#"{"kind": "reported", "detail": 5}"#);
        assert_eq!(
            failed.unwrap_err().to_string(),
            "detail: expected a string, got 5"
        );
        let objection = read::<FailedOutcome>(r#"{"objection": {"path": "/a"}}"#);
        assert_eq!(
            objection.unwrap_err().to_string(),
            "objection: `message` is missing"
        );
        let reply = read::<Reply>(r#""go""#).unwrap_err().to_string();
        assert_eq!(
            reply,
            "expected one of allow_once, allow_tool, stop, got go"
        );
    }
}
