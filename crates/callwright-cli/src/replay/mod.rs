//! `callwright replay`: reads recorded traffic; reports what is wrong with it and where schemas are too strict.

mod apply;
pub(crate) mod args;
mod output;
mod review;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use callwright::repair::RepairPolicy;
use callwright::{Policy, ToolSpec};
use callwright_replay::run::{Checkpoint, DeclaredTools, ReplaySettings, Run, SettingsDigest};
use callwright_replay::source;
use callwright_replay::summary::{Merged, Summary};

use self::args::{MergeArguments, ReplayArguments, ReplayCommand, RunArguments};
use self::output::About;
use crate::input::shown;
use crate::progress::ProgressLine;
use crate::{CommandOutcome, input, say};

/// The largest state or summary that is read. Both are bounded, and take a few megabytes.
const LARGEST_STATE: u64 = 512 * 1024 * 1024;

/// The conventional exit code after Ctrl-C.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(arguments: &ReplayArguments) -> Result<CommandOutcome> {
    match &arguments.command {
        None => run_logs(&arguments.run),
        Some(ReplayCommand::Merge(arguments)) => merge(arguments),
        Some(ReplayCommand::Apply(arguments)) => apply::run(arguments),
        Some(ReplayCommand::Review(arguments)) => review::run(&arguments.suggestions),
    }
}

fn run_logs(arguments: &RunArguments) -> Result<CommandOutcome> {
    let inputs = source::find(&arguments.logs)?;
    let settings_files = [
        &arguments.tools,
        &arguments.policy,
        &arguments.against,
        &arguments.against_policy,
    ];
    let logs = inputs.iter().filter_map(|input| input.path.as_deref());
    let read = logs.chain(settings_files.into_iter().filter_map(|it| it.as_deref()));
    output::check(&arguments.output, arguments.state.as_deref(), read)?;
    let stop = stop_on_signals()?;
    let (mut settings, tools) = settings(arguments)?;
    settings.stop = Some(Arc::clone(&stop));
    if settings.tools.is_none() && std::io::stderr().is_terminal() {
        say(
            "tools",
            "looking for tools in the logs first; --tools FILE saves this step",
        );
    }
    let state = arguments.state.as_deref();
    let mut run = match state.filter(|path| path.exists()) {
        None => Run::new(inputs, settings)?,
        Some(path) => resume(path, inputs, settings)?,
    };
    let (read, calls) = (run.progress(), run.calls());
    let progress = ProgressLine::new(read.total_bytes(), read, move |seconds| {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a rate that is shown without fractions"
        )]
        let rate = calls.load(Ordering::Relaxed) as f64 / seconds;
        format!("{rate:.0} calls/s")
    });
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
            Some(_) => "run the same command again to continue",
            None => "with --state FILE a run can continue where it stopped",
        };
        say(
            "interrupted",
            &format!("the report covers what was done so far; {how}"),
        );
    } else if let Some(path) = state.filter(|path| path.exists()) {
        std::fs::remove_file(path).with_context(|| format!("cannot delete {}", shown(path)))?;
    }
    let about = About {
        logs: &arguments.logs.join(", "),
        tools: tools.as_deref(),
    };
    let outcome = report(summary, &about, &arguments.output)?;
    Ok(if interrupted {
        CommandOutcome::Passed(INTERRUPTED)
    } else {
        outcome
    })
}

/// Continues the run whose state is in this file.
fn resume(path: &Path, inputs: Vec<source::Input>, settings: ReplaySettings) -> Result<Run> {
    let text = input::read_text(path, "replay state", LARGEST_STATE)?;
    let shown = shown(path);
    let checkpoint =
        Checkpoint::from_json(&text).with_context(|| format!("in the state {shown}"))?;
    let run = Run::resume(inputs, settings, checkpoint)
        .with_context(|| format!("cannot resume the run of {shown}"))?;
    say("resumed", &format!("the run continues from {shown}"));
    Ok(run)
}

