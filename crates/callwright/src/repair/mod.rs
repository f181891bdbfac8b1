//! Stage 3: proposes edits that make a refused call valid. Only the validator decides.
//!
//! Takes arguments that could not be parsed or did not match; returns a value that the schema accepts with every edit on
//! record, or nothing. The safety rules, in order:
//!
//! 1. Only refused calls are repaired; a value that the schema accepts is never touched.
//! 2. A text that is cut off is never completed.
//! 3. Nothing is invented: a value comes from the text or is the schema's own default.
//! 4. Edits are proposed only where the validator objects, and it is asked again after each.
//! 5. Two equally good edits with different results are an ambiguity, and the call is refused.
//! 6. No edit above the grade that the policy allows is applied, and none that the stakes forbid.
//! 7. Nothing meaningful is ever dropped: no word, no comment, no key with a value, unless the tool is declared read-only and
//!    the edit is a guess.

mod bracket;
mod either_way;
mod envelope;
mod escapes;
mod extract;
mod inner_quotes;
mod liberties;
mod rule_list;
mod rules;
mod search;
mod stakes;
mod surroundings;
mod tolerant;

use std::collections::BTreeSet;

pub(crate) use self::either_way::read_either_way;
use self::extract::{Extract, SeveralValues};
use self::liberties::is_allowed;
pub use self::rule_list::{RuleRow, rules};
use self::search::Allowed;
use self::stakes::CallStakes;
pub use self::stakes::Stakes;
use self::surroundings::{keys_of, without_missing_pieces};
pub use crate::vocabulary::{Edit, Grade, Trial};

use crate::call::{Call, Completeness};
use crate::json::{Path, Value, read_value};
use crate::tool::Tool;
use crate::validate::LocatedIssue;
use crate::vocabulary::{Cause, Code, Cut, Effect, Failure, Shown, Work, says_edit};

/// Where trials are recorded, if requested.
pub(crate) type Trace = Option<Vec<Trial>>;

/// Which edits are applied without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RepairPolicy {
    /// By the effect of the tool: up to `guess` for a read-only one, `lossless` for any other.
    #[default]
    ByEffect,
    /// No edits at all.
    Never,
    /// Up to this grade, whatever the tool does.
    UpTo(Grade),
}

