//! `callwright replay`: recorded traffic → what is wrong with it, and where the schema is.

mod apply;
pub(crate) mod args;
mod output;
mod progress;
mod review;

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use callwright::{Policy, ToolSpec, tool};
use callwright_replay::run::{Checkpoint, Run, Settings};
use callwright_replay::source;
use callwright_replay::summary::{Merge, Summary};

use self::args::{MergeArguments, ReplayArguments, RunArguments, Step};
use self::output::About;
use self::progress::Progress;
use crate::args::RepairName;
use crate::{Outcome, input, say};

/// The largest state or summary that is read. They are bounded, and take some megabytes.
const LARGEST_STATE: u64 = 512 * 1024 * 1024;

/// How an interrupted program ends, by custom.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(arguments: &ReplayArguments) -> Result<Outcome> {
    match &arguments.step {
        None => run_logs(&arguments.run),
        Some(Step::Merge(arguments)) => merge(arguments),
        Some(Step::Apply(arguments)) => apply::run(arguments),
        Some(Step::Review(arguments)) => review::run(&arguments.suggestions),
    }
}

fn run_logs(arguments: &RunArguments) -> Result<Outcome> {
    output::check(&arguments.output)?;
    let stop = stop_on_signals()?;
    let inputs = source::find(&arguments.logs)?;
    let mut settings = settings(arguments)?;
    settings.stop = Some(Arc::clone(&stop));
    if settings.tools.is_none() && std::io::stderr().is_terminal() {
        say(
            "tools",
            "looking for them in the logs first; --tools FILE saves the time",
        );
    }
    let state = arguments.state.as_deref();
    let mut run = match state.filter(|path| path.exists()) {
        None => Run::new(inputs, settings)?,
        Some(path) => {
            let text = input::read_text(path, "state of a replay", LARGEST_STATE)?;
            let checkpoint = Checkpoint::from_json(&text)
                .with_context(|| format!("in the state {}", path.display()))?;
            say(
                "resumed",
                &format!("the run goes on from {}", path.display()),
            );
            Run::resume(inputs, settings, checkpoint)
                .with_context(|| format!("the run of {} cannot go on", path.display()))?
        }
    };
    let progress = Progress::new(&run);
    while !run.leg(&stop)? {
        if let Some(path) = state {
            output::write(path, &run.checkpoint().to_json()?)?;
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    progress.finish();
    let summary = run.finish();
    let interrupted = summary.input.interrupted;
    if interrupted {
        let how = match state {
            Some(_) => "run the same command again to go on".to_owned(),
            None => "with --state FILE a run can go on where it stopped".to_owned(),
        };
        say("interrupted", &format!("this is what was done; {how}"));
    } else if let Some(path) = state.filter(|path| path.exists()) {
        std::fs::remove_file(path).with_context(|| format!("cannot delete {}", path.display()))?;
    }
    let tools = arguments
        .tools
        .as_deref()
        .map(read_tools_text)
        .transpose()?;
    let about = About {
        logs: &arguments.logs.join(", "),
        tools: tools.as_deref(),
    };
    let outcome = report(summary, &about, &arguments.output)?;
    Ok(if interrupted {
        Outcome::Passed(INTERRUPTED)
    } else {
        outcome
    })
}

fn merge(arguments: &MergeArguments) -> Result<Outcome> {
    output::check(&arguments.output)?;
    let mut summary = Summary::default();
    for path in &arguments.parts {
        let text = input::read_text(path, "summary of a replay", LARGEST_STATE)?;
        let part = Summary::from_json(&text).with_context(|| format!("in {}", path.display()))?;
        summary.absorb(part);
    }
    let about = About {
        logs: "merged parts",
        tools: None,
    };
    report(summary, &about, &arguments.output)
}

/// Writes and prints what was asked for.
fn report(
    summary: Summary,
    about: &About<'_>,
    arguments: &args::OutputArguments,
) -> Result<Outcome> {
    let calls = summary.calls.calls;
    let unread = summary.input.records > 0 && calls == 0 && summary.input.formats.is_empty();
    // A green light for calls that nobody looked at would be a lie.
    let unjudged = calls > 0 && summary.undeclared_calls() >= calls && !summary.compared;
    let refused = summary.calls.refused + summary.calls.results_refused;
    let stricter = summary.changes.iter().any(|(key, _)| key.stricter);
    let finding = if summary.compared {
        stricter
    } else {
        refused > 0
    };
    output::write_all(summary, about, arguments)?;
    Ok(match (unread || unjudged, finding) {
        (true, _) => Outcome::Malformed,
        (_, true) => Outcome::Findings,
        _ => Outcome::Clean,
    })
}

fn settings(arguments: &RunArguments) -> Result<Settings> {
    let policy = policy(arguments.policy.as_deref(), arguments.repair)?;
    let tools = arguments.tools.as_deref().map(read_tools).transpose()?;
    let against = match (&arguments.against, &arguments.against_policy) {
        (None, None) => None,
        (other_tools, other_policy) => {
            let other_tools = other_tools.as_deref().map(read_tools).transpose()?;
            let Some(other_tools) = other_tools.or_else(|| tools.clone()) else {
                bail!("--against-policy compares policies for the tools of --tools; give that too");
            };
            let other_policy = match other_policy {
                Some(path) => self::policy(Some(path), arguments.repair)?,
                None => policy.clone(),
            };
            Some((other_tools, other_policy))
        }
    };
    Ok(Settings {
        identity: identity(tools.as_ref(), &policy, against.as_ref()),
        tools,
        policy,
        against,
        workers: arguments.threads,
        ..Settings::default()
    })
}

/// Equal for the same tools and policies: counts of different ones must not be mixed.
fn identity(
    tools: Option<&Vec<ToolSpec>>,
    policy: &Policy,
    against: Option<&(Vec<ToolSpec>, Policy)>,
) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    format!("{tools:?} {policy:?} {against:?}").hash(&mut hasher);
    hasher.finish()
}

fn policy(path: Option<&Path>, repair: Option<RepairName>) -> Result<Policy> {
    let policy = match path {
        Some(path) => input::read_policy(path)?,
        None => Policy::default(),
    };
    Ok(match repair {
        Some(repair) => policy.with_repair(repair.policy()),
        None => policy,
    })
}

fn read_tools_text(path: &Path) -> Result<String> {
    let text = input::read_text(path, "tool file", input::LARGEST_TOOL_FILE)?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn read_tools(path: &Path) -> Result<Vec<ToolSpec>> {
    let tools = tool::read_tools(&read_tools_text(path)?)
        .with_context(|| format!("in the tool file {}", path.display()))?;
    if tools.is_empty() {
        let path = path.display();
        say(
            "warning",
            &format!("the tool file {path} holds no tools, so every call is of an unknown tool"),
        );
    }
    Ok(tools)
}

/// Set by the first Ctrl-C; the second ends the program at once.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(
            signal,
            i32::from(INTERRUPTED),
            Arc::clone(&stop),
        )
        .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
        .context("cannot listen for signals")?;
    }
    Ok(stop)
}
