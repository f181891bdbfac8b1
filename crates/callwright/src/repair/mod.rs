//! Stage 3: proposes edits that make a refused call valid. The validator alone decides.
//!
//! In come arguments that could not be read or did not fit, out goes a value that the schema accepts
//! with every edit on record, or nothing. The rules of safety, in order:
//!
//! 1. It is only asked about calls that were refused; a value that the schema accepts is never touched.
//! 2. A text that is cut off is never completed.
//! 3. Nothing is invented: a value comes out of the text or is the schema's own default.
//! 4. Edits are proposed only where the validator objects, and it is asked again after each.
//! 5. Two equally good edits with different results are an ambiguity, and that is a refusal.
//! 6. No edit above the grade that the policy allows is applied, and none that the stakes forbid.
//! 7. What says something is never dropped: no word, no comment, no key with a value, unless the tool is declared to
//!    only read and the edit is a guess.

mod bracket;
mod escapes;
mod extract;
mod inner_quotes;
mod rules;
mod search;
mod stakes;
mod surroundings;
mod syntax;
mod table;
mod tolerant;

use serde::Serialize;

use self::extract::Extract;
pub use self::stakes::Stakes;
pub(crate) use self::surroundings::is_token_name;
use self::syntax::is_allowed;
pub use self::table::{RuleRow, rules};

use crate::json::{Path, Value};
use crate::tool::{Effect, Tool};

/// How far an edit departs from what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// No information changed: a trailing comma, `"5"` for an integer.
    Lossless,
    /// Information was dropped: a key that the schema forbids.
    Lossy,
    /// An intent was inferred: the nearest enum value, a renamed key.
    Guess,
}

impl Grade {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Lossless => "lossless",
            Grade::Lossy => "lossy",
            Grade::Guess => "guess",
        }
    }
}

/// One repair.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// Where: a JSON Pointer into the arguments as they were at that moment.
    pub path: Path,
    /// The stable name of the rule.
    pub rule: &'static str,
    /// How far it departs from what was sent.
    pub grade: Grade,
    /// What was there; `null` for a key that was missing.
    pub before: Value<'static>,
    /// What is there now; `null` for a key that was left out.
    pub after: Value<'static>,
    /// The edit as it may be shown, where secrets keep it from being shown as it is.
    pub(crate) masked: Option<Box<Edit>>,
}

impl Edit {
    const TOOL_NAME: &str = "tool_name";

    /// The tool was called by another name.
    pub(crate) fn tool_name(sent: &str, meant: &str) -> Edit {
        Edit {
            path: Path::root(),
            rule: Edit::TOOL_NAME,
            grade: Grade::Lossless,
            before: Value::String(sent.to_owned().into()),
            after: Value::String(meant.to_owned().into()),
            masked: None,
        }
    }

    /// The edit as it may be shown: without the values that the tool's schema marks as secrets.
    pub fn shown(&self) -> &Edit {
        self.masked.as_deref().unwrap_or(self)
    }
}

/// An edit that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trial {
    /// What was changed.
    pub edit: Edit,
    /// Which of two rules of one grade is tried first.
    pub cost: u8,
    /// Whether the validator then objected less.
    pub helps: bool,
}

/// Where trials are noted, if anybody wants to know.
pub(crate) type Trace = Option<Vec<Trial>>;

/// Which edits are applied without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RepairPolicy {
    /// By the effect of the tool: up to `guess` for one that only reads, `lossless` for any other.
    #[default]
    ByEffect,
    /// None at all.
    Never,
    /// Up to this grade, whatever the tool does.
    UpTo(Grade),
}

impl RepairPolicy {
    /// The highest grade that may be applied to calls of a tool.
    pub fn cap(self, tool: &Tool) -> Option<Grade> {
        self.cap_for(tool.spec().effect)
    }

    /// The highest grade that may be applied to calls of tools with this effect.
    pub(crate) fn cap_for(self, effect: Effect) -> Option<Grade> {
        match (self, effect) {
            (RepairPolicy::Never, _) => None,
            (RepairPolicy::UpTo(grade), _) => Some(grade),
            (RepairPolicy::ByEffect, Effect::Read) => Some(Grade::Guess),
            (RepairPolicy::ByEffect, _) => Some(Grade::Lossless),
        }
    }
}

