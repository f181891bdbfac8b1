//! The configuration of MCP clients: its servers, with and without a guard in front of them.
//!
//! Claude Desktop, Claude Code, Cursor, Windsurf and others use `mcpServers`, VS Code uses `servers`, Zed
//! `context_servers`; the entries are nearly the same. Takes the text of such a file; returns the servers in it, or
//! the text with guards. Never looks for or writes a file.

mod expand;
mod file;
pub mod guard;
mod print;
mod read;

use std::collections::BTreeMap;

pub use self::expand::expand;
pub use self::print::{print_config, print_config_of_all};
pub use self::read::read_servers;

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
    /// Every string in it that may contain placeholders.
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
    #[error("expected an object with the servers under `mcpServers`, or `servers` for VS Code")]
    NotAnObject,
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
    #[error("{place}: no `path` given; add the program, or write it as the text of `command`")]
    NoPath { place: String },
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
        "server {name:?}: its name, which starts the names of its tools, must have 1 to {most} characters; rename it"
    )]
    Name { name: String, most: usize },
    #[error(
        "servers {name:?} and {other:?}: their names start the names of their tools, which could not be told apart; rename one of them"
    )]
    SameNames { name: String, other: String },
}
