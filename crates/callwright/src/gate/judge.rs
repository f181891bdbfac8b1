//! The life of a call, in one function.
//!
//! ```text
//! Call ─find→ Tool ─parse→ Parsed ─validate→ Valid
//!        │           └─────┬──────────┘ refused
//!        │              repair → Repaired
//!        └─────────────────┴── classify → Failure ── feedback → words
//! ```
//!
//! A call that parsing or validation refuses goes through repair once and is judged again. Admission comes later, see
//! [`crate::admit`]. Each stage takes a type that only the previous stage creates, so a call cannot skip one.

use super::Gate;
use std::sync::Arc;

use crate::call::{Arguments, Call};
use crate::json::{Lent, Path};
use crate::parse::{self, Blank, Parsed};
use crate::repair::{self, Healing, Terms, Trace, Trial};
use crate::rescue::Notated;
use crate::tool::{Tool, UnknownTool};
use crate::validate::{self, Objections};
use crate::verdict::{Refused, Repaired, Valid, Verdict};
use crate::vocabulary::{
    Cause, Code, Correction, Cut, Edit, Failure, Grade, Issue, Notation, Validation,
};

pub(crate) fn judge<'c>(gate: &'c Gate, call: &'c Call<'_>) -> Verdict<'c> {
    let healed = match gate.tool_set().find(&call.tool) {
        Ok(tool) => {
            let passed = pass(gate, tool, call).or_else(|stopped| only_warned(tool, stopped));
            match passed {
                Ok(valid) => return Verdict::Valid(valid),
                Err(stopped) => heal(gate, tool, call, stopped),
            }
        }
        Err(unknown) => match gate.tool_set().meant_tool(&call.tool) {
            Some(tool) => heal_name(gate, tool, call, unknown),
            None => Err(unknown_tool(unknown)),
        },
    };
    match healed {
        Ok(repaired) => Verdict::Repaired(repaired),
        Err(refused) => Verdict::Refused(refused),
    }
}

/// Why a call is not valid as sent.
enum StoppedCall<'c> {
    /// The reason is known.
    Refused(Box<Refused<'c>>),
    /// The schema objects. The feedback is only worked out if no repair is found.
    Objected(Box<Objected<'c>>),
}

struct Objected<'c> {
    tool: &'c Arc<Tool>,
    arguments: Lent<'c>,
    objections: Objections,
}

impl<'c> StoppedCall<'c> {
    fn may_be_repaired(&self) -> bool {
        match self {
            StoppedCall::Refused(refused) => refused.failure.may_be_reread(),
            StoppedCall::Objected(objected) => objected.objections.may_be_repaired(),
        }
    }

    #[cold]
    fn explain(self) -> Box<Refused<'c>> {
        let Objected {
            tool,
            arguments,
            objections,
        } = match self {
            StoppedCall::Refused(refused) => return refused,
            StoppedCall::Objected(objected) => *objected,
        };
        let mut issues = objections.explain(&arguments, tool.schema(), tool.takes_secrets());
        // In a destructive call, an unknown key such as `dry_run` may be what makes it harmless.
        let is_left_out = |it: &&mut Issue| it.suggestion == Some(Correction::LeaveOut);
        for issue in issues.iter_mut().filter(is_left_out) {
            issue.suggestion.take_if(|_| tool.may_destroy_or_spend());
        }
        let failure = Failure::new(Code::InvalidArguments, Cause::Arguments(issues));
        Refused::new(failure, Some(tool), Some(arguments)).into()
    }

    /// The refusal, with a reason that repair found.
    fn refuse(self, failure: Failure) -> Box<Refused<'c>> {
        match self {
            StoppedCall::Refused(refused) => Refused {
                failure,
                ..*refused
            }
            .into(),
            StoppedCall::Objected(it) => {
                Refused::new(failure, Some(it.tool), Some(it.arguments)).into()
            }
        }
    }
}

