//! Finds members of a JSON object by name, each at most once.
//!
//! Readers disagree about an object that has a name twice or in another case: Python and Node take the last one, and
//! Go does not distinguish `Method` from `method`. Such an object is not read at all, so that no server reads it
//! differently.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::message::not_null;

/// The members with these names, as written. `null` is a member; members with other names are skipped.
///
/// # Errors
/// If the text is not an object, or if a name occurs twice or in another case.
pub(crate) fn members<'m, const N: usize>(
    text: &'m str,
    names: [&str; N],
) -> Result<[Option<&'m RawValue>; N], serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = NamedMembers(names).deserialize(&mut reader)?;
    reader.end()?;
    Ok(found)
}

/// One member, unless it is `null`, or the value is not an object that all readers read alike.
pub(crate) fn member<'m>(of: Option<&'m RawValue>, name: &str) -> Option<&'m RawValue> {
    let [value] = members(of?.get(), [name]).ok()?;
    not_null(value)
}

pub(crate) fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(value.get())
        .ok()
        .map(|MemberText(text)| text)
}

/// Borrowed if nothing is escaped.
#[derive(Deserialize)]
struct MemberText<'m>(#[serde(borrow)] Cow<'m, str>);

struct NamedMembers<'n, const N: usize>([&'n str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for NamedMembers<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for NamedMembers<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(MemberText(name)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            let at = self.0.iter().position(|known| *known == name);
            match at.and_then(|at| found.get_mut(at)) {
                Some(slot @ None) => *slot = Some(value),
                Some(Some(_)) => return Err(de::Error::custom("a name occurs twice")),
                None if self
                    .0
                    .iter()
                    .any(|known| is_same_ignoring_case(known, &name)) =>
                {
                    return Err(de::Error::custom("a name differs in case only"));
                }
                None => {}
            }
        }
        Ok(found)
    }
}

/// Whether a reader that ignores case takes one name for the other. Letters outside ASCII count: `ſ` is an `s` in
/// upper case, and the kelvin sign a `k` in lower case.
fn is_same_ignoring_case(known: &str, name: &str) -> bool {
    if name.is_ascii() {
        return known.eq_ignore_ascii_case(name);
    }
    known.len() == name.chars().count()
        && name.chars().zip(known.chars()).all(|(one, other)| {
            let folded = |letter: char| letter.to_uppercase().flat_map(char::to_lowercase);
            one == other || folded(one).eq(folded(other))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_once() {
        let found = members(r#"{"x":[1 ],"b":null,"\u0061":"1"}"#, ["a", "b", "c"]);
        let found = found
            .expect("an object")
            .map(|value| value.map(RawValue::get));
        assert_eq!(found, [Some("\"1\""), Some("null"), None]);
        for bad in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"A":1}"#,
            r#"{"a":1} {}"#,
            r#"{"a":1,}"#,
            "[]",
            "",
        ] {
            assert!(members(bad, ["a"]).is_err(), "{bad}");
        }
    }

    #[test]
    fn letters_that_other_readers_fold_are_equal() {
        for name in ["Params", "PARAMS", "param\u{17f}"] {
            assert!(is_same_ignoring_case("params", name), "{name}");
        }
        assert!(is_same_ignoring_case("task", "tas\u{212a}"));
        assert!(
            !is_same_ignoring_case("params", "param")
                && !is_same_ignoring_case("params", "jsonrpc")
        );
    }
}
