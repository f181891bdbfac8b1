//! Values of a policy file → numbers, steps, names; or a fault that says what was expected.

use std::ops::{Range, RangeInclusive};

use toml::de::{DeTable, DeValue};

use super::fault::{FileFault, MOST_FAULTS};
use super::keys::Section;
use crate::admit::{AdmissionPolicy, Steps};
use crate::json::Path;
use crate::nearest::{is_slip, nearest};
use crate::text::{quoted, snippet};

/// How many names a list may have. Each tool or argument is matched against all of them.
const MOST_LISTED: usize = 1_000;

/// The meaning of `false` where a number is expected.
const NEVER: Option<u32> = Some(u32::MAX);

/// How much of a key or a value is shown; the whole line is shown below it anyway.
const SHOWN: usize = 40;

/// A key with its value, and where both are.
#[derive(Debug)]
pub(super) struct FileEntry<'a> {
    pub(super) key: &'a str,
    pub(super) key_span: Range<usize>,
    pub(super) value: &'a DeValue<'a>,
    pub(super) span: Range<usize>,
}

impl FileEntry<'_> {
    /// Whether the value is `false`, that is, switched off.
    pub(super) fn is_false(&self) -> bool {
        matches!(self.value, DeValue::Boolean(false))
    }
}

/// The entries of a table, in the order of the file.
pub(super) fn entries<'a>(table: &'a DeTable<'a>) -> Vec<FileEntry<'a>> {
    let mut all: Vec<FileEntry<'a>> = table
        .iter()
        .map(|(key, value)| FileEntry {
            key: key.get_ref(),
            key_span: key.span(),
            value: value.get_ref(),
            span: value.span(),
        })
        .collect();
    all.sort_by_key(|entry| entry.key_span.start);
    all
}

/// Reads values and collects the mistakes in them.
#[derive(Debug, Default)]
pub(super) struct PolicyReader {
    pub(super) faults: Vec<FileFault>,
    /// How many checks have been read.
    #[cfg(feature = "cel")]
    pub(super) checks: usize,
}

impl PolicyReader {
    /// The largest number that makes sense: no turn has more calls.
    pub(super) const MOST: u32 = AdmissionPolicy::MOST_CALLS;

    /// Whether there are more mistakes than anyone would read.
    pub(super) fn gives_up(&self) -> bool {
        self.faults.len() >= MOST_FAULTS
    }

    pub(super) fn object(&mut self, span: &Range<usize>, what: impl Into<String>) {
        self.faults.push(FileFault::new(span, what));
    }

    /// The value does not have the type the key expects.
    pub(super) fn expected(&mut self, entry: &FileEntry<'_>, expected: &str) {
        let (key, found) = (snippet(entry.key, SHOWN), found(entry.value));
        let what = format!("`{key}` expects {expected}, found {found}");
        // The span of a table with a header covers everything below it; its name is enough.
        let span = match entry.value {
            DeValue::Table(_) => &entry.key_span,
            _ => &entry.span,
        };
        self.object(span, what);
    }

    /// The key is unknown in this table.
    pub(super) fn unknown(&mut self, entry: &FileEntry<'_>, section: Section) {
        let (key, place) = (snippet(entry.key, SHOWN), section.place());
        let known = section.keys();
        let what = if let Some(slip) = known.iter().find(|known| is_slip(entry.key, known)) {
            format!("unknown key `{key}`{place}, did you mean `{slip}`?")
        } else if let Some(where_to) = section.elsewhere(entry.key) {
            format!("unknown key `{key}`{place}; it belongs {where_to}")
        } else if let Some(near) = nearest(entry.key, known.iter().copied(), 1).first() {
            format!("unknown key `{key}`{place}, did you mean `{near}`?")
        } else if section == Section::Tool && matches!(entry.value, DeValue::Table(_)) {
            format!("unknown key `{key}`{place}; a name with dots needs quotes: [tool.\"a.b\"]")
        } else {
            format!(
                "unknown key `{key}`{place}; known here: {}",
                known.join(", ")
            )
        };
        self.object(&entry.key_span, what);
    }

