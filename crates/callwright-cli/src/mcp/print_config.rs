//! `callwright mcp --print-config`: prints the client configuration entry, with every option that was given.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use callwright_mcp::config;
use callwright_mcp::hub::ServerGroup;

use super::{NO_COMMAND, servers};
use crate::CommandOutcome;
use crate::args::McpArguments;

/// Options whose value is a file, made absolute because the client starts us in another directory.
const FILES: [&str; 3] = ["--policy", "--record", "--servers"];

/// Prints the entry of one server before and after, or the single entry that replaces all servers of a file.
pub(super) fn print(arguments: &McpArguments) -> Result<CommandOutcome> {
    let options = options(std::env::args(), arguments.command.len())?;
    let entry = if let Some(file) = &arguments.servers {
        // Name clashes are better reported now than by the client.
        let servers = servers::servers(file)?;
        ServerGroup::new(servers).with_context(|| file.display().to_string())?;
        config::print_config_of_all(&options, "callwright")
    } else {
        let words = arguments.command.iter();
        let words: Vec<String> = words.map(|it| it.to_string_lossy().into_owned()).collect();
        let Some((program, rest)) = words.split_first() else {
            bail!(NO_COMMAND);
        };
        config::print_config(program, rest, &options, "callwright")
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", entry.trim_end()).context("cannot write to standard output")?;
    Ok(CommandOutcome::Clean)
}

/// The options of our own command line except this one, with absolute paths. The server command comes last.
fn options(ours: impl Iterator<Item = String>, command: usize) -> Result<Vec<String>> {
    let mut ours: Vec<String> = ours.skip_while(|word| word != "mcp").skip(1).collect();
    ours.truncate(ours.len().saturating_sub(command));
    ours.retain(|word| word != "--print-config" && word != "--");
    let mut is_file = false;
    let absolute_files = ours.into_iter().map(|word| {
        if std::mem::replace(&mut is_file, FILES.contains(&word.as_str())) {
            return absolute(&word);
        }
        match word.split_once('=') {
            Some((name, file)) if FILES.contains(&name) => {
                Ok(format!("{name}={}", absolute(file)?))
            }
            _ => Ok(word),
        }
    });
    absolute_files.collect()
}

fn absolute(file: &str) -> Result<String> {
    let path = std::path::absolute(Path::new(file)).with_context(|| file.to_owned())?;
    Ok(path.to_string_lossy().into_owned())
}
