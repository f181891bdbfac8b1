//! `callwright mcp --print-config`: prints the client configuration entry, with every option that was given.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use callwright_mcp::config;
use callwright_mcp::hub::ServerGroup;

use super::{NO_COMMAND, servers};
use crate::CommandOutcome;
use crate::args::McpArguments;
use crate::input::{self, shown};

/// Options whose value is a file, made absolute because the client starts us in another directory.
const FILES: [&str; 3] = ["--policy", "--record", "--servers"];

/// Prints the entry of one server before and after, or the single entry that replaces all servers of a file.
pub(super) fn print(arguments: &McpArguments) -> Result<CommandOutcome> {
    let options = options(std::env::args_os(), arguments.command.len())?;
    let entry = if let Some(file) = &arguments.servers {
        // Name clashes are better reported now than by the client.
        let servers = servers::servers(file)?;
        ServerGroup::new(servers).with_context(|| file.display().to_string())?;
        config::print_config_of_all(&options)
    } else {
        let Some((program, rest)) = arguments.command.split_first() else {
            bail!(NO_COMMAND);
        };
        let program = input::absolute_program(text(program)?)?;
        let rest: Vec<String> = rest
            .iter()
            .map(|word| argument(word))
            .collect::<Result<_>>()?;
        config::print_config(&program, &rest, &options)
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", entry.trim_end()).context("cannot write to standard output")?;
    Ok(CommandOutcome::Clean)
}

/// The options of our own command line except this one, with absolute paths. The server command comes last.
fn options(ours: impl Iterator<Item = OsString>, command: usize) -> Result<Vec<String>> {
    let mut ours: Vec<OsString> = ours.skip_while(|word| word != "mcp").skip(1).collect();
    ours.truncate(ours.len().saturating_sub(command));
    ours.retain(|word| word != "--print-config" && word != "--");
    let ours: Vec<&str> = ours.iter().map(|word| text(word)).collect::<Result<_>>()?;
    let mut is_file = false;
    let absolute_files = ours.into_iter().map(|word| {
        if std::mem::replace(&mut is_file, FILES.contains(&word)) {
            return input::absolute(word);
        }
        match word.split_once('=') {
            Some((name, file)) if FILES.contains(&name) => {
                Ok(format!("{name}={}", input::absolute(file)?))
            }
            _ => Ok(word.to_owned()),
        }
    });
    absolute_files.collect()
}

/// An argument of the server, made absolute if it is certainly a path: it begins with a dot, or names a file that exists
/// (`node dist/index.js`). A directory may only be called as a package or a command is.
fn argument(word: &OsStr) -> Result<String> {
    let word = text(word)?;
    let begins_with_dot = matches!(word, "." | "..")
        || ["./", "../", ".\\", "..\\"]
            .iter()
            .any(|dots| word.starts_with(dots));
    if begins_with_dot || Path::new(word).is_file() {
        input::absolute(word)
    } else {
        Ok(word.to_owned())
    }
}

fn text(word: &OsStr) -> Result<&str> {
    word.to_str().with_context(|| {
        format!(
            "{} is not UTF-8, so it cannot be in a configuration; rename it",
            shown(Path::new(word))
        )
    })
}
