//! The configuration of MCP clients: the entry of a server, with and without a guard in front of it.
//!
//! Claude Desktop, Claude Code, Cursor, Windsurf and others keep `mcpServers`, VS Code keeps `servers`; the entries are
//! the same. Takes the text of such a file; returns the servers in it. No file is looked for or written here.

mod expand;

use std::collections::BTreeMap;

use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Map, Value, json};

pub use self::expand::expand;

/// The servers of a configuration file, by name.
pub type Servers = BTreeMap<String, ServerEntry>;

/// How a client reaches a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerEntry {
    /// The client starts it.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Added to the client's environment.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// The client reaches it over HTTP.
    Url {
        /// Its address.
        url: String,
        /// Sent with each request.
        headers: BTreeMap<String, String>,
    },
}

impl ServerEntry {
    /// Everything in it that may have placeholders.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            ServerEntry::Command {
                command,
                args,
                env,
                cwd,
            } => [command]
                .into_iter()
                .chain(args)
                .chain(env.values_mut())
                .chain(cwd)
                .collect(),
            ServerEntry::Url { url, headers } => {
                [url].into_iter().chain(headers.values_mut()).collect()
            }
        }
    }
}

/// What is wrong with a configuration file, and where.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ConfigError(#[from] ConfigFault);

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigFault {
    #[error("this is not JSON: {0}")]
    NotJson(jsonc_parser::errors::ParseError),
    #[error("no servers found; put them under `mcpServers`, or `servers` for VS Code")]
    NoServers,
    #[error("{place}: expected {expected}, found {found}")]
    Kind {
        place: String,
        expected: &'static str,
        found: &'static str,
    },
    #[error("{place}: neither `command` nor `url` given; add one of them")]
    Neither { place: String },
    #[error("{place}: both `command` and `url` given; remove one of them")]
    Both { place: String },
    #[error(
        "server {server:?}: the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
    )]
    NoVariable { server: String, name: String },
    #[error(
        "server {server:?}: only the client can fill in ${{{placeholder}}}; write the value, or take it from an environment variable"
    )]
    Placeholder { server: String, placeholder: String },
    #[error("no server to guard; the file has none, or all of them are disabled")]
    NoneToGuard,
    #[error(
        "server {name:?}: the names of its tools start with its name, which must have 1 to {most} letters; rename it"
    )]
    Name { name: String, most: usize },
    #[error(
        "servers {name:?} and {other:?}: the names of their tools start with their names and could not be told apart; rename one of them"
    )]
    SameNames { name: String, other: String },
}

/// The entry of a server in a client's configuration, before and after the guard is in front of it. `options` are those of
/// `callwright mcp`.
///
/// ```
/// use callwright_mcp::config::print_config;
///
/// let args = ["-y".to_owned(), "@modelcontextprotocol/server-filesystem".to_owned()];
/// let text = print_config("npx", &args, &["--fix-schemas".to_owned()], "callwright");
/// assert!(text.ends_with(r#"{
///   "mcpServers": {
///     "filesystem": {
///       "command": "callwright",
///       "args": [
///         "mcp",
///         "--fix-schemas",
///         "--",
///         "npx",
///         "-y",
///         "@modelcontextprotocol/server-filesystem"
///       ]
///     }
///   }
/// }
/// "#));
/// ```
pub fn print_config(
    command: &str,
    args: &[String],
    options: &[String],
    callwright_path: &str,
) -> String {
    let name = server_name(command, args);
    let plain: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut guarded = vec!["mcp"];
    guarded.extend(options.iter().map(String::as_str));
    guarded.extend(["--", command]);
    guarded.extend(&plain);
    let before = entry(&name, command, &plain);
    let after = entry(&name, callwright_path, &guarded);
    format!("before:\n{before}\nafter:\n{after}")
}

/// The one entry in a client's configuration that replaces all servers of a file. `options` are those of `callwright mcp`.
///
/// ```
/// use callwright_mcp::config::print_config_of_all;
///
/// let options = ["--servers".to_owned(), "/home/me/servers.json".to_owned()];
/// assert!(print_config_of_all(&options, "callwright").contains(r#""--servers""#));
/// ```
pub fn print_config_of_all(options: &[String], callwright_path: &str) -> String {
    let options = options.iter().map(String::as_str);
    let args: Vec<&str> = ["mcp"].into_iter().chain(options).collect();
    entry("callwright", callwright_path, &args)
}

fn entry(name: &str, command: &str, args: &[&str]) -> String {
    let entry = json!({"mcpServers": { (name): {"command": command, "args": args}}});
    format!("{entry:#}\n")
}

/// Programs that run what their arguments name, and words before that name.
const RUNNERS: [&str; 17] = [
    "npx", "pnpx", "bunx", "uvx", "pipx", "pnpm", "yarn", "bun", "uv", "npm", "node", "deno",
    "python", "python3", "docker", "podman", "env",
];
const RUNNER_WORDS: [&str; 5] = ["dlx", "run", "exec", "tool", "x"];

/// Names of files that say nothing about a server; its folder does.
const ANY_FILE: [&str; 7] = ["index", "main", "server", "cli", "app", "dist", "build"];

/// What a server is called, by its command: `filesystem` for `npx -y @modelcontextprotocol/server-filesystem`.
fn server_name(command: &str, args: &[String]) -> String {
    let is_runner = RUNNERS.contains(&stem(command));
    let is_name =
        |word: &&str| !word.starts_with('-') && !word.contains('=') && !RUNNER_WORDS.contains(word);
    let mut words = args.iter().map(String::as_str).filter(is_name);
    let named = words.next().filter(|_| is_runner).unwrap_or(command);
    let mut parts = named.rsplit(['/', '\\']).map(stem);
    let part = parts.find(|part| !ANY_FILE.contains(part) && !part.is_empty());
    let mut name = part.unwrap_or("server");
    for prefix in ["mcp-server-", "server-", "mcp-"] {
        name = name.strip_prefix(prefix).unwrap_or(name);
    }
    for suffix in ["-mcp-server", "-server", "-mcp", "_mcp"] {
        name = name.strip_suffix(suffix).unwrap_or(name);
    }
    if name.is_empty() { "server" } else { name }.to_owned()
}

