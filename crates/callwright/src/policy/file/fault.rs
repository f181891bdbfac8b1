//! A mistake in a policy file, with its line and a marker below the part that is wrong.

use std::ops::Range;

use crate::text::{first_bytes, quoted, visible};

/// How many mistakes are reported at once: as many as fit on a screen.
const MOST_TOLD: usize = 10;

/// How many mistakes are collected. Each is compared with all known keys, and a file of 1 MB may hold 100,000.
pub(super) const MOST_FAULTS: usize = 1_000;

/// How many characters of a line are shown, and how many of those before the marker.
const SHOWN: usize = 100;
const SHOWN_BEFORE: usize = 60;

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct FileFault {
    span: Range<usize>,
    what: String,
    /// The text at the span, and the part of it that is wrong.
    inside: Option<(String, Range<usize>)>,
}

impl FileFault {
    pub(super) fn new(span: &Range<usize>, what: impl Into<String>) -> Self {
        FileFault {
            span: span.clone(),
            what: what.into(),
            inside: None,
        }
    }

    /// Narrows the fault to a part of that text.
    #[cfg(feature = "cel")]
    pub(super) fn inside(mut self, text: &str, part: Range<usize>) -> Self {
        self.inside = Some((text.to_owned(), part));
        self
    }

    /// The position. A part of a text can be located if the text is written without escapes.
    fn place(&self, file: &str) -> Range<usize> {
        let part = self.inside.as_ref().and_then(|(text, part)| {
            let written = file.get(self.span.clone())?;
            let start = written.find(text.as_str())?;
            let quotes = written.len() - text.len() - start;
            // There are only quotes around it, and a line break after the opening ones.
            (start <= 5 && quotes <= 3)
                .then(|| self.span.start + start + part.start..self.span.start + start + part.end)
        });
        part.unwrap_or_else(|| self.span.clone())
    }

    /// The text is not TOML.
    pub(super) fn syntax(text: &str, error: &toml::de::Error) -> Self {
        let span = error.span().unwrap_or(0..0);
        let line = line_at(text, span.start).trim();
        let what = match error.message() {
            "duplicate key" => {
                let key = text.get(span.clone()).unwrap_or_default();
                format!(
                    "{} occurs twice; put its settings in one place",
                    quoted(key.trim_matches(['"', '\'']), SHOWN)
                )
            }
            _ if line.starts_with('[')
                && line.contains(['*', '?'])
                && !line.contains(['"', '\'']) =>
            {
                "a name with `*` needs quotes: [tool.\"get_*\"]".to_owned()
            }
            message => format!("not TOML: {message}"),
        };
        FileFault {
            span,
            what,
            inside: None,
        }
    }
}

/// All mistakes in file order, each with its line.
pub(super) fn tell(text: &str, mut faults: Vec<FileFault>) -> String {
    faults.sort_by_key(|fault| fault.span.start);
    let mut blocks: Vec<String> = faults
        .iter()
        .take(MOST_TOLD)
        .map(|fault| block(text, fault))
        .collect();
    if let Some(more) = faults.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
        let and_more = if faults.len() < MOST_FAULTS {
            ""
        } else {
            " or more"
        };
        blocks.push(format!("{more} more mistakes{and_more}"));
    }
    blocks.join("\n")
}

fn block(text: &str, fault: &FileFault) -> String {
    let span = fault.place(text);
    let (line, column) = place(text, span.start);
    let shown = line_at(text, span.start);
    let length = text.get(span).map_or(1, |marked| {
        marked.lines().next().unwrap_or("").chars().count()
    });
    let skipped = (column - 1).saturating_sub(SHOWN_BEFORE);
    let piece = |from: usize, count: usize| -> String {
        visible(&shown.chars().skip(from).take(count).collect::<String>())
    };
    let before = piece(skipped, column - 1 - skipped);
    let rest = SHOWN.saturating_sub(column - 1 - skipped);
    let marked = piece(column - 1, length.clamp(1, rest));
    let after = piece(
        column - 1 + length.max(1),
        rest.saturating_sub(length.max(1)),
    );
    let number = line.to_string();
    format!(
        "line {line}, column {column}: {}\n  {number} | {before}{marked}{after}\n  {} | {}{}",
        fault.what,
        " ".repeat(number.len()),
        " ".repeat(before.chars().count()),
        "^".repeat(marked.chars().count().max(1)),
    )
    .trim_end()
    .to_owned()
}

/// Line and column of an offset, counted from one, columns in characters.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = first_bytes(text, offset);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}

/// The line around an offset, without its end.
fn line_at(text: &str, offset: usize) -> &str {
    let before = first_bytes(text, offset);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].split('\n').next().unwrap_or("");
    line.strip_suffix('\r').unwrap_or(line)
}
