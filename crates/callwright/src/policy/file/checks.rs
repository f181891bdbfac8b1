//! The tables `[[check]]` and `[[tool."name".check]]`: the operator's conditions on results.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::fault::FileFault;
use super::keys::Section;
use super::values::{FileEntry, PolicyReader, entries};
use crate::check::expression::{self, Expression};
use crate::vocabulary::{Code, Finding, FindingKind, Next, OutputCheck};

/// How many checks a file may have. Compiling one takes about a millisecond.
const MOST_CHECKS: usize = 1_000;

/// The longest code name: one that fits in a log line.
const LONGEST_CODE: usize = 60;

const SENTENCE: &str = "a sentence";

pub(super) fn read(
    reader: &mut PolicyReader,
    entry: &FileEntry<'_>,
    checks: &mut Vec<OutputCheck>,
) {
    let DeValue::Array(items) = entry.value else {
        let expected = "tables in double brackets, such as [[tool.\"name\".check]]";
        return reader.expected(entry, expected);
    };
    for item in items {
        reader.checks += 1;
        if reader.checks > MOST_CHECKS {
            let what = format!("more than {MOST_CHECKS} checks");
            return reader.object(&entry.key_span, what);
        }
        if let DeValue::Table(table) = item.get_ref() {
            checks.extend(check(reader, &item.span(), table));
        } else {
            let what = "a check is a table with `when`, `class`, `code` and `detail`";
            reader.object(&item.span(), what);
        }
    }
}

fn check(
    reader: &mut PolicyReader,
    span: &Range<usize>,
    table: &DeTable<'_>,
) -> Option<OutputCheck> {
    let before = reader.faults.len();
    let (mut when, mut class, mut code, mut detail) = (None, None, None, None);
    let (mut hint, mut next) = (None, None);
    let all = entries(table);
    for entry in &all {
        match entry.key {
            "when" => when = condition(reader, entry),
            "class" => class = reader.choice(entry, &FindingKind::ALL),
            "code" => code = name(reader, entry),
            "detail" => detail = reader.text(entry, SENTENCE),
            "hint" => hint = reader.text(entry, SENTENCE),
            "next" => next = reader.choice(entry, &Next::ALL),
            _ => reader.unknown(entry, Section::Check),
        }
    }
    let missing: Vec<String> = ["when", "class", "code", "detail"]
        .iter()
        .filter(|key| all.iter().all(|entry| entry.key != **key))
        .map(|key| format!("`{key}`"))
        .collect();
    if !missing.is_empty() {
        let what = format!("this check needs {}", missing.join(" and "));
        reader.object(span, what);
    }
    if let (Some(class), Some(code)) = (class, code) {
        foreign(reader, class, code, &all);
    }
    if reader.faults.len() > before {
        return None;
    }
    let (when, code) = (when?, code?);
    let mut finding = Finding::new(class?, code.to_owned(), detail?.to_owned());
    finding.hint = hint.map(|hint| hint.to_owned().into());
    finding.next = next;
    Some(OutputCheck::fallible(code, move |arguments, output| {
        let holds = when.holds(arguments, output)?;
        Ok(holds.then(|| finding.clone()))
    }))
}

/// The condition, or a fault that points into it.
fn condition(reader: &mut PolicyReader, entry: &FileEntry<'_>) -> Option<Expression> {
    let text = reader.text(entry, "a condition such as \"size(output.orders) == 0\"")?;
    match expression::compile(text) {
        Ok(expression) => Some(expression),
        Err(mistake) => {
            let fault = FileFault::new(&entry.span, format!("`when`: {}", mistake.what));
            reader.faults.push(match mistake.at {
                Some(part) => fault.inside(text, part),
                None => fault,
            });
            None
        }
    }
}

/// A machine-readable name.
fn name<'a>(reader: &mut PolicyReader, entry: &FileEntry<'a>) -> Option<&'a str> {
    let expected = "a name such as \"empty_first_page\"";
    let text = reader.text(entry, expected)?;
    let rest = text
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !rest
        || !text.starts_with(|first: char| first.is_ascii_lowercase())
        || text.len() > LONGEST_CODE
    {
        reader.expected(entry, expected);
        return None;
    }
    Some(text)
}

/// A check must not redefine one of our codes: each means one thing everywhere.
fn foreign(reader: &mut PolicyReader, class: FindingKind, code: &str, all: &[FileEntry<'_>]) {
    let Some(row) = Code::from_name(code).map(Code::row) else {
        return;
    };
    let entry = all.iter().find(|entry| entry.key == "code");
    if let Some(entry) = entry.filter(|_| row.class != class.class()) {
        let (own, given) = (row.class.name(), class.class().name());
        let what =
            format!("`{code}` is a code of the class {own}, not of {given}; choose another name");
        reader.object(&entry.span, what);
    }
}
