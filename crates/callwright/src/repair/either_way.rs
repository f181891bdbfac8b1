//! Parameters that were written as text and may be a word or a value: `false`, `null`.
//!
//! Takes arguments that the schema accepts and whose parameters were texts between tags; returns the refusal if one of them is a
//! word for a value that the schema would accept as well. It decides nothing: most programs take the text `false` for true.

use super::tolerant::literal;
use crate::json::{Path, Value};
use crate::tool::Tool;
use crate::vocabulary::{Cause, Code, Failure};

/// How many such words are looked at: each costs a validation. Real calls have one or two.
const MOST_WORDS: usize = 16;

/// The objection to a word that the schema accepts as text and as a value. A tool that reads can do no harm with either.
pub(crate) fn read_either_way(arguments: &Value<'_>, tool: &Tool) -> Option<Failure> {
    let members = arguments.as_object().filter(|_| !tool.only_reads())?;
    let words = members.iter().enumerate().filter_map(|(at, (key, value))| {
        let (meant, _) = literal(value.as_str()?.trim())?;
        Some((at, key, value, meant))
    });
    let mut words = words.take(MOST_WORDS + 1).enumerate();
    let (_, (_, key, text, meant)) = words.find(|(count, (at, _, _, meant))| {
        let mut other = members.to_vec();
        other[*at].1 = meant.clone();
        let accepts = |other| tool.schema().is_none_or(|schema| schema.accepts(&other));
        *count == MOST_WORDS || accepts(Value::Object(other))
    })?;
    let cause = Cause::TwoReadings {
        path: Path::root().key(key),
        first: text.to_string(),
        second: meant.to_string(),
    };
    Some(Failure::new(Code::AmbiguousCall, cause))
}
