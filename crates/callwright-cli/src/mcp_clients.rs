//! MCP clients: where each one keeps its server configuration, and under which key.
//!
//! Takes a user's directories; returns paths. [`guard`](callwright_mcp::config::guard) reads and edits the text of
//! such a file.

use std::env;
use std::path::{Path, PathBuf};

use callwright_mcp::config::guard::State;
use clap::ValueEnum;

/// The largest configuration that is read. Claude Code keeps its history in the same file.
pub(crate) const LARGEST_CONFIGURATION: u64 = 64 * 1024 * 1024;

/// The description of a server's state, shown after its name.
pub(crate) fn describe(state: State) -> &'static str {
    match state {
        State::Plain => "not guarded",
        State::Guarded => "guarded",
        State::ByUrl => "reached by URL, left alone; see `callwright mcp --upstream`",
        State::NoCommand => "no command, left alone",
        State::Unusual => "left alone; it needs a command and a list of strings as arguments",
    }
}

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpClient {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Windsurf,
    Zed,
}

impl McpClient {
    /// The name as its makers write it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            McpClient::ClaudeDesktop => "Claude Desktop",
            McpClient::ClaudeCode => "Claude Code",
            McpClient::Cursor => "Cursor",
            McpClient::Vscode => "VS Code",
            McpClient::Windsurf => "Windsurf",
            McpClient::Zed => "Zed",
        }
    }

    /// The name that `--client` takes.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The key under which its servers are listed.
    pub(crate) fn key(self) -> &'static str {
        match self {
            McpClient::Vscode => "servers",
            McpClient::Zed => "context_servers",
            _ => "mcpServers",
        }
    }

    /// Where its files may be: the user's first, then those of the project in the working directory.
    pub(crate) fn files(self, folders: &Folders) -> Vec<PathBuf> {
        let Folders {
            home,
            settings,
            project,
        } = folders;
        match self {
            McpClient::ClaudeDesktop => vec![settings.join("Claude/claude_desktop_config.json")],
            McpClient::ClaudeCode => vec![home.join(".claude.json"), project.join(".mcp.json")],
            McpClient::Cursor => vec![
                home.join(".cursor/mcp.json"),
                project.join(".cursor/mcp.json"),
            ],
            McpClient::Vscode => vec![
                settings.join("Code/User/mcp.json"),
                project.join(".vscode/mcp.json"),
            ],
            McpClient::Windsurf => vec![home.join(".codeium/windsurf/mcp_config.json")],
            // On macOS too, Zed keeps its settings where Linux programs do.
            McpClient::Zed => {
                let own = if cfg!(windows) {
                    settings.join("Zed/settings.json")
                } else if cfg!(target_os = "macos") {
                    home.join(".config/zed/settings.json")
                } else {
                    settings.join("zed/settings.json")
                };
                vec![own, project.join(".zed/settings.json")]
            }
        }
    }

    /// Those of its files that exist.
    pub(crate) fn found(self, folders: &Folders) -> Vec<PathBuf> {
        let mut files = self.files(folders);
        files.retain(|file| file.is_file());
        files
    }
}

/// Directories in which programs keep a user's settings.
#[derive(Debug)]
pub(crate) struct Folders {
    home: PathBuf,
    settings: PathBuf,
    project: PathBuf,
}

impl Folders {
    /// The directories of the current user; `None` if the environment has no home directory.
    pub(crate) fn of_user() -> Option<Self> {
        let folder = |name: &str| {
            let path = PathBuf::from(env::var_os(name)?);
            path.is_absolute().then_some(path)
        };
        let home = folder(if cfg!(windows) { "USERPROFILE" } else { "HOME" })?;
        let settings = if cfg!(windows) {
            folder("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming"))
        } else if cfg!(target_os = "macos") {
            home.join("Library/Application Support")
        } else {
            folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
        };
        let project = env::current_dir().unwrap_or_else(|_| home.clone());
        Some(Folders {
            home,
            settings,
            project,
        })
    }

    /// A path as a user would write it.
    pub(crate) fn short(&self, path: &Path) -> String {
        let shown = match (
            path.strip_prefix(&self.project),
            path.strip_prefix(&self.home),
        ) {
            (Ok(rest), _) => rest.to_path_buf(),
            (_, Ok(rest)) if !cfg!(windows) => Path::new("~").join(rest),
            _ => path.to_path_buf(),
        };
        crate::input::shown(&shown)
    }
}