    /// `[tool]` itself contains something other than a table of settings.
    pub(super) fn no_tool(&mut self, entry: &FileEntry<'_>) {
        let what = if Section::Tool.keys().contains(&entry.key) {
            let key = entry.key;
            format!("`{key}` needs the name of a tool: [tool.\"name\"]; \"*\" means all tools")
        } else {
            let (key, found) = (snippet(entry.key, SHOWN), found(entry.value));
            format!("`{key}` is read as the name of a tool and must be a table, found {found}")
        };
        self.object(&entry.key_span, what);
    }

    /// The file switches off a bound that must remain.
    pub(super) fn last_bound(&mut self, entry: &FileEntry<'_>) {
        let key = entry.key;
        let what = format!(
            "`{key}` is a hard limit and cannot be switched off; the highest value is {}",
            Self::MOST
        );
        self.object(&entry.span, what);
    }

    /// A value, if it has the expected type.
    fn read<'a, T>(
        &mut self,
        entry: &FileEntry<'a>,
        expected: &str,
        read: impl FnOnce(&'a DeValue<'a>) -> Option<T>,
    ) -> Option<T> {
        let value = read(entry.value);
        if value.is_none() {
            self.expected(entry, expected);
        }
        value
    }

    pub(super) fn table<'a>(
        &mut self,
        entry: &FileEntry<'a>,
        expected: &str,
    ) -> Option<&'a DeTable<'a>> {
        self.read(entry, expected, DeValue::as_table)
    }

    pub(super) fn flag(&mut self, entry: &FileEntry<'_>) -> Option<bool> {
        self.read(entry, "true or false", DeValue::as_bool)
    }

    /// A number within bounds; `or` names what else the key accepts.
    pub(super) fn number(&mut self, entry: &FileEntry<'_>, least: u32, or: &str) -> Option<u32> {
        self.number_within(entry, least..=Self::MOST, or)
    }

    /// A number, or `false` for never.
    pub(super) fn number_or_never(&mut self, entry: &FileEntry<'_>, least: u32) -> Option<u32> {
        if entry.is_false() {
            return NEVER;
        }
        self.number(entry, least, "or `false`")
    }

    /// A number within the given bounds.
    pub(super) fn number_within(
        &mut self,
        entry: &FileEntry<'_>,
        bounds: RangeInclusive<u32>,
        or: &str,
    ) -> Option<u32> {
        let gap = if or.is_empty() { "" } else { " " };
        let (least, most) = (bounds.start(), bounds.end());
        let expected = format!("a whole number from {least} to {most}{gap}{or}");
        self.read(entry, &expected, |value| {
            let number = value.as_integer()?;
            let number = u32::from_str_radix(number.as_str(), number.radix()).ok()?;
            bounds.contains(&number).then_some(number)
        })
    }

    /// The same as a size.
    pub(super) fn size(
        &mut self,
        entry: &FileEntry<'_>,
        bounds: RangeInclusive<u32>,
    ) -> Option<usize> {
        let number = self.number_within(entry, bounds, "")?;
        usize::try_from(number).ok()
    }

    pub(super) fn choice<T: Copy>(
        &mut self,
        entry: &FileEntry<'_>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let text = self.read(entry, &one_of(known), DeValue::as_str)?;
        self.chosen(entry.key, text, &entry.span, known)
    }

    /// The meaning of a text that is the value of a key or an item of its list.
    pub(super) fn chosen<T: Copy>(
        &mut self,
        key: &str,
        text: &str,
        span: &Range<usize>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let choice = known.iter().find(|(name, _)| *name == text);
        if choice.is_none() {
            let near = nearest(text, known.iter().map(|(name, _)| *name), 1);
            let near = near.first();
            let advice =
                near.map_or_else(String::new, |near| format!(", did you mean \"{near}\"?"));
            let (expected, found) = (one_of(known), quoted(text, SHOWN));
            let what = format!("`{key}` expects {expected}, found {found}{advice}");
            self.object(span, what);
        }
        choice.map(|(_, value)| *value)
    }

    /// A text that is not blank.
    pub(super) fn text<'a>(&mut self, entry: &FileEntry<'a>, expected: &str) -> Option<&'a str> {
        let says_something = |text: &&str| !text.trim().is_empty();
        self.read(entry, expected, |value| {
            value.as_str().filter(says_something)
        })
    }

    /// Reads steps into their field, if they are valid.
    pub(super) fn set_steps(&mut self, entry: &FileEntry<'_>, least: u32, steps: &mut Steps) {
        *steps = self.steps(entry, *steps, least).unwrap_or(*steps);
    }

    /// `{ notice = 2, refuse = 4 }` or `false`; steps that are not given keep their value.
    pub(super) fn steps(&mut self, entry: &FileEntry<'_>, now: Steps, least: u32) -> Option<Steps> {
        let (notice, refuse) = self.parts(entry, least)?;
        let refuse_at = refuse.unwrap_or(now.refuse);
        let notice_at = match notice {
            Some(notice) => notice,
            // A notice that would come after the refusal was not asked for.
            None if now.notice > refuse_at => u32::MAX,
            None => now.notice,
        };
        if notice_at != u32::MAX && notice_at > refuse_at {
            let default = if refuse.is_none() {
                " (the default)"
            } else {
                ""
            };
            let what = format!(
                "`{}` warns at {notice_at}, after it refuses at {refuse_at}{default}; \
                 lower `notice`, or raise `refuse`",
                entry.key
            );
            self.object(&entry.span, what);
            return None;
        }
        Some(Steps::new(notice_at, refuse_at))
    }

    fn parts(&mut self, entry: &FileEntry<'_>, least: u32) -> Option<(Option<u32>, Option<u32>)> {
        let table = match entry.value {
            DeValue::Table(table) => table,
            DeValue::Boolean(false) => return Some((NEVER, NEVER)),
            _ => {
                self.expected(entry, "a table like { notice = 2, refuse = 4 } or `false`");
                return None;
            }
        };
        let before = self.faults.len();
        let (mut notice, mut refuse) = (None, None);
        for part in entries(table) {
            let field = match part.key {
                "notice" => &mut notice,
                "refuse" => &mut refuse,
                _ => {
                    self.unknown(&part, Section::Steps);
                    continue;
                }
            };
            *field = self.number_or_never(&part, least);
        }
        (self.faults.len() == before).then_some((notice, refuse))
    }

    /// A list of texts, each with its position.
    pub(super) fn texts<'a>(
        &mut self,
        entry: &FileEntry<'a>,
        expected: &str,
    ) -> Vec<(&'a str, Range<usize>)> {
        let DeValue::Array(items) = entry.value else {
            self.expected(entry, expected);
            return Vec::new();
        };
        if items.len() > MOST_LISTED {
            let (key, many) = (entry.key, items.len());
            let what = format!("`{key}` lists {many}, more than the limit of {MOST_LISTED}");
            self.object(&entry.key_span, what);
            return Vec::new();
        }
        let mut texts = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(text) if !text.is_empty() => texts.push((&**text, item.span())),
                other => {
                    let (key, found) = (entry.key, found(other));
                    let what = format!("`{key}` expects {expected}, found {found} in it");
                    self.object(&item.span(), what);
                }
            }
        }
        texts
    }

    /// Places in arguments: names, or JSON Pointers, which start with a slash.
    pub(super) fn places(&mut self, entry: &FileEntry<'_>) -> Vec<Path> {
        let expected = "a list of arguments such as [\"request_id\", \"/meta/trace\"]";
        let texts = self.texts(entry, expected);
        let mut places = Vec::with_capacity(texts.len());
        for (text, span) in texts {
            if !text.starts_with('/') {
                places.push(Path::root().key(text));
            } else if is_pointer(text) {
                places.push(Path::from_pointer(text));
            } else {
                let what = "not a JSON Pointer: `~` is written `~0` there, and `/` in a name `~1`";
                self.object(&span, what);
            }
        }
        places
    }
}

fn is_pointer(text: &str) -> bool {
    text.split('~')
        .skip(1)
        .all(|rest| rest.starts_with(['0', '1']))
}

/// `"a", "b" or "c"`
fn one_of<T>(known: &[(&str, T)]) -> String {
    let names: Vec<String> = known
        .iter()
        .map(|(name, _)| format!("\"{name}\""))
        .collect();
    match names.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        few => few.join(", "),
    }
}

/// A description of the value.
fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text, SHOWN),
        DeValue::Integer(number) => snippet(&number.to_string(), SHOWN),
        DeValue::Float(number) => snippet(number.as_str(), SHOWN),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
