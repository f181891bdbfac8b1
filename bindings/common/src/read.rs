//! Plain data from another language, as JSON → the structs of the bindings.
//!
//! An error names the member that does not fit. It never shows more of the text than that.

use std::fmt;

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

/// An error in words that do not depend on Rust, without its place in a text that the caller never saw.
fn in_words(error: &str) -> String {
    let why = error.rsplit_once(" at line ").map_or(error, |(why, _)| why);
    ["usize", "u64", "u32"]
        .iter()
        .find_map(|size| why.strip_suffix(size))
        .map_or_else(|| why.to_owned(), |front| format!("{front}a whole number"))
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
            r#"sessions: invalid type: string "5", expected a whole number"#
        );
        assert_eq!(
            options(r#"{"max_bytes": -1}"#),
            "max_bytes: invalid value: integer `-1`, expected a whole number"
        );
        assert_eq!(
            options(r#"{"effects": {"a": 1}}"#),
            "effects.a: invalid type: integer `1`, expected a string"
        );
        let failed = read::<FailedOutcome>(r#"{"kind": "reported", "detail": 5}"#);
        assert_eq!(
            failed.unwrap_err().to_string(),
            "detail: invalid type: integer `5`, expected a string"
        );
        let reply = read::<Reply>(r#""go""#).unwrap_err().to_string();
        assert!(reply.starts_with("unknown variant `go`"), "{reply}");
    }
}
