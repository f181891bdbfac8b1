//! `callwright init`: writes a policy file for some tools, and puts the guard in front of a client's servers.
//!
//! Takes a tool file or a client configuration; writes a policy file or the edited configuration. Never writes
//! anything it has not shown first, never replaces a policy file, and always keeps a backup of a configuration.

mod diff;
mod policy;
mod replace;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use callwright_mcp::config::guard::{self, ANY_KEY, Change, Listed};
use clap::Args;

use crate::input::{printable, shown};
use crate::mcp_clients::{Folders, LARGEST_CONFIGURATION, McpClient, describe};
use crate::{CommandOutcome, input, say};

/// Write a policy file for your tools, or guard a client's MCP servers
///
/// With `--tools`, writes a commented policy file. With `--client` or `--config`, puts `callwright mcp --` in front
/// of every server command in the client's configuration: it shows the diff, asks, keeps a backup next to the
/// file, and edits the text in place, so comments and everything else are preserved. Servers that are already guarded
/// or reached by URL are left alone. Restart the client afterwards.
///
/// Exit codes: 0, also if nothing was written; 2 if an option or a file is wrong.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct InitArguments {
    /// The tools to write a policy file for: a JSON array, or an object with a `tools` member
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,

    /// The policy file: written with `--tools`, used by the guarded servers otherwise
    ///
    /// With `--tools` it is `callwright.toml` by default.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// The client whose servers to guard
    ///
    /// Its configuration is looked for in its usual locations and in the working directory.
    #[arg(long, value_name = "CLIENT")]
    client: Option<McpClient>,

    /// The client configuration to edit, instead of those of `--client`
    #[arg(long, value_name = "FILE", conflicts_with = "client")]
    config: Option<PathBuf>,

    /// Guard only this server; may be repeated
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,

    /// The program that the client starts as callwright; by default this one, by its full path
    #[arg(long, value_name = "PROGRAM", conflicts_with = "undo")]
    program: Option<String>,

    /// Remove the guard again
    #[arg(long, conflicts_with_all = ["tools", "policy"])]
    undo: bool,

    /// Write without asking
    #[arg(long)]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  Guard all servers of Claude Code, and remove the guard again
    callwright init --client claude-code
    callwright init --client claude-code --undo

  Guard one server of one configuration, without asking
    callwright init --config .vscode/mcp.json --server files --yes

  A policy file to start from
    callwright init --tools tools.json";

pub(crate) fn run(arguments: &InitArguments) -> Result<CommandOutcome> {
    let policy_file = arguments.policy.clone();
    if let Some(tools) = &arguments.tools {
        let file = policy_file.unwrap_or_else(|| PathBuf::from("callwright.toml"));
        policy::write(tools, &file)?;
    }
    let folders = Folders::of_user();
    let short = |file: &Path| {
        folders
            .as_ref()
            .map_or_else(|| shown(file), |it| it.short(file))
    };
    let (files, keys) = match (arguments.client, &arguments.config) {
        (Some(client), _) => {
            let folders = folders
                .as_ref()
                .context("no home directory in the environment; use --config")?;
            let found = client.found(folders);
            if found.is_empty() {
                let places = client.files(folders);
                let places: Vec<String> = places.iter().map(|file| folders.short(file)).collect();
                let places = places.join(" or ");
                bail!(
                    "no configuration of {} found at {places}; use --config",
                    client.title()
                );
            }
            (found, vec![client.key()])
        }
        (None, Some(file)) => (vec![file.clone()], ANY_KEY.to_vec()),
        (None, None) if arguments.tools.is_some() => return Ok(CommandOutcome::Clean),
        (None, None) => bail!(
            "nothing to do; give your tools with --tools, or a client with --client (`callwright doctor` lists the clients \
             it finds)"
        ),
    };
    let options = options(arguments)?;
    let program = match &arguments.program {
        Some(program) => input::absolute_program(program)?,
        None if arguments.undo => String::new(),
        None => own_path()?,
    };
    let change = if arguments.undo {
        Change::Undo
    } else {
        Change::Guard {
            program: &program,
            options: &options,
        }
    };
    let wanted =
        |name: &str| arguments.server.is_empty() || arguments.server.iter().any(|it| it == name);
    let mut seen = Vec::new();
    let mut written = false;
    for file in files {
        let name = short(&file);
        let text = input::read_text(&file, "configuration", LARGEST_CONFIGURATION)?;
        let place = || name.clone();
        let servers = guard::list(&text, &keys).with_context(place)?;
        seen.extend(servers.iter().map(|server| server.name.clone()));
        let edited = guard::edit(&text, &keys, &wanted, change).with_context(place)?;
        show(&name, &text, &edited, &servers, &keys, &wanted)?;
        if edited != text && agreed(arguments.yes, &name)? {
            let backup = short(&replace::replace(&file, &text, &edited)?);
            say(
                "written",
                &format!("{name}; the original is kept as {backup}"),
            );
            written = true;
        }
    }
    if written {
        let client = arguments.client.map_or("the client", McpClient::title);
        say("next", &format!("restart {client}"));
    }
    if let Some(missing) = arguments.server.iter().find(|name| !seen.contains(name)) {
        bail!(
            "no server is named {:?}; the file has {}",
            missing,
            seen.join(", ")
        );
    }
    Ok(CommandOutcome::Clean)
}

