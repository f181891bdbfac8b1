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
/// For bash: `callwright completions bash > ~/.local/share/bash-completion/completions/callwright`. For zsh, save it
/// as `_callwright` in a folder of `$fpath`; for fish, as `~/.config/fish/completions/callwright.fish`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    shell: Shell,
}

/// Print the manual page of a command, or write all of them into a folder
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The command, such as `mcp`; the page of the whole program if omitted
    command: Option<String>,

    /// Write all pages into this folder, such as ~/.local/share/man/man1
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
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
