//! Request ids and progress tokens of servers. Each server counts for itself, and the client must tell them apart.
//!
//! Takes an id as a server wrote it; returns a string that contains it and the position of its server. Translating
//! back needs no memory.

use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The id for the client: `7` of server 2 is `"2/7"`.
pub(crate) fn marked(server: usize, id: &str) -> String {
    json!(format!("{server}/{id}")).to_string()
}

/// The server that an id belongs to, and the id as that server wrote it. `None` if it was never marked.
pub(crate) fn unmarked(id: &str) -> Option<(usize, String)> {
    let Ok(Value::String(text)) = serde_json::from_str(id) else {
        return None;
    };
    let (server, id) = text.split_once('/')?;
    let server = server.parse().ok()?;
    let _is_json: &RawValue = serde_json::from_str(id).ok()?;
    Some((server, id.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_restored() {
        for id in [
            "0",
            "-7",
            "1.0",
            r#""a""#,
            r#""3/4""#,
            r#""\u00e9 \"""#,
            "null",
        ] {
            for server in [0, 1, 17] {
                assert_eq!(unmarked(&marked(server, id)), Some((server, id.to_owned())));
            }
        }
        assert_eq!(marked(2, "7"), r#""2/7""#);
        for other in ["7", r#""7""#, r#""a/7""#, r#""1/""#, r#""1/x""#, "null"] {
            assert_eq!(unmarked(other), None, "{other}");
        }
    }
}
