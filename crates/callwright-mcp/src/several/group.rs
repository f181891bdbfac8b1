//! The servers that are guarded together, and what the names of their tools begin with.

use std::collections::BTreeMap;

use super::names::{SEPARATOR, in_plain_letters};
use crate::config::{ConfigError, Fault, Server, Servers};

/// So that more than twenty letters are left for the name of a tool.
const LONGEST_NAME: usize = 40;

/// Servers that are guarded together.
#[derive(Debug, Clone)]
pub struct Group {
    pub(crate) members: Vec<Member>,
}

/// One of them.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// As the configuration calls it.
    pub(crate) name: String,
    /// What the names of its tools begin with.
    pub(crate) prefix: String,
    pub(crate) server: Server,
}

impl Group {
    /// A group of the servers of a configuration file, in the order of their names.
    ///
    /// # Errors
    /// If there is none, or if the tools of two of them could have the same name.
    ///
    /// ```
    /// use callwright_mcp::config::read_servers;
    /// use callwright_mcp::several::Group;
    ///
    /// let servers = read_servers(r#"{"mcpServers": {"my files": {"command": "a"}, "my_files": {"command": "b"}}}"#)?;
    /// let error = Group::new(servers).expect_err("both have tools that begin with `my_files__`");
    /// assert!(error.to_string().contains("rename one of them"));
    /// # Ok::<(), callwright_mcp::config::ConfigError>(())
    /// ```
    pub fn new(servers: Servers) -> Result<Self, ConfigError> {
        if servers.is_empty() {
            return Err(Fault::NoneToGuard.into());
        }
        let mut prefixes: BTreeMap<String, String> = BTreeMap::new();
        let mut members = Vec::with_capacity(servers.len());
        for (name, server) in servers {
            let plain = in_plain_letters(&name);
            if plain.is_empty() || plain.len() > LONGEST_NAME {
                let most = LONGEST_NAME;
                return Err(Fault::Name { name, most }.into());
            }
            let prefix = format!("{plain}{SEPARATOR}");
            // One that begins with another one leaves open whose tool a name is.
            let begins = |other: &&String| other.starts_with(&prefix) || prefix.starts_with(*other);
            if let Some(other) = prefixes.keys().find(begins) {
                let other = prefixes.get(other).cloned().unwrap_or_default();
                return Err(Fault::SameNames { name, other }.into());
            }
            prefixes.insert(prefix.clone(), name.clone());
            members.push(Member {
                name,
                prefix,
                server,
            });
        }
        Ok(Group { members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(names: &[&str]) -> Result<Vec<String>, String> {
        let server = |name: &&str| {
            let server = Server::Url {
                url: "http://localhost".into(),
                headers: BTreeMap::new(),
            };
            ((*name).to_owned(), server)
        };
        let group = Group::new(names.iter().map(server).collect());
        let prefixes = |group: Group| group.members.into_iter().map(|member| member.prefix);
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
