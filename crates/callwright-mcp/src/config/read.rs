//! Reads the servers of a client's configuration.
//!
//! Takes the text of a file; returns its servers, or the place of the first fault. Never shows values: environments
//! and headers contain secrets.

use std::collections::BTreeMap;

use jsonc_parser::ast::{Object, ObjectProp, Value};

use super::file::{self, Reached, member};
use super::{ConfigError, ConfigFault, ServerEntry, Servers};

/// Reads the servers of a client's configuration file, except disabled ones. Client-specific members are ignored.
///
/// # Errors
/// Names the entry and what is wrong with it.
///
/// ```
/// use callwright_mcp::config::read_servers;
///
/// let text = r#"{"mcpServers": {"files": {"command": "npx", "args": "-y"}}}"#;
/// let error = read_servers(text).expect_err("arguments are a list");
/// assert_eq!(error.to_string(), "mcpServers.files.args: expected a list of strings, found a string");
/// ```
pub fn read_servers(text: &str) -> Result<Servers, ConfigError> {
    // Some Windows editors put a byte order mark before the text.
    let file = file::parse(text.trim_start_matches('\u{feff}'))?;
    let found = file.as_ref().and_then(|file| {
        let mut keys = file::KEYS.into_iter();
        keys.find_map(|key| Some((key, member(file, key)?)))
    });
    let (key, servers) = found.ok_or(ConfigFault::NoServers)?;
    let servers = object(&servers.value, key)?.properties.iter();
    let read = |server: &ObjectProp<'_>| {
        let name = server.name.as_str();
        let place = format!("{key}.{name}");
        let entry = object(&server.value, &place)?;
        let read = (!is_disabled(entry)).then(|| read_server(entry, place));
        Ok(read.transpose()?.map(|read| (name.to_owned(), read)))
    };
    servers
        .filter_map(|server| read(server).transpose())
        .collect()
}

/// Some clients use one key for it, some the other.
fn is_disabled(entry: &Object<'_>) -> bool {
    let says = |key: &str| Some(member(entry, key)?.value.as_boolean_lit()?.value);
    says("disabled") == Some(true) || says("enabled") == Some(false)
}

fn read_server(entry: &Object<'_>, place: String) -> Result<ServerEntry, ConfigFault> {
    let launch = match Reached::of(entry) {
        Reached::ByCommand(launch) => launch,
        Reached::ByUrl(url) => {
            return Ok(ServerEntry::Url {
                url: text(&url.value, &format!("{place}.{}", url.name.as_str()))?,
                headers: texts(entry, "headers", &place)?,
            });
        }
        Reached::Both => return Err(ConfigFault::Both { place }),
        Reached::Neither => return Err(ConfigFault::Neither { place }),
    };
    let cwd = member(entry, "cwd").map(|cwd| text(&cwd.value, &format!("{place}.cwd")));
    let cwd = cwd.transpose()?;
    let place = place + launch.place;
    let Some(program) = launch.program else {
        return Err(ConfigFault::NoPath { place });
    };
    Ok(ServerEntry::Command {
        command: text(
            &program.value,
            &format!("{place}.{}", program.name.as_str()),
        )?,
        args: list(launch.object, "args", &place)?,
        env: texts(launch.object, "env", &place)?,
        cwd,
    })
}

fn object<'f, 'a>(value: &'f Value<'a>, place: &str) -> Result<&'f Object<'a>, ConfigFault> {
    let object = value.as_object();
    object.ok_or_else(|| kind(value, place, "an object"))
}

fn text(value: &Value<'_>, place: &str) -> Result<String, ConfigFault> {
    let text = value.as_string_lit().map(|text| text.value.to_string());
    text.ok_or_else(|| kind(value, place, "a string"))
}

/// The list under a key; empty if there is none.
fn list(within: &Object<'_>, key: &str, place: &str) -> Result<Vec<String>, ConfigFault> {
    let Some(member) = member(within, key) else {
        return Ok(Vec::new());
    };
    let place = format!("{place}.{key}");
    let items = member.value.as_array();
    let items = items.ok_or_else(|| kind(&member.value, &place, "a list of strings"))?;
    let read = |(at, item)| text(item, &format!("{place}[{at}]"));
    items.elements.iter().enumerate().map(read).collect()
}

