//! Stage 2: the text of a call → a JSON value.
//!
//! In comes a [`Call`] as it arrived, out go its arguments as a value, or the place and the reason why
//! they cannot be read. This stage knows where a text was cut off and on which path. It never completes,
//! repairs or drops anything, and unreadable arguments never become `{}`.

pub use crate::json::{Problem, SyntaxError, read_value, size};
pub use crate::words::{Cut, ParseLimits};

use crate::call::{Arguments, Call, Completeness};
use crate::json::{Lent, Path, Value, inspect, read_document, read_prefix};
use crate::words::{Cause, Code, Failure};

/// Arguments that could be read. Only this stage makes them.
#[derive(Debug)]
pub(crate) struct Parsed<'c> {
    pub(crate) arguments: Lent<'c>,
    pub(crate) has_duplicates: bool,
    /// Whether something that says nothing counts as `{}` here.
    pub(crate) blank: Option<Blank>,
}

/// What was sent instead of an object without members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blank {
    /// An empty text, which may be what is left of a call that was cut.
    Text,
    /// `null`, which some models write where they mean no arguments.
    Null,
}

/// Why arguments could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreadable<'c> {
    /// Not JSON.
    Syntax {
        error: Box<SyntaxError>,
        text: &'c str,
    },
    /// The call ends before its arguments do.
    CutOff {
        /// Where it stopped.
        path: Path,
        /// What shows it.
        cut: Cut,
        /// What was there, if it could be read.
        read: Option<Lent<'c>>,
    },
    /// Several whole JSON values one after the other.
    SeveralValues { count: usize, identical: bool },
    /// More bytes than allowed.
    TooLong { bytes: usize, limit: usize },
    /// Nested deeper than allowed.
    TooDeep { path: Path, limit: usize },
}

impl<'c> Unreadable<'c> {
    /// Why the call is refused, and what of its arguments could be read. Of a tool that takes secrets no text is quoted.
    #[cold]
    pub(crate) fn into_failure(self, takes_secrets: bool) -> (Failure, Option<Lent<'c>>) {
        let mut arguments = None;
        let failure = match self {
            Unreadable::Syntax { error, text } => {
                let (line, column) = error.line_and_column(text);
                let cause = Cause::Syntax {
                    line,
                    column,
                    path: error.path(),
                    problem: error.problem,
                    found: (!takes_secrets).then(|| error.snippet(text)),
                };
                Failure::new(Code::InvalidJson, cause)
            }
            Unreadable::CutOff { path, cut, read } => {
                arguments = read;
                Failure::cut_off(path, cut)
            }
            Unreadable::SeveralValues { count, identical } => Failure::new(
                Code::AmbiguousCall,
                Cause::SeveralValues { count, identical },
            ),
            Unreadable::TooLong { bytes, limit } => {
                Failure::new(Code::ArgumentsTooLarge, Cause::TooLong { bytes, limit })
            }
            Unreadable::TooDeep { path, limit } => {
                Failure::new(Code::ArgumentsTooLarge, Cause::TooDeep { path, limit })
            }
        };
        (failure, arguments)
    }
}

/// Reads the arguments of a call, of a tool that only reads or of another.
pub(crate) fn read<'c>(
    call: &'c Call<'_>,
    only_reads: bool,
    limits: &ParseLimits,
) -> Result<Parsed<'c>, Unreadable<'c>> {
    let parsed = match &call.arguments {
        Arguments::Text(text) => read_text(text, limits),
        Arguments::Value(value) => read_ready(value, limits),
        Arguments::Absent => Ok(empty(None)),
    };
    match call.completeness {
        Completeness::CutOff => Err(declared_cut(parsed, Cut::Declared)),
        Completeness::Doubtful if !only_reads => Err(declared_cut(parsed, Cut::Doubtful)),
        _ => parsed,
    }
}

