//! The keys of a policy file: their names, the tables they may be in, and how their values are read.
//!
//! A new key is a row here, a line in `docs/policy.md` and a case in the corpus.

use std::time::Duration;

use toml::de::{DeTable, DeValue};

#[cfg(feature = "cel")]
use super::checks;
use super::values::{FileEntry, PolicyReader, entries};
use crate::admit::{AdmissionPolicy, Escalation, ToolAdmission, WhenAway};
use crate::nearest::nearest;
use crate::policy::{Advice, Pattern, Policy, ToolPolicy};
use crate::repair::RepairPolicy;
use crate::text::snippet;
use crate::vocabulary::{Class, Code, Detector, Effect, Validation};

/// How often a call may be retried. After ten retries with growing pauses the caller has given up.
const MOST_RETRIES: u32 = 10;

/// The fewest and the most bytes of a result that the model may get: enough for a sentence, and the longest result that is
/// parsed as JSON.
const FEWEST_BYTES: u32 = 100;
const MOST_BYTES: u32 = 64 * 1024 * 1024;

/// The longest timeout, in seconds: a day. A longer one is a mistake in the unit.
const LONGEST: f64 = 24.0 * 60.0 * 60.0;

/// The shortest timeout, in seconds: timers are no finer.
const SHORTEST: f64 = 0.001;

/// How many patterns there may be. Each tool is matched against each of them, and there may be 10,000 tools.
const MOST_PATTERNS: usize = 1_000;

/// How much of a name is shown.
const SHOWN: usize = 40;

/// A table of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Top,
    Loops,
    Tool,
    Budget,
    Steps,
    Output,
    Check,
}

/// The settings read so far.
#[derive(Default)]
struct PolicyDraft {
    admission: AdmissionPolicy,
    attended: Option<bool>,
    never_asks: bool,
    patterns: Vec<Pattern>,
    /// The settings for all tools at the top, or for the tools of one table.
    own: ToolPolicy,
    /// The admission settings in the table of a tool.
    tool: ToolAdmission,
}

use Section::{Budget, Check, Loops, Output, Tool, Top};

