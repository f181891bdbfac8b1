//! Stage 2: the text of a call → a JSON value.
//!
//! Takes a [`Call`] as it arrived; returns its arguments as a value, or the position and the reason why they cannot be parsed.
//! This stage knows where a text was cut off, and at which path. It never completes, repairs or drops anything, and unreadable
//! arguments never become `{}`.

pub use crate::json::{Problem, SyntaxError, read_value, size};
pub use crate::vocabulary::{Cut, ParseLimits};

use crate::call::{Arguments, Call, Completeness};
use crate::json::{Lent, Path, Value, inspect, read_document, read_prefix};
use crate::tool::Tool;
use crate::vocabulary::{Cause, Code, Failure};

/// Arguments that could be parsed. Only this stage creates them.
#[derive(Debug)]
pub(crate) struct Parsed<'c> {
    pub(crate) arguments: Lent<'c>,
    pub(crate) has_duplicates: bool,
    /// Whether an empty text or `null` counts as `{}` here.
    pub(crate) blank: Option<Blank>,
}

/// What was sent instead of an object without members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blank {
    /// An empty text, which may be the rest of a call that was cut.
    Text,
    /// `null`, which some models write where they mean no arguments.
    Null,
}

/// Why arguments could not be parsed, and the part that could.
#[derive(Debug)]
pub(crate) struct Unreadable<'c> {
    pub(crate) failure: Box<Failure>,
    pub(crate) read: Option<Lent<'c>>,
}

impl From<Failure> for Unreadable<'_> {
    fn from(failure: Failure) -> Self {
        Unreadable {
            failure: Box::new(failure),
            read: None,
        }
    }
}

/// Parses the arguments of a call of this tool. The text is never quoted for a tool that takes secrets.
pub(crate) fn read<'c>(
    call: &'c Call<'_>,
    tool: &Tool,
    limits: &ParseLimits,
) -> Result<Parsed<'c>, Unreadable<'c>> {
    let parsed = match &call.arguments {
        Arguments::Text(text) => read_text(text, tool, limits),
        Arguments::Value(value) => read_ready(value, limits),
        Arguments::Absent => Ok(empty(None)),
    };
    match call.completeness {
        Completeness::CutOff => Err(declared_cut(parsed, Cut::Declared)),
        Completeness::Doubtful if !tool.only_reads() => Err(declared_cut(parsed, Cut::Doubtful)),
        _ => parsed,
    }
}

/// No arguments. The schema decides whether that is enough.
fn empty<'c>(blank: Option<Blank>) -> Parsed<'c> {
    Parsed {
        arguments: Lent::Owned(Value::Object(Vec::new())),
        has_duplicates: false,
        blank,
    }
}

fn read_text<'c>(
    text: &'c str,
    tool: &Tool,
    limits: &ParseLimits,
) -> Result<Parsed<'c>, Unreadable<'c>> {
    if text.len() > limits.max_bytes {
        return Err(too_long(text.len(), limits.max_bytes).into());
    }
    match read_document(text, limits.max_depth) {
        // Some models write `null` where they mean no arguments.
        Ok(document) if document.value == Value::Null => Ok(empty(Some(Blank::Null))),
        Ok(document) => Ok(Parsed {
            arguments: Lent::Owned(document.value),
            has_duplicates: document.has_duplicates,
            blank: None,
        }),
        Err(_) if text.trim_ascii().is_empty() => Ok(empty(Some(Blank::Text))),
        Err(error) => Err(explain(text, &error, tool, limits.max_depth).into()),
    }
}

#[cold]
fn explain(text: &str, error: &SyntaxError, tool: &Tool, max_depth: usize) -> Failure {
    let syntax = || {
        let (line, column) = error.line_and_column(text);
        let cause = Cause::Syntax {
            line,
            column,
            path: error.path(),
            problem: error.problem,
            found: (!tool.takes_secrets()).then(|| error.snippet(text.trim_ascii_end())),
            after_object: error.problem == Problem::TrailingText
                && text.trim_ascii_start().starts_with('{'),
        };
        Failure::new(Code::InvalidJson, cause)
    };
    match error.problem {
        Problem::CutOff => {
            let reads = |text: &str| read_document(text, max_depth).is_ok();
            Failure::cut_off(error.path(), Cut::of_text(text, reads))
        }
        Problem::TooDeep => too_deep(error.path(), max_depth),
        Problem::TrailingText => several_values(text, max_depth).unwrap_or_else(syntax),
        _ => syntax(),
    }
}