// A stopped call is boxed, so that the usual return value stays small.
fn pass<'c>(
    gate: &'c Gate,
    tool: &'c Arc<Tool>,
    call: &'c Call<'_>,
) -> Result<Valid<'c>, StoppedCall<'c>> {
    let Parsed {
        arguments,
        has_duplicates,
        blank,
    } = parse::read(call, tool, gate.limits()).map_err(|why| {
        StoppedCall::Refused(Refused::new(*why.failure, Some(tool), why.read).into())
    })?;
    if let Err(objections) = validate::validate(&arguments, has_duplicates, tool.schema()) {
        return Err(StoppedCall::Objected(Box::new(Objected {
            tool,
            arguments,
            objections,
        })));
    }
    if are_texts(call)
        && let Some(failure) = repair::read_either_way(&arguments, tool)
    {
        let refused = Refused::new(failure, Some(tool), Some(arguments));
        return Err(StoppedCall::Refused(refused.into()));
    }
    match blank {
        Some(Blank::Text) if !tool.may_be_called_blank() => Err(nothing_sent(tool)),
        Some(Blank::Null) if tool.spec().may_destroy() => Err(nothing_sent(tool)),
        _ => Ok(Valid::new(tool, arguments)),
    }
}

/// Whether the parameters of a call were texts between tags in a message.
fn are_texts(call: &Call<'_>) -> bool {
    let is_tagged = |notation| {
        matches!(
            notation,
            Notation::Function | Notation::Invoke | Notation::Pairs
        )
    };
    call.rescued.is_some_and(is_tagged) && matches!(call.arguments, Arguments::Value(_))
}

/// Nothing was sent, although the schema does not accept empty arguments.
#[cold]
fn nothing_sent(tool: &Arc<Tool>) -> StoppedCall<'_> {
    let failure = Failure::new(Code::InvalidJson, Cause::Blank);
    StoppedCall::Refused(Refused::new(failure, Some(tool), None).into())
}

/// No tool has this name.
#[cold]
fn unknown_tool<'c>(unknown: UnknownTool) -> Box<Refused<'c>> {
    let UnknownTool { name, nearest } = unknown;
    let failure = Failure::new(Code::UnknownTool, Cause::UnknownTool { name, nearest });
    Refused::new(failure, None, None).into()
}

/// Lets a call through if only the schema objects and the policy merely warns.
#[cold]
fn only_warned<'c>(
    tool: &'c Arc<Tool>,
    stopped: StoppedCall<'c>,
) -> Result<Valid<'c>, StoppedCall<'c>> {
    match (tool.validation, &stopped) {
        (Validation::Warn, StoppedCall::Objected(_)) => {
            Valid::with_warning(tool, stopped.explain()).map_err(StoppedCall::Refused)
        }
        _ => Err(stopped),
    }
}

type Healed<'c> = Result<Box<Repaired<'c>>, Box<Refused<'c>>>;

/// A refused call, repaired if that is safe; otherwise the refusal, with the edits of a bolder repair as suggestions.
#[cold]
fn heal<'c>(
    gate: &'c Gate,
    tool: &'c Arc<Tool>,
    call: &'c Call<'_>,
    stopped: StoppedCall<'c>,
) -> Healed<'c> {
    let Some(cap) = gate.repair_cap(tool) else {
        return Err(match seen_cut(gate, tool, call, &stopped) {
            Some(path) => stopped.refuse(Failure::cut_off(path, Cut::Seen)),
            None => stopped.explain(),
        });
    };
    if !stopped.may_be_repaired() {
        return Err(stopped.explain());
    }
    let terms = Terms::new(tool, call, cap);
    match look_for_edits(gate, call, &stopped, &terms, &mut None) {
        Healing::Healed { arguments, edits } => {
            return Ok(Box::new(Repaired::new(tool, arguments, edits)));
        }
        Healing::Refused(failure) => return Err(stopped.refuse(*failure)),
        Healing::Hopeless => {}
    }
    let proposed = if gate.suggests() && cap < Grade::Guess {
        let terms = Terms {
            cap: Grade::Guess,
            only_proposes: true,
            ..terms
        };
        look_for_edits(gate, call, &stopped, &terms, &mut None)
    } else {
        Healing::Hopeless
    };
    let mut refused = stopped.explain();
    if let Healing::Healed { arguments, edits } = proposed {
        refused.failure.suggest(&edits, cap);
        if !tool.takes_secrets() && refused.failure.issues().len() >= MANY_ISSUES {
            refused.failure.show_example(&arguments);
        }
    }
    Err(refused)
}