fn merge(arguments: &MergeArguments) -> Result<CommandOutcome> {
    let parts = arguments.parts.iter().map(PathBuf::as_path);
    output::check(&arguments.output, None, parts)?;
    let mut summary = Summary::default();
    for path in &arguments.parts {
        let bytes = input::read_bytes(path, "replay summary", LARGEST_STATE)?;
        let place = || format!("in {}", shown(path));
        let part = Summary::from_bytes(&bytes).with_context(place)?;
        match summary.merge(part).with_context(place)? {
            Merged::Added => {}
            Merged::Known => say(
                "skipped",
                &format!("{}: its parts have already been counted", shown(path)),
            ),
            Merged::Replaced => say(
                "replaced",
                &format!("{} already contains all parts before it", shown(path)),
            ),
        }
    }
    let about = About {
        logs: "merged parts",
        tools: None,
    };
    report(summary, &about, &arguments.output)
}

/// Writes and prints the requested outputs.
fn report(
    summary: Summary,
    about: &About<'_>,
    arguments: &args::OutputArguments,
) -> Result<CommandOutcome> {
    let calls = summary.calls.calls;
    let unread = summary.input.records > 0 && calls == 0 && summary.input.formats.is_empty();
    // A run that judged nothing must not exit with success.
    let unjudged = calls > 0 && summary.undeclared_calls() >= calls && !summary.compared;
    let finding = if summary.compared {
        summary.changes.iter().any(|(key, _)| key.stricter)
    } else {
        summary.calls.refused + summary.calls.results_refused > 0
    };
    output::write_all(summary, about, arguments)?;
    Ok(match (unread || unjudged, finding) {
        (true, _) => CommandOutcome::Malformed,
        (_, true) => CommandOutcome::Findings,
        _ => CommandOutcome::Clean,
    })
}

/// The settings of a run, and the text of its tool file.
fn settings(arguments: &RunArguments) -> Result<(ReplaySettings, Option<String>)> {
    // Every option is listed here, so a new one does not compile until it is decided whether the counts depend on it.
    let RunArguments {
        tools,
        policy,
        repair,
        against,
        against_policy,
        threads,
        part,
        state: _,
        output: _,
        logs: _,
    } = arguments;
    let mut sources = Sources {
        repair: *repair,
        digest: SettingsDigest::default(),
    };
    let mut named = RepairPolicy::ALL.iter();
    if let Some((name, _)) = named.find(|(_, named)| Some(*named) == *repair) {
        sources.digest.add("--repair", name.as_bytes());
    }
    let policy = sources.policy("--policy", policy.as_deref())?;
    let tools = tools.as_deref();
    let tools = tools
        .map(|path| {
            let mut declared = DeclaredTools::default();
            let text = sources.tools("--tools", path, |tool| declared.push(tool))?;
            anyhow::Ok((declared, text))
        })
        .transpose()?;
    let (tools, text): (Option<DeclaredTools>, Option<String>) = tools.unzip();
    let against = match (against, against_policy) {
        (None, None) => None,
        (other_tools, other_policy) => {
            let other_tools = match (other_tools, &text) {
                (Some(path), _) => {
                    let mut other = Vec::new();
                    sources.tools("--against", path, |tool| other.push(tool))?;
                    other
                }
                (None, Some(text)) => callwright::wire::read_tools(text)?,
                (None, None) => {
                    bail!(
                        "--against-policy compares policies for the tools of --tools; add --tools"
                    )
                }
            };
            let other_policy = match other_policy {
                Some(path) => sources.policy("--against-policy", Some(path))?,
                None => policy.clone(),
            };
            Some((other_tools, other_policy))
        }
    };
    let settings = ReplaySettings {
        tools,
        policy,
        against,
        workers: *threads,
        part: part.clone(),
        digest: sources.digest,
        ..ReplaySettings::default()
    };
    Ok((settings, text))
}

/// Reads the files that the counts depend on, and digests their contents.
struct Sources {
    repair: Option<RepairPolicy>,
    digest: SettingsDigest,
}

impl Sources {
    /// Passes on the tools of a file, and returns its text.
    fn tools(&mut self, option: &str, path: &Path, each: impl FnMut(ToolSpec)) -> Result<String> {
        let text = input::read_tools_text(path)?;
        self.digest.add(option, text.as_bytes());
        input::read_each_tool(path, &text, "every call is of an unknown tool", each)?;
        Ok(text)
    }

    fn policy(&mut self, option: &str, path: Option<&Path>) -> Result<Policy> {
        let text = path.map(input::read_policy_text).transpose()?;
        if let Some(text) = &text {
            self.digest.add(option, text.as_bytes());
        }
        input::policy_of(path.zip(text.as_deref()), self.repair)
    }
}

/// Set by the first Ctrl-C; the second one ends the program immediately.
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
