//! The servers that share a guard, and the prefixes of their tool names.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use super::names::{SEPARATOR, in_plain_letters};
use crate::config::{ConfigError, ConfigFault, ServerEntry, Servers};
use crate::process::ServerCommand;

/// Leaves more than twenty characters for the name of a tool.
const LONGEST_NAME: usize = 40;

/// The servers that share a guard.
#[derive(Debug, Clone)]
pub struct ServerGroup {
    pub(crate) members: Vec<GroupMember>,
    /// Whether the only server is presented to the client unchanged, not as one of many.
    pub(crate) is_direct: bool,
    /// How long servers may take to answer `initialize`. In a group, slower ones are added later; one that was
    /// restarted is given up.
    pub start_limit: Duration,
}

/// Common clients give us ten seconds or more, and a slow server should not cost the client the others.
const START_LIMIT: Duration = Duration::from_secs(7);

#[derive(Debug, Clone)]
pub(crate) struct GroupMember {
    /// As in the configuration; empty for a server that is presented unchanged.
    pub(crate) name: String,
    /// The prefix of its tool names.
    pub(crate) prefix: String,
    pub(crate) endpoint: Endpoint,
}

#[derive(Debug, Clone)]
pub(crate) enum Endpoint {
    Command(ServerCommand),
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP reads it"))]
    Url {
        url: String,
        headers: BTreeMap<String, String>,
    },
}

impl ServerGroup {
    /// A single server, which is started with a command. Everything it sends passes unchanged.
    pub fn direct(program: OsString, arguments: Vec<OsString>) -> Self {
        let command = ServerCommand {
            program,
            arguments,
            variables: BTreeMap::new(),
            folder: None,
        };
        ServerGroup {
            members: vec![GroupMember {
                name: String::new(),
                prefix: String::new(),
                endpoint: Endpoint::Command(command),
            }],
            is_direct: true,
            start_limit: START_LIMIT,
        }
    }

    /// The servers of a configuration file, sorted by name.
    ///
    /// # Errors
    /// If there is none, or if tools of two servers could have the same name.
    ///
    /// ```
    /// use callwright_mcp::config::read_servers;
    /// use callwright_mcp::hub::ServerGroup;
    ///
    /// let servers = read_servers(r#"{"mcpServers": {"my files": {"command": "a"}, "my_files": {"command": "b"}}}"#)?;
    /// let error = ServerGroup::new(servers).expect_err("the tools of both start with `my_files__`");
    /// assert!(error.to_string().contains("rename one of them"));
    /// # Ok::<(), callwright_mcp::config::ConfigError>(())
    /// ```
    pub fn new(servers: Servers) -> Result<Self, ConfigError> {
        if servers.is_empty() {
            return Err(ConfigFault::NoneToGuard.into());
        }
        let mut prefixes: BTreeMap<String, String> = BTreeMap::new();
        let mut members = Vec::with_capacity(servers.len());
        for (name, server) in servers {
            let plain = in_plain_letters(&name);
            if plain.is_empty() || plain.len() > LONGEST_NAME {
                let most = LONGEST_NAME;
                return Err(ConfigFault::Name { name, most }.into());
            }
            let prefix = format!("{plain}{SEPARATOR}");
            // If one prefix starts with another, a name could belong to either server.
            let begins = |other: &&String| other.starts_with(&prefix) || prefix.starts_with(*other);
            if let Some(other) = prefixes.keys().find(begins) {
                let other = prefixes.get(other).cloned().unwrap_or_default();
                return Err(ConfigFault::SameNames { name, other }.into());
            }
            prefixes.insert(prefix.clone(), name.clone());
            let endpoint = match server {
                ServerEntry::Url { url, headers } => Endpoint::Url { url, headers },
                ServerEntry::Command {
                    command,
                    args,
                    env,
                    cwd,
                } => Endpoint::Command(ServerCommand {
                    program: command.into(),
                    arguments: args.into_iter().map(OsString::from).collect(),
                    variables: env,
                    folder: cwd.map(Into::into),
                }),
            };
            members.push(GroupMember {
                name,
                prefix,
                endpoint,
            });
        }
        Ok(ServerGroup {
            members,
            is_direct: false,
            start_limit: START_LIMIT,
        })
    }
}

impl GroupMember {
    pub(crate) fn description(&self) -> String {
        describe(&self.name)
    }
}

/// A server's name in a sentence for the client, without its command, which may contain secrets.
pub(crate) fn describe(name: &str) -> String {
    match name {
        "" => "the MCP server".to_owned(),
        name => format!("the MCP server {name:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(names: &[&str]) -> Result<Vec<String>, String> {
        let server = |name: &&str| {
            let server = ServerEntry::Url {
                url: "http://localhost".into(),
                headers: BTreeMap::new(),
            };
            ((*name).to_owned(), server)
        };
        let group = ServerGroup::new(names.iter().map(server).collect());
        let prefixes = |group: ServerGroup| group.members.into_iter().map(|member| member.prefix);
        group
            .map(|group| prefixes(group).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn prefixes_are_different() {
        assert_eq!(
            group(&["b", "a", "my files"]).unwrap(),
            ["a__", "b__", "my_files__"]
        );
        for names in [&["a b", "a_b"][..], &["a", "a__b"], &["a", "a_"]] {
            let error = group(names).unwrap_err();
            assert!(error.contains("rename one of them"), "{error}");
        }
        for names in [&[][..], &[""], &[&*"x".repeat(41)]] {
            assert!(group(names).is_err(), "{names:?}");
        }
    }
}