/// Reads the value of a key into the draft.
type ReadKey = fn(&mut PolicyReader, &FileEntry<'_>, &mut PolicyDraft);

/// One row per key: its name, its tables, how it is read (`r`, the reader, takes the entry `e` into the draft `to`). The first
/// call is not a repetition, so most steps start at two.
#[rustfmt::skip]
const KEYS: &[(&str, &[Section], ReadKey)] = &[
    ("effect", &[Tool], |r, e, to| to.own.effect = r.choice(e, &Effect::ALL)),
    ("idempotent", &[Tool], |r, e, to| to.own.idempotent = r.flag(e)),
    ("validate", &[Top, Tool], |r, e, to| to.own.validation = r.choice(e, &Validation::ALL)),
    ("repair", &[Top, Tool], |r, e, to| to.own.repair = r.choice(e, &RepairPolicy::ALL)),
    ("budget", &[Top], budgets),
    ("budget", &[Tool], |r, e, to| to.tool.budget = r.number(e, 1, "")),
    ("attended", &[Top], |r, e, to| to.attended = r.flag(e)),
    ("calls", &[Tool], |r, e, to| to.tool.calls = r.steps(e, to.admission.tool_calls, 1)),
    ("poller", &[Tool], |r, e, to| to.tool.poller = r.flag(e)),
    ("volatile", &[Tool], |r, e, to| to.tool.volatile = r.places(e)),
    ("timeout", &[Top, Tool], |r, e, to| to.own.run.timeout = duration(r, e)),
    ("retries", &[Top, Tool], |r, e, to| to.own.run.retries = r.number_within(e, 0..=MOST_RETRIES, "")),
    ("concurrency", &[Top, Tool], |r, e, to| to.own.run.concurrency = r.size(e, 1..=PolicyReader::MOST)),
    ("output", &[Top, Tool], output),
    ("advice", &[Top, Tool], |r, e, to| to.own.advice = advice(r, e)),
    ("check", &[Top, Tool], checks),
    ("loops", &[Top], loops),
    // Settings of individual tools are read last, because they build on the others.
    ("tool", &[Top], |_, _, _| {}),
    ("repeated_refusal", &[Loops], |r, e, to| r.set_steps(e, 2, &mut to.admission.repeated_refusal)),
    ("repeated_call", &[Loops], |r, e, to| r.set_steps(e, 2, &mut to.admission.repeated_call)),
    ("repeated_result", &[Loops], |r, e, to| r.set_steps(e, 2, &mut to.admission.repeated_result)),
    ("polling", &[Loops], |r, e, to| r.set_steps(e, 2, &mut to.admission.polling)),
    ("cycle", &[Loops], |r, e, to| r.set_steps(e, 2, &mut to.admission.cycle)),
    ("error_streak", &[Loops], |r, e, to| r.set_steps(e, 2, &mut to.admission.error_streak)),
    ("unknown_tools", &[Loops], |r, e, to| r.set_steps(e, 2, &mut to.admission.unknown_tools)),
    ("tool_calls", &[Loops], |r, e, to| r.set_steps(e, 1, &mut to.admission.tool_calls)),
    ("turn_calls", &[Loops], turn_calls),
    ("most_refusals", &[Loops], most_refusals),
    ("transient", &[Loops], |r, e, to| set(&mut to.admission.transient, r.number_or_never(e, 1))),
    ("ask_after", &[Loops], ask_after),
    ("pollers", &[Loops], pollers),
    ("volatile", &[Loops], volatile),
    ("remember_results", &[Loops], |r, e, to| set(&mut to.admission.remember_results, r.flag(e))),
    ("when_away", &[Loops], |r, e, to| set(&mut to.admission.when_away, r.choice(e, &WhenAway::ALL))),
    ("unknown", &[Budget], |r, e, to| set(&mut to.admission.budget, r.number(e, 1, ""))),
    ("read", &[Budget], |r, e, to| set(&mut to.admission.budget_read, r.number(e, 1, ""))),
    ("write", &[Budget], |r, e, to| set(&mut to.admission.budget_write, r.number(e, 1, ""))),
    ("mode", &[Output], |r, e, to| to.own.output.mode = r.choice(e, &Validation::ALL)),
    ("detect", &[Output], |r, e, to| to.own.output.detect = Some(detectors(r, e))),
    ("max_bytes", &[Output], |r, e, to| to.own.output.max_bytes = r.size(e, FEWEST_BYTES..=MOST_BYTES)),
    ("transient", &[Output], |r, e, to| to.own.output.transient = transient_words(r, e)),
];

/// One row per table that can be mistaken for another: its name in [`known_keys`], and where a key that is only known there
/// belongs.
const TABLES: [(Section, &str, &str); 5] = [
    (Top, "", "at the top of the file, before the first [table]"),
    (Loops, "loops", "in [loops]"),
    (Tool, "tool", "in the table of a tool, such as [tool.\"*\"]"),
    (
        Output,
        "output",
        "in [output], or in [tool.\"name\".output]",
    ),
    (
        Check,
        "check",
        "in [[check]], or in [[tool.\"name\".check]]",
    ),
];

impl Section {
    /// The keys that this table may have.
    pub(super) fn keys(self) -> Vec<&'static str> {
        match self {
            Section::Steps => vec!["notice", "refuse"],
            Check => vec!["when", "class", "code", "detail", "hint", "next"],
            _ => {
                let here = KEYS.iter().filter(|(_, tables, _)| tables.contains(&self));
                here.map(|(name, ..)| *name).collect()
            }
        }
    }

    /// The table's name in messages, placed after a key.
    pub(super) fn place(self) -> &'static str {
        match self {
            Top => "",
            Loops => " in [loops]",
            Tool => " of a tool",
            Budget => " of a budget",
            Section::Steps => " of a threshold",
            Output => " in `output`",
            Check => " of a check",
        }
    }

    /// The table to which a key that is unknown here belongs.
    pub(super) fn elsewhere(self, key: &str) -> Option<&'static str> {
        let mut others = TABLES.iter().filter(|(section, ..)| *section != self);
        let known = others.find(|(section, ..)| section.keys().contains(&key));
        known.map(|(_, _, place)| *place)
    }
}

/// Every key that a policy file may have, with its table: `""` for the top, `loops`, `tool`, `output`, `check`.
pub fn known_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES
        .iter()
        .flat_map(|(section, table, _)| section.keys().into_iter().map(move |key| (*table, key)))
}

/// Reads the whole file.
pub(super) fn read(reader: &mut PolicyReader, file: &DeTable<'_>) -> Policy {
    let mut to = PolicyDraft::default();
    read_table(reader, file, Top, &mut to);
    let mut policy = Policy {
        validation: to.own.validation.unwrap_or_default(),
        repair: to.own.repair.unwrap_or_default(),
        output: std::mem::take(&mut to.own.output),
        advice: std::mem::take(&mut to.own.advice),
        run: to.own.run,
        ..Policy::default()
    };
    to.admission.escalation = match (to.never_asks, to.attended.unwrap_or(true)) {
        (true, _) => Escalation::Never,
        (false, true) => Escalation::Ask,
        (false, false) => Escalation::Stop,
    };
    if let Some(entry) = entries(file).iter().find(|entry| entry.key == "tool") {
        read_tools(reader, entry, &mut to, &mut policy.tools);
    }
    policy.admission = to.admission;
    policy.patterns = to.patterns;
    policy
}