/// The last part of a path, without a version or the ending of a file.
fn stem(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let file = match file.split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => file,
    };
    let file = file.split_once(':').map_or(file, |(name, _)| name);
    for ending in [".js", ".mjs", ".cjs", ".ts", ".py", ".exe", ".cmd", ".sh"] {
        if let Some(stem) = file.strip_suffix(ending) {
            return stem;
        }
    }
    file
}

/// Reads the servers of a client's configuration file, except those that are disabled. Members that only clients know
/// are ignored.
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
    let file = read_file(text).map_err(ConfigFault::NotJson)?;
    let found = ["mcpServers", "servers"]
        .into_iter()
        .find_map(|key| Some((key, file.get(key)?)));
    let (key, servers) = found.ok_or(ConfigFault::NoServers)?;
    let servers = object(servers, key)?;
    let read = |(name, entry): (&String, &Value)| {
        let server = read_server(entry, &format!("{key}.{name}"))?;
        Ok((name.clone(), server))
    };
    servers
        .iter()
        .filter(|(_, entry)| !is_disabled(entry))
        .map(read)
        .collect()
}

/// JSON with comments and trailing commas, as editors allow them in their settings, and nothing else.
fn read_file(text: &str) -> Result<Value, jsonc_parser::errors::ParseError> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    let liberties = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_loose_object_property_names: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let value = parse_to_ast(text, &collect, &liberties)?.value;
    Ok(value.map_or(Value::Null, Value::from))
}

/// Some clients have one word for it, some the other.
fn is_disabled(entry: &Value) -> bool {
    let says = |key: &str| entry.get(key).and_then(Value::as_bool);
    says("disabled") == Some(true) || says("enabled") == Some(false)
}

fn read_server(entry: &Value, place: &str) -> Result<ServerEntry, ConfigFault> {
    let members = object(entry, place)?;
    let member = |key: &str| {
        let value = members.get(key).filter(|value| !value.is_null());
        value.map(|value| (value, format!("{place}.{key}")))
    };
    let place = place.to_owned();
    // Windsurf and Gemini call it differently.
    let url = ["url", "serverUrl", "httpUrl"].into_iter().find_map(member);
    match (member("command"), url) {
        (Some((command, at)), None) => Ok(ServerEntry::Command {
            command: text(command, &at)?,
            args: member("args").map_or(Ok(Vec::new()), |(args, at)| list(args, &at))?,
            env: member("env").map_or(Ok(BTreeMap::new()), |(env, at)| texts(env, &at))?,
            cwd: member("cwd").map(|(cwd, at)| text(cwd, &at)).transpose()?,
        }),
        (None, Some((url, at))) => Ok(ServerEntry::Url {
            url: text(url, &at)?,
            headers: member("headers").map_or(Ok(BTreeMap::new()), |(all, at)| texts(all, &at))?,
        }),
        (None, None) => Err(ConfigFault::Neither { place }),
        (Some(_), Some(_)) => Err(ConfigFault::Both { place }),
    }
}

fn object<'v>(value: &'v Value, place: &str) -> Result<&'v Map<String, Value>, ConfigFault> {
    value
        .as_object()
        .ok_or_else(|| kind(value, place, "an object"))
}

fn text(value: &Value, place: &str) -> Result<String, ConfigFault> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| kind(value, place, "a string"))
}

fn list(value: &Value, place: &str) -> Result<Vec<String>, ConfigFault> {
    let items = value.as_array();
    let items = items.ok_or_else(|| kind(value, place, "a list of strings"))?;
    let read = |(at, item): (usize, &Value)| text(item, &format!("{place}[{at}]"));
    items.iter().enumerate().map(read).collect()
}

fn texts(value: &Value, place: &str) -> Result<BTreeMap<String, String>, ConfigFault> {
    let members = object(value, place)?.iter();
    members
        .map(|(key, value)| Ok((key.clone(), text(value, &format!("{place}.{key}"))?)))
        .collect()
}

/// Never the value itself: environments and headers hold secrets.
fn kind(value: &Value, place: &str, expected: &'static str) -> ConfigFault {
    ConfigFault::Kind {
        place: place.to_owned(),
        expected,
        found: match value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_after_what_they_are() {
        for (command, name) in [
            (
                "npx -y @modelcontextprotocol/server-filesystem /data",
                "filesystem",
            ),
            ("npx -y @playwright/mcp@latest", "mcp"),
            ("npx some-server@1.2.3", "some"),
            ("uvx mcp-server-git --repository .", "git"),
            ("uv run --directory=/x github-mcp-server", "github"),
            ("python3 -m my_server", "my_server"),
            ("python /opt/weather/server.py", "weather"),
            ("node /opt/notes/dist/index.js", "notes"),
            (
                "docker run -i --rm ghcr.io/github/github-mcp-server",
                "github",
            ),
            ("docker run -i mcp/time:1.0", "time"),
            ("/usr/local/bin/mcp-grafana", "grafana"),
            ("npx", "npx"),
        ] {
            let mut words = command.split(' ').map(str::to_owned);
            let program = words.next().expect("a program");
            let args: Vec<String> = words.collect();
            assert_eq!(server_name(&program, &args), name, "{command}");
        }
    }

    #[test]
    fn comments_and_last_commas_are_no_errors() {
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
    fn no_other_liberty_is_taken() {
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
