//! The text of a result → JSON, if the tool declares it.

use crate::json::{Problem, Value, read_value};
use crate::vocabulary::OutputFault;

/// The longest text that is parsed as JSON, in bytes. A model gets a few hundred kilobytes of it, so tens of megabytes are a
/// runaway; as a tree they would take several times as much memory.
const LONGEST: usize = 64 * 1024 * 1024;

/// Parses a text; `hidden` if nothing of it may be shown.
pub(super) fn read(text: &str, hidden: bool) -> Result<Value<'_>, OutputFault> {
    if text.len() > LONGEST {
        return Err(OutputFault::TooLarge { bytes: text.len() });
    }
    read_value(text).map_err(|error| match error.problem {
        Problem::CutOff if text.trim_ascii().is_empty() => OutputFault::Nothing,
        Problem::CutOff => OutputFault::CutOff { path: error.path() },
        Problem::TooDeep => OutputFault::TooDeep,
        problem => {
            let (line, column) = error.line_and_column(text);
            OutputFault::Syntax {
                line,
                column,
                path: error.path(),
                problem,
                found: (!hidden).then(|| error.snippet(text)),
            }
        }
    })
}