/// No arguments. Whether that will do is for the schema to say.
fn empty<'c>(blank: Option<Blank>) -> Parsed<'c> {
    Parsed {
        arguments: Lent::Owned(Value::Object(Vec::new())),
        has_duplicates: false,
        blank,
    }
}

fn read_text<'c>(text: &'c str, limits: &ParseLimits) -> Result<Parsed<'c>, Unreadable<'c>> {
    if text.len() > limits.max_bytes {
        return Err(Unreadable::TooLong {
            bytes: text.len(),
            limit: limits.max_bytes,
        });
    }
    match read_document(text, limits.max_depth) {
        // Some models write `null` where they mean no arguments.
        Ok(document) if document.value == Value::Null => Ok(empty(Some(Blank::Null))),
        Ok(document) => Ok(Parsed {
            arguments: Lent::Owned(document.value),
            has_duplicates: document.has_duplicates,
            blank: None,
        }),
        Err(error) => explain(text, error, limits),
    }
}

#[cold]
fn explain<'c>(
    text: &'c str,
    error: Box<SyntaxError>,
    limits: &ParseLimits,
) -> Result<Parsed<'c>, Unreadable<'c>> {
    if text.trim_ascii().is_empty() {
        return Ok(empty(Some(Blank::Text)));
    }
    Err(match error.problem {
        Problem::CutOff => Unreadable::CutOff {
            path: error.path(),
            cut: Cut::Seen,
            read: None,
        },
        Problem::TooDeep => Unreadable::TooDeep {
            path: error.path(),
            limit: limits.max_depth,
        },
        Problem::TrailingText => {
            several_values(text, limits.max_depth).unwrap_or(Unreadable::Syntax { error, text })
        }
        _ => Unreadable::Syntax { error, text },
    })
}

/// Whole values glued together: `{"x":1}{"x":2}`. `None` if something else follows the first.
fn several_values(text: &str, max_depth: usize) -> Option<Unreadable<'_>> {
    let (first, mut at) = read_prefix(text, 0, max_depth).ok()?;
    let text = text.trim_ascii_end();
    let mut count = 1;
    let mut identical = true;
    let first = first.canonical();
    while at < text.len() {
        let (next, end) = match read_prefix(text, at, max_depth) {
            Ok(next) => next,
            Err(error) if error.problem == Problem::CutOff => {
                return Some(Unreadable::CutOff {
                    path: error.path(),
                    cut: Cut::Seen,
                    read: None,
                });
            }
            Err(_) => return None,
        };
        identical &= next.canonical() == first;
        count += 1;
        at = end;
    }
    Some(Unreadable::SeveralValues { count, identical })
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
        let limit = limits.max_bytes;
        return Err(Unreadable::TooLong { bytes, limit });
    }
    match inspect(value, limits.max_depth) {
        Some(has_duplicates) => Ok(Parsed {
            arguments: Lent::Borrowed(value),
            has_duplicates,
            blank: None,
        }),
        None => Err(Unreadable::TooDeep {
            path: too_deep(value, limits.max_depth),
            limit: limits.max_depth,
        }),
    }
}

/// The place at which a value that is too deep gets too deep.
fn too_deep(value: &Value<'_>, depth_left: usize) -> Path {
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

/// The provider says that the answer was cut, or does not say that it was not: whatever was read ends where the text does.
fn declared_cut<'c>(parsed: Result<Parsed<'c>, Unreadable<'c>>, cut: Cut) -> Unreadable<'c> {
    match parsed {
        Ok(parsed) => Unreadable::CutOff {
            path: last_place(&parsed.arguments),
            cut,
            read: Some(parsed.arguments),
        },
        Err(Unreadable::Syntax { error, .. }) => Unreadable::CutOff {
            path: error.path(),
            cut,
            read: None,
        },
        Err(Unreadable::CutOff { path, read, .. }) => Unreadable::CutOff { path, cut, read },
        Err(Unreadable::SeveralValues { .. }) => Unreadable::CutOff {
            path: Path::root(),
            cut,
            read: None,
        },
        Err(other) => other,
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
