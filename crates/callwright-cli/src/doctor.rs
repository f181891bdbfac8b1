//! `callwright doctor`: reports what is built in, which clients are guarded, and which helper programs are installed.
//!
//! Read-only: starts nothing and writes nothing.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use callwright_mcp::config::guard::{self, State};
use clap::{Args, ValueEnum as _};

use crate::init::script_or_program;
use crate::input::{self, printable, shown};
use crate::mcp_clients::{Folders, LARGEST_CONFIGURATION, McpClient, describe};
use crate::{CommandOutcome, version};

/// Show which clients were found and guarded, and which programs are installed
///
/// Looks for MCP client configurations and shows which of their servers are guarded; lists the programs that
/// integrations and tests use. Starts and changes nothing.
///
/// Exit codes: 0; 1 if a configuration cannot be read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  See what is guarded, before and after `callwright init`
    callwright doctor")]
pub(crate) struct DoctorArguments {}

/// Programs that an integration or a test uses if they are installed; any of the names will do.
const PROGRAMS: [(&[&str], &str); 6] = [
    (&["npx"], "MCP servers from npm"),
    (&["uvx", "uv"], "MCP servers from PyPI"),
    (
        &["redis-server", "valkey-server"],
        "sessions shared between replicas; tests of callwright-redis",
    ),
    (
        &["python3", "python"],
        "tests with official clients and SDKs",
    ),
    (&["node"], "tests with official servers and SDKs"),
    (
        &["chromium", "chromium-browser", "google-chrome"],
        "tests of the pages",
    ),
];

pub(crate) fn run(_: &DoctorArguments) -> Result<CommandOutcome> {
    let mut report = format!("callwright {}\n", version::LONG.replace('\n', "\n  "));
    if let Some(own) = script_or_program().or_else(|| env::current_exe().ok()) {
        report += &format!("  program   {}\n", shown(&own));
    }
    let unreadable = clients(&mut report);
    report += "\nPrograms\n";
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    for (names, used_for) in PROGRAMS {
        let found = names.iter().find_map(|name| find(&folders, name));
        let found = found.map_or_else(|| "not found".to_owned(), |file| shown(&file));
        report += &format!("  {:13} {found} ({used_for})\n", names[0]);
    }
    let mut stdout = std::io::stdout().lock();
    write!(stdout, "{report}").context("cannot write to standard output")?;
    Ok(if unreadable {
        CommandOutcome::Findings
    } else {
        CommandOutcome::Clean
    })
}

/// Adds the clients to a report. Returns whether any configuration could not be read.
fn clients(report: &mut String) -> bool {
    *report += "\nClients\n";
    let Some(folders) = Folders::of_user() else {
        *report += "  skipped: no home directory in the environment\n";
        return false;
    };
    let mut unreadable = false;
    for client in McpClient::value_variants() {
        let files = client.found(&folders);
        if files.is_empty() {
            *report += &format!("  {:14} not found\n", client.title());
        }
        let mut plain = false;
        for file in files {
            *report += &format!("  {:14} {}\n", client.title(), folders.short(&file));
            let servers = input::read_text(&file, "configuration", LARGEST_CONFIGURATION)
                .and_then(|text| Ok(guard::list(&text, &[client.key()])?));
            match servers {
                Ok(servers) if servers.is_empty() => *report += "    no servers configured\n",
                Ok(servers) => {
                    for server in servers {
                        plain |= server.state == State::Plain;
                        let name = printable(&server.name);
                        *report += &format!("    {name}: {}\n", describe(server.state));
                    }
                }
                Err(error) => {
                    unreadable = true;
                    *report += &format!("    {}\n", printable(&format!("{error:#}")));
                }
            }
        }
        if plain {
            *report += &format!(
                "    guard them: callwright init --client {}\n",
                client.name()
            );
        }
    }
    unreadable
}

/// Finds a program in the folders of the search path.
fn find(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd", ".bat"]
    } else {
        &[""]
    };
    let names: Vec<String> = endings
        .iter()
        .map(|ending| format!("{name}{ending}"))
        .collect();
    let files = folders
        .iter()
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    files.into_iter().find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.metadata()
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    file.is_file()
}
