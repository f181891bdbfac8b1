//! `--review`: shows one proposal after another on the terminal, one key per decision.
//!
//! Each decision is written to the suggestions file immediately, so an interrupted review continues with the first
//! open proposal.

use std::io::{IsTerminal, Write as _};
use std::path::Path;

use anyhow::{Context, Result, bail};
use console::{Key, Term, style};
use serde_json::Value as Json;

use super::{LARGEST_STATE, output};
use crate::input::{printable, shown};
use crate::{CommandOutcome, input, say};

/// The member of a proposal that holds the decision.
const DECISION: &str = "decision";

/// The meaning of a key press.
enum KeyPress {
    Decide(&'static str),
    Back,
    Later,
    Quit,
}

/// Walks through the undecided proposals of a file.
pub(super) fn run(path: &Path) -> Result<CommandOutcome> {
    let mut file = read(path)?;
    let places = places(&file);
    if places.is_empty() {
        say("review", "no proposals to decide on");
        return Ok(CommandOutcome::Clean);
    }
    let terminal = Term::stderr();
    if !terminal.is_term() || !std::io::stdin().is_terminal() {
        bail!("a review needs a terminal; decide with `callwright replay apply --accept` instead");
    }
    let is_open = |file: &Json, at: &usize| {
        let proposal = places.get(*at).and_then(|place| file.pointer(place));
        proposal.is_some_and(|proposal| proposal.get(DECISION).is_none_or(Json::is_null))
    };
    let mut at = (0..places.len())
        .find(|at| is_open(&file, at))
        .unwrap_or(places.len());
    while let Some(place) = places.get(at) {
        show(&terminal, &file, place, at + 1, places.len())?;
        match ask(&terminal)? {
            KeyPress::Decide(decision) => {
                if let Some(Json::Object(proposal)) = file.pointer_mut(place) {
                    proposal.insert(DECISION.to_owned(), decision.into());
                }
                let mut text = serde_json::to_string_pretty(&file)?;
                text.push('\n');
                output::write(path, &text)?;
                at += 1;
            }
            KeyPress::Later => at += 1,
            KeyPress::Back => at = at.saturating_sub(1),
            KeyPress::Quit => break,
        }
    }
    let accepted = accepted(&file);
    let open = (0..places.len()).filter(|at| is_open(&file, at)).count();
    let path = shown(path);
    say(
        "review",
        &format!(
            "{} accepted, {open} open; run `callwright replay apply --tools TOOLS --suggestions {path}` to write the new tools",
            accepted.len()
        ),
    );
    Ok(CommandOutcome::Clean)
}

/// Reads a suggestions file.
pub(super) fn read(path: &Path) -> Result<Json> {
    let text = input::read_text(path, "suggestions file", LARGEST_STATE)?;
    serde_json::from_str(&text).map_err(|error| {
        let path = shown(path);
        anyhow::anyhow!(
            "{path} is not a suggestions file: {error}; give a file written by `--suggest`"
        )
    })
}

/// The numbers of the accepted proposals.
pub(super) fn accepted(file: &Json) -> Vec<usize> {
    places(file)
        .iter()
        .filter_map(|place| file.pointer(place))
        .filter(|proposal| proposal.get(DECISION).and_then(Json::as_str) == Some("accepted"))
        .filter_map(|proposal| usize::try_from(proposal.get("number")?.as_u64()?).ok())
        .collect()
}

/// The paths of the proposals in the file, by their numbers.
fn places(file: &Json) -> Vec<String> {
    let mut places = Vec::new();
    let tools = file.get("tools").and_then(Json::as_array);
    for (at, tool) in tools.into_iter().flatten().enumerate() {
        let proposals = tool.get("proposals").and_then(Json::as_array);
        for (index, proposal) in proposals.into_iter().flatten().enumerate() {
            let number = proposal.get("number").and_then(Json::as_u64);
            places.push((number, format!("/tools/{at}/proposals/{index}")));
        }
    }
    places.sort();
    places.into_iter().map(|(_, place)| place).collect()
}

fn show(terminal: &Term, file: &Json, place: &str, at: usize, count: usize) -> Result<()> {
    let Some(proposal) = file.pointer(place) else {
        return Ok(());
    };
    let text = |key: &str| printable(proposal.get(key).and_then(Json::as_str).unwrap_or_default());
    let number = |key: &str| proposal.get(key).and_then(Json::as_u64).unwrap_or_default();
    let tool = place
        .split("/proposals")
        .next()
        .and_then(|tool| file.pointer(tool));
    let tool = tool
        .and_then(|tool| tool.get("name"))
        .and_then(Json::as_str);
    let mut out = terminal;
    writeln!(out)?;
    writeln!(
        out,
        "{} {} {}",
        style(format!("{at} of {count}")).dim(),
        style(printable(tool.unwrap_or_default())).bold(),
        text("title"),
    )?;
    let kind = text("kind").replace('_', " ");
    let proved = proposal.pointer("/proof/verdict").and_then(Json::as_str) == Some("proved");
    let proof = if proved {
        "proved to only loosen"
    } else {
        "NOT proved to only loosen"
    };
    writeln!(
        out,
        "  {kind}; {} calls become valid, {} of them look like bugs; {proof}",
        number("accepts"),
        number("accepts_bugs"),
    )?;
    for operation in proposal
        .get("patch")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
    {
        if operation.get("op").and_then(Json::as_str) != Some("test") {
            writeln!(out, "  {}", printable(&operation.to_string()))?;
        }
    }
    if let Some(decision) = proposal.get(DECISION).and_then(Json::as_str) {
        writeln!(out, "  decided: {}", printable(decision))?;
    }
    write!(
        out,
        "  {} accept, {} reject, {} later, {} back, {} quit ",
        style("y").bold(),
        style("n").bold(),
        style("space").bold(),
        style("b").bold(),
        style("q").bold(),
    )?;
    out.flush()?;
    Ok(())
}

fn ask(terminal: &Term) -> Result<KeyPress> {
    loop {
        let answer = match terminal.read_key().context("cannot read the keyboard")? {
            Key::Char('y' | 'a') => KeyPress::Decide("accepted"),
            Key::Char('n' | 'r') => KeyPress::Decide("rejected"),
            Key::Char(' ') | Key::ArrowRight | Key::Enter => KeyPress::Later,
            Key::Char('b') | Key::ArrowLeft | Key::Backspace => KeyPress::Back,
            Key::Char('q') | Key::Escape | Key::CtrlC => KeyPress::Quit,
            _ => continue,
        };
        terminal.write_line("")?;
        return Ok(answer);
    }
}
