//! Renders client configuration entries to paste: a server before and after the guard is put in front of it.
//!
//! Takes the command of a server; returns text. The name of the server is derived from the command.

use serde_json::json;

/// The command of the guard.
const CALLWRIGHT: &str = "callwright";

/// The configuration entry of a server, before and after the guard is put in front of it. `options` are those of
/// `callwright mcp`.
///
/// ```
/// use callwright_mcp::config::print_config;
///
/// let args = ["-y".to_owned(), "@modelcontextprotocol/server-filesystem".to_owned()];
/// let text = print_config("npx", &args, &["--fix-schemas".to_owned()]);
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
pub fn print_config(command: &str, args: &[String], options: &[String]) -> String {
    let name = server_name(command, args);
    let plain: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut guarded = vec!["mcp"];
    guarded.extend(options.iter().map(String::as_str));
    guarded.extend(["--", command]);
    guarded.extend(&plain);
    let before = entry(&name, command, &plain);
    let after = entry(&name, CALLWRIGHT, &guarded);
    format!("before:\n{before}\nafter:\n{after}")
}

/// The single configuration entry that replaces all servers of a file. `options` are those of `callwright mcp`.
///
/// ```
/// use callwright_mcp::config::print_config_of_all;
///
/// let options = ["--servers".to_owned(), "/home/me/servers.json".to_owned()];
/// assert!(print_config_of_all(&options).contains(r#""--servers""#));
/// ```
pub fn print_config_of_all(options: &[String]) -> String {
    let options = options.iter().map(String::as_str);
    let args: Vec<&str> = ["mcp"].into_iter().chain(options).collect();
    entry(CALLWRIGHT, CALLWRIGHT, &args)
}

fn entry(name: &str, command: &str, args: &[&str]) -> String {
    let entry = json!({"mcpServers": { (name): {"command": command, "args": args}}});
    format!("{entry:#}\n")
}

/// Programs that run what their arguments name, and words that precede that name.
const RUNNERS: [&str; 17] = [
    "npx", "pnpx", "bunx", "uvx", "pipx", "pnpm", "yarn", "bun", "uv", "npm", "node", "deno",
    "python", "python3", "docker", "podman", "env",
];
const RUNNER_WORDS: [&str; 5] = ["dlx", "run", "exec", "tool", "x"];

/// File names that say nothing about a server; its directory does.
const ANY_FILE: [&str; 7] = ["index", "main", "server", "cli", "app", "dist", "build"];

/// A name for a server, from its command: `filesystem` for `npx -y @modelcontextprotocol/server-filesystem`.
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

/// The last part of a path, without a version or a file extension.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_after_their_command() {
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
}