impl RepairPolicy {
    /// All choices with their names.
    pub const ALL: [(&'static str, RepairPolicy); 5] = [
        ("none", RepairPolicy::Never),
        ("lossless", RepairPolicy::UpTo(Grade::Lossless)),
        ("lossy", RepairPolicy::UpTo(Grade::Lossy)),
        ("guess", RepairPolicy::UpTo(Grade::Guess)),
        ("by_effect", RepairPolicy::ByEffect),
    ];

    /// The highest grade that may be applied to calls of a tool.
    pub fn cap(self, tool: &Tool) -> Option<Grade> {
        // If a name contradicts the hint that the tool is read-only, nothing counts as declared.
        match tool.spec().effect {
            Effect::Read if !tool.only_reads() => self.cap_for(Effect::Unknown),
            effect => self.cap_for(effect),
        }
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

/// The outcome of the search for a repair.
#[derive(Debug)]
pub(crate) enum Healing {
    /// The schema accepts this value.
    Healed {
        arguments: Value<'static>,
        edits: Vec<Edit>,
    },
    /// Repair found what is wrong, and that it must not be repaired: two readings, several values, a cut.
    Refused(Box<Failure>),
    /// Nothing makes it valid.
    Hopeless,
}

/// How many steps the search for a repair may take: less than two milliseconds. A usual call takes about ten thousand; a typing
/// error among 10,000 allowed values takes nine tenths of it.
const SEARCHING: usize = 1_150_000;

/// The limit if the edits are only proposed: that follows a search without success, and is worth less.
const PROPOSING: usize = SEARCHING / 3;

/// What repair needs to know about a call besides its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'t> {
    pub(crate) tool: &'t Tool,
    /// The highest grade that is applied.
    pub(crate) cap: Grade,
    /// Whether the provider says that the answer ended normally.
    pub(crate) is_complete: bool,
    /// Whether the edits are only proposed to the model, which is harmless at any stakes.
    pub(crate) only_proposes: bool,
}

impl<'t> Terms<'t> {
    /// The terms for edits that are applied.
    pub(crate) fn new(tool: &'t Tool, call: &Call<'_>, cap: Grade) -> Self {
        Terms {
            tool,
            cap,
            is_complete: call.completeness == Completeness::Complete,
            only_proposes: false,
        }
    }

    /// The stakes regardless of the arguments.
    fn stakes(&self) -> Stakes {
        if self.only_proposes {
            Stakes::Reads
        } else {
            Stakes::of_tool(self.tool)
        }
    }
}

/// Searches for edits that make the text of arguments valid.
pub(crate) fn heal_text(
    text: &str,
    terms: &Terms<'_>,
    max_depth: usize,
    trace: &mut Trace,
) -> Healing {
    let tool = terms.tool;
    let (empty, text) = without_missing_pieces(text, tool);
    let (value, mut edits) = match extract::read(text, tool, max_depth) {
        Extract::One(value, edits) => (value, edits),
        Extract::Several(mut several) if is_only_call(&several, terms) => {
            several.edits.push(several.rest);
            (several.first, several.edits)
        }
        Extract::Several(several) if several.has_words => return Healing::Hopeless,
        Extract::Several(several) => return several_values(several.count),
        Extract::CutOff(path) => {
            let reads =
                |text: &str| matches!(extract::read(text, tool, max_depth), Extract::One(..));
            return Healing::Refused(Failure::cut_off(path, Cut::of_text(text, reads)).into());
        }
        Extract::Nothing => return Healing::Hopeless,
    };
    edits.splice(0..0, empty);
    heal_reading(&value, edits, terms, trace)
}

/// Searches for edits that make a value valid which was read with these edits.
fn heal_reading(
    value: &Value<'_>,
    mut edits: Vec<Edit>,
    terms: &Terms<'_>,
    trace: &mut Trace,
) -> Healing {
    if let Some(trials) = trace {
        let read = edits.iter().map(|edit| Trial {
            edit: edit.clone(),
            cost: 0,
            helps: true,
        });
        trials.extend(read);
    }
    let (arguments, more) = match heal_value(value, None, terms, trace) {
        Healing::Healed { arguments, edits } => (arguments, edits),
        other => return other,
    };
    // The operation may only become visible now: `"{'action': 'delete', }"`.
    if let Some(refusal) = forbidden(&edits, terms.stakes().with(&arguments), terms) {
        return refusal;
    }
    // As a text, `+49` and `1_000` may be meant as they are.
    let has = |edits: &[Edit], rule: &str| edits.iter().any(|edit| edit.rule == rule);
    if has(&edits, liberties::NUMBER.name) && has(&more, rules::STRING_FROM_SCALAR) {
        return Healing::Hopeless;
    }
    edits.extend(more);
    Healing::Healed { arguments, edits }
}

/// Searches for edits that make arguments valid that were written as `text`, in another notation than JSON: `shown` is what the
/// text shows to be complete, `has_words` if there are words around the call.
pub(crate) fn heal_notation(
    text: &str,
    arguments: &Value<'_>,
    (shown, has_words): (Shown, bool),
    terms: &Terms<'_>,
    trace: &mut Trace,
) -> Healing {
    let liberty = match shown {
        Shown::Call => &liberties::NOTATION,
        Shown::Parameters if terms.stakes() == Stakes::Reads => &liberties::OPEN_NOTATION,
        Shown::Parameters | Shown::Nothing if !terms.is_complete => return Healing::Hopeless,
        Shown::End | Shown::Parameters | Shown::Nothing => &liberties::OPEN_NOTATION,
    };
    let mut read = vec![liberty.edit(&Path::root(), text, "{…}")];
    if has_words {
        read.push(liberties::PROSE.edit(&Path::root(), text, "…"));
    }
    heal_reading(arguments, read, terms, trace)
}

/// The objection to the liberties taken while reading, at these stakes.
fn forbidden(edits: &[Edit], stakes: Stakes, terms: &Terms<'_>) -> Option<Healing> {
    let is = |edit: &Edit, liberty: &RuleRow| edit.rule == liberty.name;
    // The comma may be all that is left of a call that a gateway cut and closed.
    if stakes == Stakes::Destroys
        && !terms.is_complete
        && let Some(comma) = edits
            .iter()
            .find(|edit| is(edit, &liberties::TRAILING_COMMA))
    {
        return Some(cut_off(comma.path.clone()));
    }
    // Another call may have been lost after the comma.
    let may_go_on =
        !terms.is_complete && edits.iter().any(|edit| is(edit, &liberties::OUTER_COMMA));
    if may_go_on && (stakes != Stakes::Reads || terms.cap < Grade::Guess) {
        return Some(Healing::Hopeless);
    }
    let idempotent = terms.tool.spec().idempotent;
    let may_repeat = |edit: &Edit| idempotent && is(edit, &liberties::REPEATED_VALUE);
    let allowed =
        |edit: &Edit| edit.grade <= terms.cap && (is_allowed(edit, stakes) || may_repeat(edit));
    (!edits.iter().all(allowed)).then_some(Healing::Hopeless)
}

fn cut_off(path: Path) -> Healing {
    Healing::Refused(Failure::cut_off(path, Cut::Seen).into())
}

fn several_values(count: usize) -> Healing {
    let cause = Cause::SeveralValues {
        count,
        identical: false,
    };
    Healing::Refused(Failure::new(Code::AmbiguousCall, cause).into())
}

/// The complete values of a text, if there is only debris between and around them, and reading them was lossless.
pub(crate) fn side_by_side(
    text: &str,
    tool: &Tool,
    max_depth: usize,
) -> Option<Vec<Value<'static>>> {
    let (values, edits) = match read_value(text) {
        Ok(value) => (vec![value.into_owned()], Vec::new()),
        Err(_) => match extract::read(text, tool, max_depth) {
            Extract::One(value, edits) => (vec![value], edits),
            // A repeated one may be meant once.
            Extract::Several(several)
                if !several.has_words && several.others.len() + 1 == several.count =>
            {
                let mut values = vec![several.first];
                values.extend(several.others);
                (values, several.edits)
            }
            _ => return None,
        },
    };
    // The calls may be of other tools, and another one may have followed the last comma.
    let is_certain = |edit: &Edit| {
        edit.grade == Grade::Lossless
            && is_allowed(edit, Stakes::Destroys)
            && edit.rule != liberties::OUTER_COMMA.name
    };
    edits.iter().all(is_certain).then_some(values)
}

/// Whether only the first of several values can be a call of this tool: the others have none of its keys. Models make up the
/// result after the call. For read-only tools.
fn is_only_call(several: &SeveralValues, terms: &Terms<'_>) -> bool {
    let is_known = |value: &Value<'static>| {
        let mut keys = BTreeSet::new();
        keys_of(value, &mut keys);
        keys.iter().any(|key| terms.tool.has_parameter(key))
    };
    terms.stakes() == Stakes::Reads
        && is_known(&several.first)
        && several
            .others
            .iter()
            .all(|other| matches!(other, Value::Object(_)) && !is_known(other))
}