fn read_table(
    reader: &mut PolicyReader,
    table: &DeTable<'_>,
    section: Section,
    to: &mut PolicyDraft,
) {
    for entry in entries(table) {
        if reader.gives_up() {
            return;
        }
        let mut rows = KEYS.iter();
        let known = rows.find(|(key, tables, _)| *key == entry.key && tables.contains(&section));
        match known {
            Some((_, _, read)) => read(reader, &entry, to),
            None => reader.unknown(&entry, section),
        }
    }
}

/// Sets a field if there is a value.
fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// The tables `[tool."name"]`, in order of precedence: patterns as they are in the file, then exact names, which override any
/// pattern.
fn read_tools(
    reader: &mut PolicyReader,
    entry: &FileEntry<'_>,
    to: &mut PolicyDraft,
    tools: &mut Vec<ToolPolicy>,
) {
    let expected = "tables with the names of tools, such as [tool.\"get_*\"]";
    let Some(table) = reader.table(entry, expected) else {
        return;
    };
    let mut tables = entries(table);
    let many = tables.iter().filter(|tool| tool.key.contains('*')).count();
    if many > MOST_PATTERNS {
        let what = format!("{many} patterns, more than the limit of {MOST_PATTERNS}");
        return reader.object(&entry.key_span, what);
    }
    // The sort is stable, so patterns keep their order.
    tables.sort_by_key(|tool| !tool.key.contains('*'));
    for tool in tables {
        if reader.gives_up() {
            return;
        }
        let DeValue::Table(settings) = tool.value else {
            reader.no_tool(&tool);
            continue;
        };
        if tool.key.is_empty() {
            reader.object(
                &tool.key_span,
                "the name of a tool is empty; \"*\" means all tools",
            );
            continue;
        }
        to.own = ToolPolicy::new(tool.key);
        to.tool = ToolAdmission::new(tool.key);
        read_table(reader, settings, Tool, to);
        tools.push(std::mem::take(&mut to.own));
        to.admission.tools.push(std::mem::take(&mut to.tool));
        to.patterns.push(pattern(tool.key, tool.key_span.start));
    }
}

fn pattern(text: &str, offset: usize) -> Pattern {
    Pattern {
        text: text.to_owned(),
        line: offset,
    }
}

/// A single number applies to all tools except those declared to change something: an operator who raises it may not have
/// payments in mind, so those have to be named.
fn budgets(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    if let DeValue::Table(table) = entry.value {
        return read_table(reader, table, Budget, to);
    }
    let expected = "or a table like { unknown = 3, read = 10, write = 1 }";
    if let Some(number) = reader.number(entry, 1, expected) {
        (to.admission.budget, to.admission.budget_read) = (number, number);
    }
}

fn loops(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    if let Some(table) = reader.table(entry, "a table of settings") {
        read_table(reader, table, Loops, to);
    }
}

fn turn_calls(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    let steps = &mut to.admission.turn_calls;
    match reader.steps(entry, *steps, 1) {
        Some(new) if new.refuse == u32::MAX => reader.last_bound(entry),
        new => set(steps, new),
    }
}

fn most_refusals(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    if entry.is_false() {
        return reader.last_bound(entry);
    }
    set(&mut to.admission.most_refusals, reader.number(entry, 1, ""));
}

fn ask_after(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    to.never_asks = entry.is_false();
    let ask_after = reader.number_or_never(entry, 1);
    set(
        &mut to.admission.ask_after,
        ask_after.filter(|_| !to.never_asks),
    );
}

fn pollers(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    let expected = "a list of tool names such as [\"*_status\"]";
    for (name, span) in reader.texts(entry, expected) {
        let mut tool = ToolAdmission::new(name);
        tool.poller = Some(true);
        to.admission.tools.push(tool);
        to.patterns.push(pattern(name, span.start));
    }
}

fn volatile(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    let mut tool = ToolAdmission::new("*");
    tool.volatile = reader.places(entry);
    if !tool.volatile.is_empty() {
        to.admission.tools.push(tool);
    }
}

