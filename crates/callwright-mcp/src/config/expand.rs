//! Expands placeholders in a client's configuration: `${NAME}`, `${NAME:-default}` and `${env:NAME}` for environment
//! variables, `${userHome}` for the user's home directory.
//!
//! Takes the strings of a server entry; returns them with the values filled in. Anything else is kept, such as
//! `$NAME` or `${NAME%.*}`, which are meant for a shell.

use super::{ConfigError, ConfigFault, ServerEntry, Servers};

/// Replaces placeholders with the values of variables, as clients do.
///
/// # Errors
/// If a variable is not set, or if only a client can fill in a placeholder.
///
/// ```
/// use callwright_mcp::config::{ServerEntry, expand, read_servers};
///
/// let servers = read_servers(r#"{"mcpServers": {"a": {"url": "http://${HOST:-localhost}:${PORT}/mcp"}}}"#)?;
/// let servers = expand(servers, |name| (name == "PORT").then(|| "8000".to_owned()))?;
/// assert!(matches!(&servers["a"], ServerEntry::Url { url, .. } if url == "http://localhost:8000/mcp"));
/// # Ok::<(), callwright_mcp::config::ConfigError>(())
/// ```
pub fn expand(
    servers: Servers,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Servers, ConfigError> {
    let expanded = |(name, mut server): (String, ServerEntry)| {
        for text in server.texts_mut() {
            *text = expand_text(text, &name, &variable)?;
        }
        Ok((name, server))
    };
    servers.into_iter().map(expanded).collect()
}

fn expand_text(
    text: &str,
    server: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<String, ConfigFault> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((inside, after)) = after.split_once('}') else {
            expanded.push_str("${");
            rest = after;
            continue;
        };
        if let Some(value) = value(inside, server, variable)? {
            expanded.push_str(&value);
        } else {
            expanded.push_str("${");
            expanded.push_str(inside);
            expanded.push('}');
        }
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// The value of a placeholder; `None` if it is not one.
fn value(
    inside: &str,
    server: &str,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, ConfigFault> {
    let server = || server.to_owned();
    if inside == "userHome" {
        let home = variable("HOME").or_else(|| variable("USERPROFILE"));
        let name = "HOME".to_owned();
        let server = server();
        return home
            .map(Some)
            .ok_or(ConfigFault::NoVariable { server, name });
    }
    if inside.starts_with("input:") || inside.starts_with("workspaceFolder") {
        let placeholder = inside.to_owned();
        let server = server();
        return Err(ConfigFault::Placeholder {
            server,
            placeholder,
        });
    }
    let name = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match name.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (name, None),
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return Ok(None);
    }
    // If there is a default, an empty variable counts as unset, as in a shell.
    let found = variable(name).filter(|value| default.is_none() || !value.is_empty());
    match found.or_else(|| default.map(str::to_owned)) {
        Some(value) => Ok(Some(value)),
        None => Err(ConfigFault::NoVariable {
            server: server(),
            name: name.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        let variable = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            "HOME" => Some("/home/me".to_owned()),
            _ => None,
        };
        expand_text(text, "files", &variable).map_err(|fault| fault.to_string())
    }

    #[test]
    fn placeholders_are_filled_in() {
        for (text, becomes) in [
            ("plain $A {A} 100%", "plain $A {A} 100%"),
            ("${A}${env:A}-${A:-2}", "11-1"),
            ("${B:-2}/${EMPTY:-3}/${EMPTY}/${B:-}", "2/3//"),
            ("${userHome}/x", "/home/me/x"),
            ("${A%.*} ${} ${A", "${A%.*} ${} ${A"),
            ("${B:-${A}", "${A"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(becomes), "{text}");
        }
    }

    #[test]
    fn a_missing_variable_is_named() {
        for text in ["${B}", "x${env:B}"] {
            let error = expanded(text).expect_err(text);
            assert_eq!(
                error,
                "server \"files\": the environment variable B is not set; set it, or write ${B:-default}"
            );
        }
        for text in ["${input:key}", "${workspaceFolder}/x"] {
            let error = expanded(text).expect_err(text);
            assert!(error.contains("only the client can fill in"), "{error}");
        }
    }
}