/// Where a text that is not JSON ends before its value does; `None` if that is not its problem.
pub(crate) fn seen_cut(text: &str, tool: &Tool, max_depth: usize) -> Option<Path> {
    match extract::read(text, tool, max_depth) {
        Extract::CutOff(path) => Some(path),
        _ => None,
    }
}

/// Searches for edits that make a value valid. `objections` are those of the schema, if it was asked.
pub(crate) fn heal_value(
    value: &Value<'_>,
    objections: Option<&[LocatedIssue]>,
    terms: &Terms<'_>,
    trace: &mut Trace,
) -> Healing {
    if let Some((inside, mut edits)) = envelope::opened(value, terms.tool)
        && forbidden(&edits, terms.stakes().with(&inside), terms).is_none()
    {
        match heal_plain(&inside, None, terms, trace) {
            Healing::Healed {
                arguments,
                edits: more,
            } => {
                edits.extend(more);
                return Healing::Healed { arguments, edits };
            }
            Healing::Refused(failure) => return Healing::Refused(failure),
            Healing::Hopeless => {}
        }
    }
    heal_plain(value, objections, terms, trace)
}

/// The same, if the value is the arguments themselves.
fn heal_plain(
    value: &Value<'_>,
    objections: Option<&[LocatedIssue]>,
    terms: &Terms<'_>,
    trace: &mut Trace,
) -> Healing {
    let Some(schema) = terms.tool.schema() else {
        // Without a schema nothing can be judged, so nothing is changed.
        return match value {
            Value::Object(_) => Healing::Healed {
                arguments: value.clone().into_owned(),
                edits: Vec::new(),
            },
            _ => Healing::Hopeless,
        };
    };
    let of_tool = terms.stakes();
    let work = Work::new(if terms.only_proposes {
        PROPOSING
    } else {
        SEARCHING
    });
    let mut stakes = CallStakes::new(of_tool, value);
    loop {
        let rules = Allowed {
            cap: terms.cap,
            stakes: &stakes,
            tool: terms.tool.name(),
            null_may_clear: of_tool != Stakes::Reads && says_edit(terms.tool.name()),
        };
        let healing = search::search(value, objections, schema, rules, &work, trace);
        let Healing::Healed { arguments, edits } = &healing else {
            return healing;
        };
        if !search::depend_on_stakes(edits) || !edits.iter().any(stakes::names_operation) {
            return healing;
        }
        // The operation may only be visible in the edited arguments: then another repair is needed, or none.
        let seen = of_tool.with(arguments);
        if seen <= stakes.get() {
            return healing;
        }
        stakes = CallStakes::new(seen, value);
    }
}