/// The options of `callwright mcp` for every server, with absolute paths: the client starts us in another directory.
fn options(arguments: &InitArguments) -> Result<Vec<String>> {
    let default = arguments
        .tools
        .as_ref()
        .map(|_| PathBuf::from("callwright.toml"));
    let Some(policy) = arguments.policy.clone().or(default) else {
        return Ok(Vec::new());
    };
    // An unreadable policy would keep every server from starting.
    input::read_policy(&policy)?;
    let policy = std::path::absolute(&policy).with_context(|| shown(&policy))?;
    Ok(vec![
        "--policy".to_owned(),
        policy.to_string_lossy().into_owned(),
    ])
}

/// The path of this program. The packages for other languages start us through a script, which is an argument of their
/// interpreter.
pub(crate) fn script_or_program() -> Option<PathBuf> {
    let script = std::env::args_os().take(2).map(PathBuf::from);
    let is_path = |path: &PathBuf| path.components().count() > 1 && path.is_file();
    let candidates = std::env::current_exe().into_iter().chain(script);
    candidates
        .filter(is_path)
        .find(|path| guard::is_callwright(&path.to_string_lossy()))
        .and_then(|path| std::path::absolute(path).ok())
}

/// The full path of this program: desktop clients do not have the search path of a shell.
fn own_path() -> Result<String> {
    let own = script_or_program()
        .map(|path| path.to_string_lossy().into_owned())
        .context("this program was started by another one; give its path with --program")?;
    // `npx` and `uvx` unpack a program into a cache, from which it may disappear.
    let caches = ["/_npx/", "\\_npx\\", "/uv/archive-", "\\uv\\cache\\"];
    if caches.iter().any(|cache| own.contains(cache)) {
        bail!("this program runs from a cache; install it first, or give its path with --program");
    }
    Ok(own)
}

/// Shows the difference, and why each unchanged server does not change.
fn show(
    name: &str,
    before: &str,
    after: &str,
    servers: &[Listed],
    keys: &[&str],
    wanted: &dyn Fn(&str) -> bool,
) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    let written = "cannot write to standard output";
    if before != after {
        writeln!(stdout, "--- {name}\n+++ {name}").context(written)?;
        for (mark, line) in diff::lines(before, after) {
            let style = match mark {
                '+' => anstyle::AnsiColor::Green.on_default(),
                '-' => anstyle::AnsiColor::Red.on_default(),
                _ => anstyle::Style::new(),
            };
            writeln!(stdout, "{style}{mark}{}{style:#}", printable(&line)).context(written)?;
        }
        stdout.flush().context(written)?;
    }
    drop(stdout);
    let changed = guard::list(after, keys)?;
    let left = (servers.iter().zip(&changed)).filter(|(server, changed)| server == changed);
    for (server, _) in left.filter(|(server, _)| wanted(&server.name)) {
        let server_name = printable(&server.name);
        say(
            "note",
            &format!("{name}: {server_name}: {}", describe(server.state)),
        );
    }
    if servers.is_empty() {
        let keys = keys.join("` or `");
        say(
            "note",
            &format!("{name}: no servers configured; they would be under `{keys}`"),
        );
    }
    Ok(())
}

/// Whether a file may be written: asks the user, unless `--yes` was given.
fn agreed(yes: bool, name: &str) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        say(
            "note",
            &format!("{name}: nothing was written; add --yes to write it"),
        );
        return Ok(false);
    }
    let mut stderr = io::stderr();
    write!(stderr, "write {name}? [y/N] ").context("cannot ask")?;
    stderr.flush().context("cannot ask")?;
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .context("cannot read the answer")?;
    let agreed = matches!(answer.trim(), "y" | "Y" | "yes");
    if !agreed {
        say("note", &format!("{name}: nothing was written"));
    }
    Ok(agreed)
}