/// A number of seconds, or a text with a unit.
fn duration(reader: &mut PolicyReader, entry: &FileEntry<'_>) -> Option<Duration> {
    let seconds = match entry.value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::String(text) => with_unit(text),
        _ => None,
    };
    let seconds = seconds.filter(|seconds| (SHORTEST..=LONGEST).contains(seconds));
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    if duration.is_none() {
        let expected =
            "seconds, or a text such as \"30s\", \"500ms\" or \"2m\", from a millisecond to a day";
        reader.expected(entry, expected);
    }
    duration
}

/// `30s`, `500ms`, `2m` or `1h` in seconds.
fn with_unit(text: &str) -> Option<f64> {
    let end = text.find(|character: char| character.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let factor = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let number: f64 = number.trim_ascii_end().parse().ok()?;
    Some(number * factor)
}

/// A mode, or a table that contains one.
fn output(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    match entry.value {
        DeValue::Table(table) => read_table(reader, table, Output, to),
        DeValue::String(_) => to.own.output.mode = reader.choice(entry, &Validation::ALL),
        _ => reader.expected(
            entry,
            "\"off\", \"warn\" or \"strict\", or a table like { mode = \"warn\", max_bytes = 65536 }",
        ),
    }
}

#[cfg(feature = "cel")]
fn checks(reader: &mut PolicyReader, entry: &FileEntry<'_>, to: &mut PolicyDraft) {
    checks::read(reader, entry, &mut to.own.output.checks);
}

#[cfg(not(feature = "cel"))]
fn checks(reader: &mut PolicyReader, entry: &FileEntry<'_>, _: &mut PolicyDraft) {
    let what = "a `check` needs a callwright built with the feature `cel`";
    reader.object(&entry.key_span, what);
}

/// A list of detectors, or all of them.
fn detectors(reader: &mut PolicyReader, entry: &FileEntry<'_>) -> Vec<Detector> {
    if matches!(entry.value, DeValue::String(text) if text == "all") {
        return Detector::ALL.map(|(_, detector)| detector).to_vec();
    }
    reader
        .texts(entry, "\"all\", or a list such as [\"more_pages\"]")
        .into_iter()
        .filter_map(|(text, span)| reader.chosen(entry.key, text, &span, &Detector::ALL))
        .collect()
}

/// Words that mark an error as transient. A blank one would match every error.
fn transient_words(reader: &mut PolicyReader, entry: &FileEntry<'_>) -> Vec<String> {
    let texts = reader.texts(entry, "a list such as [\"index is being rebuilt\"]");
    for (text, span) in &texts {
        if text.trim().is_empty() {
            reader.object(span, "a blank text matches every error; give some words");
        }
    }
    texts.into_iter().map(|(text, _)| text.to_owned()).collect()
}

/// Advice, by class or by code.
fn advice(reader: &mut PolicyReader, entry: &FileEntry<'_>) -> Advice {
    let expected = "a table such as { timeout = \"Ask for one month at a time.\" }";
    let mut advice = Advice::default();
    let table = reader.table(entry, expected).map(entries);
    for entry in table.into_iter().flatten() {
        if reader.gives_up() {
            break;
        }
        let lines = lines(reader, &entry);
        advice = match (Class::from_name(entry.key), Code::from_name(entry.key)) {
            (Some(class), _) => advice.for_class(class, lines),
            (None, Some(code)) => advice.for_code(code, lines),
            (None, None) => {
                unknown_subject(reader, &entry);
                advice
            }
        };
    }
    advice
}

fn unknown_subject(reader: &mut PolicyReader, entry: &FileEntry<'_>) {
    let classes = Class::ALL.map(|(name, _)| name);
    let near = nearest(entry.key, classes, 1).into_iter().next();
    let near = near.or_else(|| Code::nearest(entry.key).into_iter().next());
    let key = snippet(entry.key, SHOWN);
    let what = match near {
        Some(near) => format!("no class or code is called `{key}`, did you mean `{near}`?"),
        None => format!(
            "no class or code is called `{key}`; the classes are {}, and `callwright explain` lists the codes",
            classes.join(", ")
        ),
    };
    reader.object(&entry.key_span, what);
}

/// One sentence or several.
fn lines(reader: &mut PolicyReader, entry: &FileEntry<'_>) -> Vec<String> {
    let expected = "a sentence, or a list of sentences";
    match entry.value {
        DeValue::Array(items) if items.is_empty() => {
            let what = format!("`{}` advises nothing", snippet(entry.key, SHOWN));
            reader.object(&entry.span, what);
            Vec::new()
        }
        DeValue::Array(_) => {
            let texts = reader.texts(entry, expected).into_iter();
            texts.map(|(text, _)| text.to_owned()).collect()
        }
        _ => {
            let text = reader.text(entry, expected);
            text.map(str::to_owned).into_iter().collect()
        }
    }
}