/// Complete values side by side: `{"x":1}{"x":2}`. `None` if something else follows the first.
fn several_values(text: &str, max_depth: usize) -> Option<Failure> {
    let (first, mut at) = read_prefix(text, 0, max_depth).ok()?;
    let text = text.trim_ascii_end();
    let mut count = 1;
    let mut identical = true;
    let first = first.canonical();
    while at < text.len() {
        let (next, end) = match read_prefix(text, at, max_depth) {
            Ok(next) => next,
            // A quote alone is left over: no other value starts with it.
            Err(error) if error.problem == Problem::CutOff && text[at..].trim() != "\"" => {
                return Some(Failure::cut_off(error.path(), Cut::Seen));
            }
            Err(_) => return None,
        };
        identical &= next.canonical() == first;
        count += 1;
        at = end;
    }
    let cause = Cause::SeveralValues { count, identical };
    Some(Failure::new(Code::AmbiguousCall, cause))
}

fn read_ready<'c>(
    value: &'c Value<'_>,
    limits: &ParseLimits,
) -> Result<Parsed<'c>, Unreadable<'c>> {
    if matches!(value, Value::Null) {
        return Ok(empty(Some(Blank::Null)));
    }
    let bytes = size(value);
    if bytes > limits.max_bytes {
        return Err(too_long(bytes, limits.max_bytes).into());
    }
    match inspect(value, limits.max_depth) {
        Some(has_duplicates) => Ok(Parsed {
            arguments: Lent::Borrowed(value),
            has_duplicates,
            blank: None,
        }),
        None => Err(too_deep(deepest_place(value, limits.max_depth), limits.max_depth).into()),
    }
}

fn too_long(bytes: usize, limit: usize) -> Failure {
    Failure::new(Code::ArgumentsTooLarge, Cause::TooLong { bytes, limit })
}

fn too_deep(path: Path, limit: usize) -> Failure {
    Failure::new(Code::ArgumentsTooLarge, Cause::TooDeep { path, limit })
}

/// The path at which a value exceeds the depth limit.
fn deepest_place(value: &Value<'_>, depth_left: usize) -> Path {
    let (mut path, mut here) = (Path::root(), value);
    for left in (0..depth_left).rev() {
        let deep = |inner: &Value<'_>| inspect(inner, left).is_none();
        let next = match here {
            Value::Object(members) => members
                .iter()
                .find(|(_, inner)| deep(inner))
                .map(|(key, inner)| (path.key(key), inner)),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .find(|(_, inner)| deep(inner))
                .map(|(at, inner)| (path.index(at), inner)),
            _ => None,
        };
        match next {
            Some(deeper) => (path, here) = deeper,
            None => break,
        }
    }
    path
}

/// The provider says that the answer was cut, or does not say that it was not: the arguments end where the text does.
fn declared_cut<'c>(parsed: Result<Parsed<'c>, Unreadable<'c>>, cut: Cut) -> Unreadable<'c> {
    let (path, read) = match parsed {
        Ok(parsed) => (last_place(&parsed.arguments), Some(parsed.arguments)),
        Err(unreadable) => match unreadable.failure.cause {
            Cause::Syntax { path, .. } | Cause::CutOff { path, .. } => (path, None),
            Cause::SeveralValues { .. } => (Path::root(), None),
            _ => return unreadable,
        },
    };
    Unreadable {
        failure: Box::new(Failure::cut_off(path, cut)),
        read,
    }
}

/// The path of what was written last.
fn last_place(value: &Value<'_>) -> Path {
    let mut path = Path::root();
    let mut here = value;
    loop {
        match here {
            Value::Object(members) => match members.last() {
                Some((key, inner)) => (path, here) = (path.key(key), inner),
                None => return path,
            },
            Value::Array(items) => match items.last() {
                Some(inner) => (path, here) = (path.index(items.len() - 1), inner),
                None => return path,
            },
            _ => return path,
        }
    }
}
