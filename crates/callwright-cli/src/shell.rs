//! `callwright completions` and `callwright man`: shell completions and manual pages, generated from the command
//! line.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Arguments;
use crate::input::shown;
use crate::{CommandOutcome, version};

/// Print a shell completion script
///
/// For zsh, save it as `_callwright` in a directory of `$fpath`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  For bash and for fish
    callwright completions bash > ~/.local/share/bash-completion/completions/callwright
    callwright completions fish > ~/.config/fish/completions/callwright.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell to print it for
    shell: Shell,
}

/// Print the manual page of a command, or write all of them into a directory
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  Read one page, or install all of them
    callwright man mcp | man -l -
    callwright man --out ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// The command whose page to print; that of the whole program if omitted
    command: Option<String>,

    /// Write all pages into this directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "command")]
    out: Option<PathBuf>,
}

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<CommandOutcome> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "callwright",
        &mut script,
    );
    print(&script)
}

pub(crate) fn man(arguments: &ManArguments) -> Result<CommandOutcome> {
    let mut whole = Arguments::command();
    whole.build();
    let mut commands = whole
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    if let Some(folder) = &arguments.out {
        fs::create_dir_all(folder).with_context(|| {
            let folder = shown(folder);
            format!("cannot create the directory {folder}; give another one with --out")
        })?;
        write(folder, "callwright.1", &page(&whole)?)?;
        for command in commands.filter(|command| command.get_name() != "help") {
            write(
                folder,
                &format!("{}.1", page_name(command)),
                &page(command)?,
            )?;
        }
        return Ok(CommandOutcome::Clean);
    }
    let command = match &arguments.command {
        None => &whole,
        Some(name) => match commands.find(|command| command.get_name() == name) {
            Some(command) => command,
            None => bail!("unknown command `{name}`; `callwright --help` lists them"),
        },
    };
    print(&page(command)?)
}

/// `callwright mcp` has the page `callwright-mcp`.
fn page_name(command: &clap::Command) -> String {
    command
        .get_display_name()
        .unwrap_or(command.get_name())
        .replace(' ', "-")
}

fn page(command: &clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone())
        .source(format!("callwright {}", version::SHORT))
        .render(&mut page)
        .context("cannot render the page")?;
    Ok(page)
}

fn write(folder: &Path, name: &str, page: &[u8]) -> Result<()> {
    let file = folder.join(name);
    fs::write(&file, page).with_context(|| format!("cannot write {}", shown(&file)))
}

fn print(text: &[u8]) -> Result<CommandOutcome> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text)
        .context("cannot write to standard output")?;
    Ok(CommandOutcome::Clean)
}