/// From this many issues on, corrected arguments may say more than a list of issues. A shorter list should be read item by
/// item.
const MANY_ISSUES: usize = 3;

/// Where a text is cut off, if it is invalid JSON for another reason as well.
fn seen_cut(gate: &Gate, tool: &Tool, call: &Call<'_>, stopped: &StoppedCall<'_>) -> Option<Path> {
    match (stopped, &call.arguments) {
        (StoppedCall::Refused(refused), Arguments::Text(text))
            if refused.arguments.is_none() && refused.failure.may_be_reread() =>
        {
            repair::seen_cut(text, tool, gate.limits().max_depth)
        }
        _ => None,
    }
}

fn look_for_edits(
    gate: &Gate,
    call: &Call<'_>,
    stopped: &StoppedCall<'_>,
    terms: &Terms<'_>,
    trace: &mut Trace,
) -> Healing {
    let (read, objections) = match stopped {
        StoppedCall::Refused(refused) => (refused.arguments.as_deref(), None),
        StoppedCall::Objected(it) => (Some(&*it.arguments), it.objections.located()),
    };
    let (healing, are_texts) = match (read, &call.arguments) {
        (Some(read), _) => {
            let healing = repair::heal_value(read, objections, terms, trace);
            (healing, are_texts(call))
        }
        (None, Arguments::Text(text)) => match gate.read_notation(text, terms.tool) {
            Some(Notated::Cut) => {
                let failure = Failure::cut_off(Path::root(), Cut::Seen);
                return Healing::Refused(failure.into());
            }
            Some(Notated::Whole {
                arguments,
                shown,
                are_texts,
                has_words,
            }) => {
                let read = (shown, has_words);
                let healing = repair::heal_notation(text, &arguments, read, terms, trace);
                (healing, are_texts)
            }
            None => {
                let max_depth = gate.limits().max_depth;
                (repair::heal_text(text, terms, max_depth, trace), false)
            }
        },
        (None, _) => (Healing::Hopeless, false),
    };
    match &healing {
        Healing::Healed { arguments, .. } if are_texts => {
            match repair::read_either_way(arguments, terms.tool) {
                Some(failure) => Healing::Refused(failure.into()),
                None => healing,
            }
        }
        _ => healing,
    }
}

/// Every edit that repair tries on a refused call, up to the boldest grade, regardless of the policy.
pub(crate) fn explain(gate: &Gate, call: &Call<'_>) -> Vec<Trial> {
    let Some(tool) = gate.tool_set().meant(&call.tool) else {
        return Vec::new();
    };
    let mut trace = Some(Vec::new());
    if let Err(stopped) = pass(gate, tool, call)
        && stopped.may_be_repaired()
    {
        let terms = Terms::new(tool, call, Grade::Guess);
        look_for_edits(gate, call, &stopped, &terms, &mut trace);
    }
    trace.unwrap_or_default()
}

/// Judges and repairs a call as a call of the tool whose name was evidently meant. A policy that only warns covers arguments; a
/// wrong name with arguments that do not fit either is still refused.
#[cold]
fn heal_name<'c>(
    gate: &'c Gate,
    tool: &'c Arc<Tool>,
    call: &'c Call<'_>,
    unknown: UnknownTool,
) -> Healed<'c> {
    if gate.repair_cap(tool).is_none() {
        return Err(unknown_tool(unknown));
    }
    let mut repaired = match pass(gate, tool, call) {
        Ok(valid) => {
            let arguments = valid.into_arguments().into_owned();
            Box::new(Repaired::new(tool, arguments, Vec::new()))
        }
        // Only the wrong name is reported: it has to be corrected first.
        Err(stopped) => heal(gate, tool, call, stopped).map_err(|_| unknown_tool(unknown))?,
    };
    repaired
        .edits
        .insert(0, Edit::tool_name(&call.tool, tool.name()));
    Ok(repaired)
}