/// What came of looking for a repair.
#[derive(Debug)]
pub(crate) enum Healing {
    /// The schema accepts this.
    Healed {
        arguments: Value<'static>,
        edits: Vec<Edit>,
    },
    /// Two repairs are equally good and differ.
    Ambiguous {
        path: Path,
        first: String,
        second: String,
    },
    /// The text holds several values that differ.
    SeveralValues(usize),
    /// The text ends here, before its value does.
    CutOff(Path),
    /// Nothing makes it valid.
    Hopeless,
}

/// What repair has to know about a call beside its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'t> {
    pub(crate) tool: &'t Tool,
    /// The highest grade that is applied.
    pub(crate) cap: Grade,
    /// Whether the provider says that the answer ended by itself.
    pub(crate) is_complete: bool,
    /// Whether what is found is only proposed to the model, which does no harm, whatever is at stake.
    pub(crate) only_proposes: bool,
}

impl Terms<'_> {
    fn stakes(&self, arguments: &Value<'_>) -> Stakes {
        if self.only_proposes {
            Stakes::Reads
        } else {
            Stakes::of(self.tool, arguments)
        }
    }
}

/// Looks for edits that make a text of arguments valid.
pub(crate) fn heal_text(
    text: &str,
    terms: &Terms<'_>,
    max_depth: usize,
    trace: &mut Trace,
) -> Healing {
    let tool = terms.tool;
    let (value, mut edits) = match extract::read(text, tool.name(), max_depth) {
        Extract::One(value, edits) => (value, edits),
        Extract::Several(count) => return Healing::SeveralValues(count),
        Extract::CutOff(path) => return Healing::CutOff(path),
        Extract::Nothing => return Healing::Hopeless,
    };
    if let Some(trials) = trace {
        let read = edits.iter().map(|edit| Trial {
            edit: edit.clone(),
            cost: 0,
            helps: true,
        });
        trials.extend(read);
    }
    let read = edits.clone();
    let healing = match heal_value(value, terms, trace) {
        Healing::Healed {
            arguments,
            edits: more,
        } => {
            edits.extend(more);
            Healing::Healed { arguments, edits }
        }
        other => other,
    };
    match &healing {
        // What the call asks for may show only now: `"{'action': 'delete', }"`.
        Healing::Healed { arguments, .. } => {
            let stakes = terms.stakes(arguments);
            reading_is_allowed(&read, stakes, terms).map_or_else(|refusal| refusal, |()| healing)
        }
        _ => healing,
    }
}

/// Whether the liberties that reading took may be taken at these stakes.
fn reading_is_allowed(edits: &[Edit], stakes: Stakes, terms: &Terms<'_>) -> Result<(), Healing> {
    let is = |edit: &Edit, liberty: &syntax::Liberty| edit.rule == liberty.name;
    // The comma may be all that is left of a call that a gateway cut and closed.
    if stakes == Stakes::Destroys
        && !terms.is_complete
        && let Some(comma) = edits.iter().find(|edit| is(edit, &syntax::TRAILING_COMMA))
    {
        return Err(Healing::CutOff(comma.path.clone()));
    }
    let idempotent = terms.tool.spec().idempotent;
    let may_repeat = |edit: &Edit| idempotent && is(edit, &syntax::REPEATED_VALUE);
    let allowed =
        |edit: &Edit| edit.grade <= terms.cap && (is_allowed(edit, stakes) || may_repeat(edit));
    if edits.iter().all(allowed) {
        Ok(())
    } else {
        Err(Healing::Hopeless)
    }
}

/// Where a text that is no JSON ends before its value does; `None` if that is not what is wrong with it.
pub(crate) fn cut_off(text: &str, tool: &Tool, max_depth: usize) -> Option<Path> {
    match extract::read(text, tool.name(), max_depth) {
        Extract::CutOff(path) => Some(path),
        _ => None,
    }
}

/// Looks for edits that make a value valid.
pub(crate) fn heal_value(value: Value<'static>, terms: &Terms<'_>, trace: &mut Trace) -> Healing {
    match terms.tool.schema() {
        Some(schema) => {
            let mut stakes = terms.stakes(&value);
            loop {
                let healing = search::search(value.clone(), schema, terms.cap, stakes, trace);
                match &healing {
                    // What the call asks for showed only in what was made of it: another way has to be found, or none.
                    Healing::Healed { arguments, .. } if terms.stakes(arguments) > stakes => {
                        stakes = terms.stakes(arguments);
                    }
                    _ => return healing,
                }
            }
        }
        // Without a schema nothing can be judged, so nothing is changed.
        None if matches!(value, Value::Object(_)) => Healing::Healed {
            arguments: value,
            edits: Vec::new(),
        },
        None => Healing::Hopeless,
    }
}