/// The object with strings under a key; empty if there is none.
fn texts(
    within: &Object<'_>,
    key: &str,
    place: &str,
) -> Result<BTreeMap<String, String>, ConfigFault> {
    let Some(member) = member(within, key) else {
        return Ok(BTreeMap::new());
    };
    let place = format!("{place}.{key}");
    let members = object(&member.value, &place)?.properties.iter();
    members
        .map(|member| {
            let key = member.name.as_str();
            Ok((
                key.to_owned(),
                text(&member.value, &format!("{place}.{key}"))?,
            ))
        })
        .collect()
}

fn kind(value: &Value<'_>, place: &str, expected: &'static str) -> ConfigFault {
    ConfigFault::Kind {
        place: place.to_owned(),
        expected,
        found: match value {
            Value::NullKeyword(_) => "null",
            Value::BooleanLit(_) => "a boolean",
            Value::NumberLit(_) => "a number",
            Value::StringLit(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_accepted() {
        let text = r#"{
            // VS Code
            "servers": {
                /* files */
                "files": {"command": "npx", "args": ["-y", "https://x//y",],},
            },
        }"#;
        let servers = read_servers(text).expect("settings as editors have them");
        let Some(ServerEntry::Command { args, .. }) = servers.get("files") else {
            panic!("{servers:?}");
        };
        assert_eq!(args[1], "https://x//y");
    }

    #[test]
    fn other_deviations_from_json_are_rejected() {
        for text in [
            "{servers: {}}",
            "{'servers': {}}",
            r#"{"servers": {"a": {"command": "x"} "b": {"command": "y"}}}"#,
            r#"{"servers": {"a": {"command": "x"}}"#,
            &"[".repeat(100_000),
        ] {
            let error = read_servers(text).expect_err("not JSON").to_string();
            assert!(error.starts_with("this is not JSON: "), "{error}");
        }
    }

    #[test]
    fn servers_are_read_from_either_file() {
        let servers = r#"{
            "files": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "cwd": "/tmp", "disabled": false},
            "plain": {"type": "stdio", "command": "server", "env": null},
            "off": {"command": "server", "disabled": true},
            "out": {"command": "server", "enabled": false},
            "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer x"}}
        }"#;
        for key in ["mcpServers", "servers"] {
            let read = read_servers(&format!(r#"{{"{key}": {servers}, "inputs": []}}"#));
            let read = read.expect("it is good");
            assert_eq!(read.keys().collect::<Vec<_>>(), ["files", "plain", "web"]);
            let texts = |pairs: &[(&str, &str)]| {
                let owned = pairs
                    .iter()
                    .map(|(key, value)| ((*key).into(), (*value).into()));
                owned.collect::<BTreeMap<String, String>>()
            };
            assert_eq!(
                read["files"],
                ServerEntry::Command {
                    command: "npx".into(),
                    args: vec!["-y".into(), "x".into()],
                    env: texts(&[("A", "1")]),
                    cwd: Some("/tmp".into()),
                }
            );
            assert_eq!(
                read["web"],
                ServerEntry::Url {
                    url: "https://example.com/mcp".into(),
                    headers: texts(&[("Authorization", "Bearer x")]),
                }
            );
        }
    }

    #[test]
    fn faults_say_where_and_hide_values() {
        for (text, says) in [
            (
                "{",
                "this is not JSON: Unterminated object on line 1 column 1",
            ),
            (
                "{}",
                "no servers found; put them under `mcpServers`, or `servers` for VS Code",
            ),
            (
                r#"{"mcpServers": []}"#,
                "mcpServers: expected an object, found a list",
            ),
            (
                r#"{"servers": {"a": 1}}"#,
                "servers.a: expected an object, found a number",
            ),
            (
                r#"{"mcpServers": {"a": {"args": []}}}"#,
                "mcpServers.a: neither `command` nor `url` given; add one of them",
            ),
            (
                r#"{"mcpServers": {"a": {"command": "x", "url": "y"}}}"#,
                "mcpServers.a: both `command` and `url` given; remove one of them",
            ),
            (
                r#"{"mcpServers": {"a": {"command": "x", "args": ["-p", 80]}}}"#,
                "mcpServers.a.args[1]: expected a string, found a number",
            ),
            (
                r#"{"mcpServers": {"a": {"command": "x", "env": {"PIN": 4711}}}}"#,
                "mcpServers.a.env.PIN: expected a string, found a number",
            ),
        ] {
            let error = read_servers(text).expect_err(text);
            assert_eq!(error.to_string(), says);
        }
    }
}
