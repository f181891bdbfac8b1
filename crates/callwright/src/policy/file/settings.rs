//! Settings that stand at the top for all tools, or in the table of a tool for that one.

use std::time::Duration;

use toml::de::DeValue;

use super::checks;
use super::keys::Section;
use super::values::{Entry, Reader, entries};
use crate::nearest::nearest;
use crate::policy::{Advice, OutputSettings, ToolPolicy};
use crate::text::snippet;
use crate::words::{Class, Code, Detector, Validation};

/// How often a call may be tried again. After ten times with growing pauses whoever waits has gone.
const MOST_RETRIES: u32 = 10;

/// The fewest and the most bytes of a result that the model may get: enough for a sentence, and the longest result
/// that is read as JSON.
const FEWEST_BYTES: u32 = 100;
const MOST_BYTES: u32 = 64 * 1024 * 1024;

/// The longest time-out, in seconds: a day. Who waits longer means something else.
const LONGEST: f64 = 24.0 * 60.0 * 60.0;

/// The shortest time-out, in seconds. Clocks that wait are no finer.
const SHORTEST: f64 = 0.001;

/// How much of a name is shown.
const SHOWN: usize = 40;

/// Reads one key; `false` if it is none of these.
pub(super) fn read(reader: &mut Reader, entry: &Entry<'_>, own: &mut ToolPolicy) -> bool {
    match entry.key {
        "validate" => own.validation = validation(reader, entry),
        "timeout" => own.run.timeout = duration(reader, entry),
        "retries" => own.run.retries = reader.number_within(entry, 0..=MOST_RETRIES, ""),
        "concurrency" => {
            let number = reader.number(entry, 1, "");
            own.run.concurrency = number.and_then(|number| usize::try_from(number).ok());
        }
        "output" => read_output(reader, entry, &mut own.output),
        "advice" => own.advice = advice(reader, entry),
        "check" => checks::read(reader, entry, &mut own.output.checks),
        _ => return false,
    }
    true
}

const MODES: [(&str, Validation); 3] = [
    ("off", Validation::Off),
    ("warn", Validation::Warn),
    ("strict", Validation::Strict),
];

fn validation(reader: &mut Reader, entry: &Entry<'_>) -> Option<Validation> {
    reader.choice(entry, &MODES)
}

/// A number of seconds, or a text with a unit.
fn duration(reader: &mut Reader, entry: &Entry<'_>) -> Option<Duration> {
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

/// `30s`, `500ms`, `2m`, `1h` in seconds.
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

/// A mode, or a table with one.
fn read_output(reader: &mut Reader, entry: &Entry<'_>, output: &mut OutputSettings) {
    let table = match entry.value {
        DeValue::Table(table) => table,
        DeValue::String(_) => {
            output.mode = validation(reader, entry);
            return;
        }
        _ => {
            let expected = "\"off\", \"warn\" or \"strict\", or a table like { mode = \"warn\", max_bytes = 65536 }";
            return reader.expected(entry, expected);
        }
    };
    for entry in entries(table) {
        match entry.key {
            "mode" => output.mode = validation(reader, &entry),
            "detect" => output.detect = Some(detectors(reader, &entry)),
            "max_bytes" => {
                let number = reader.number_within(&entry, FEWEST_BYTES..=MOST_BYTES, "");
                output.max_bytes = number.and_then(|number| usize::try_from(number).ok());
            }
            "transient" => output.transient = words(reader, &entry),
            _ => reader.unknown(&entry, Section::Output),
        }
    }
}

/// A list of detectors, or all of them.
fn detectors(reader: &mut Reader, entry: &Entry<'_>) -> Vec<Detector> {
    if matches!(entry.value, DeValue::String(text) if text == "all") {
        return Detector::ALL.map(|(_, detector)| detector).to_vec();
    }
    reader
        .texts(entry, "\"all\", or a list such as [\"more_pages\"]")
        .into_iter()
        .filter_map(|(text, span)| reader.chosen(entry.key, text, &span, &Detector::ALL))
        .collect()
}

/// Words of errors that pass. Blank ones would be in every error.
fn words(reader: &mut Reader, entry: &Entry<'_>) -> Vec<String> {
    let texts = reader.texts(entry, "a list such as [\"index is being rebuilt\"]");
    for (text, span) in &texts {
        if text.trim().is_empty() {
            reader.object(span, "blank words are in every error; name some".to_owned());
        }
    }
    texts.into_iter().map(|(text, _)| text.to_owned()).collect()
}

/// What to advise, by class or by code.
fn advice(reader: &mut Reader, entry: &Entry<'_>) -> Advice {
    let expected = "a table such as { timeout = \"Ask for one month at a time.\" }";
    let mut advice = Advice::default();
    let Some(table) = reader.table(entry, expected) else {
        return advice;
    };
    for entry in entries(table) {
        let lines = lines(reader, &entry);
        let class = Class::ALL
            .into_iter()
            .find(|class| class.name() == entry.key);
        advice = match (class, Code::from_name(entry.key)) {
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

fn unknown_subject(reader: &mut Reader, entry: &Entry<'_>) {
    let classes = Class::ALL.map(Class::name);
    let near = nearest(entry.key, classes, 1).into_iter().next();
    let near = near.or_else(|| Code::nearest(entry.key).into_iter().next());
    let key = snippet(entry.key, SHOWN);
    let what = match near {
        Some(near) => format!("no class and no code is called `{key}`, did you mean `{near}`?"),
        None => format!(
            "no class and no code is called `{key}`; the classes are {}, and `callwright explain` lists the codes",
            classes.join(", ")
        ),
    };
    reader.object(&entry.key_span, what);
}

/// A sentence, or several.
fn lines(reader: &mut Reader, entry: &Entry<'_>) -> Vec<String> {
    let expected = "a sentence, or a list of sentences";
    match entry.value {
        DeValue::Array(items) if items.is_empty() => {
            reader.object(
                &entry.span,
                format!("`{}` advises nothing", snippet(entry.key, SHOWN)),
            );
            Vec::new()
        }
        DeValue::Array(_) => {
            let texts = reader.texts(entry, expected).into_iter();
            texts.map(|(text, _)| text.to_owned()).collect()
        }
        _ => reader
            .text(entry, expected)
            .map(str::to_owned)
            .into_iter()
            .collect(),
    }
}
