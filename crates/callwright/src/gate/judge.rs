//! The life of a call, in one function.
//!
//! ```text
//! Call ─find→ Tool ─parse→ Parsed ─validate→ Valid
//!        │           └─────┬──────────┘ refused
//!        │              repair → Repaired
//!        └─────────────────┴── classify → Failure ── feedback → words
//! ```
//!
//! A call that parse or validate refuses goes through repair once, and is judged again. Admission
//! comes after it, see [`crate::admit`]. Each stage takes a type that only the stage before it makes, so a call cannot
//! skip one.

use super::Gate;
use std::sync::Arc;

use crate::call::{Arguments, Call, Completeness};
use crate::json::Path;
use crate::parse::{self, Blank, Parsed};
use crate::repair::{self, Healing, Terms, Trace, Trial};
use crate::tool::{Tool, UnknownTool};
use crate::validate;
use crate::verdict::{Refused, Repaired, Valid, Verdict};
use crate::words::{Cause, Code, Cut, Edit, Failure, Grade, Validation};

pub(crate) fn judge<'c>(gate: &'c Gate, call: &'c Call<'_>) -> Verdict<'c> {
    let refused = match gate.tool_set().find(&call.tool) {
        Ok(tool) => match pass(gate, tool, call) {
            Ok(valid) => return Verdict::Valid(valid),
            Err(refused) => match only_warned(tool, refused) {
                Ok(valid) => return Verdict::Valid(valid),
                Err(refused) => heal(gate, tool, call, refused),
            },
        },
        Err(unknown) => match gate.tool_set().meant_tool(&call.tool) {
            Some(tool) => heal_name(gate, tool, call, unknown),
            None => Err(unknown_tool(unknown)),
        },
    };
    match refused {
        Ok(repaired) => Verdict::Repaired(repaired),
        Err(refused) => Verdict::Refused(refused),
    }
}

// The refusal is boxed, so that the usual answer stays small.
fn pass<'c>(
    gate: &'c Gate,
    tool: &'c Arc<Tool>,
    call: &'c Call<'_>,
) -> Result<Valid<'c>, Box<Refused<'c>>> {
    let only_reads = tool.spec().only_reads();
    let takes_secrets = tool.takes_secrets();
    let Parsed {
        arguments,
        has_duplicates,
        blank,
    } = parse::read(call, only_reads, takes_secrets, gate.limits())
        .map_err(|why| Refused::new(*why.failure, Some(tool), why.read))?;
    let judged = validate::validate(&arguments, has_duplicates, tool.schema(), takes_secrets);
    if let Err(issues) = judged {
        let failure = Failure::new(Code::InvalidArguments, Cause::Arguments(issues));
        return Err(Refused::new(failure, Some(tool), Some(arguments)).into());
    }
    match blank {
        Some(Blank::Text) if !only_reads => Err(nothing_sent(tool)),
        Some(Blank::Null) if tool.spec().may_destroy() => Err(nothing_sent(tool)),
        _ => Ok(Valid::new(tool, arguments)),
    }
}

/// Nothing was sent where the schema would accept nothing.
#[cold]
fn nothing_sent(tool: &Arc<Tool>) -> Box<Refused<'_>> {
    let failure = Failure::new(Code::InvalidJson, Cause::Blank);
    Refused::new(failure, Some(tool), None).into()
}

/// There is no tool of this name.
#[cold]
fn unknown_tool<'c>(unknown: UnknownTool) -> Box<Refused<'c>> {
    let UnknownTool { name, nearest } = unknown;
    let failure = Failure::new(Code::UnknownTool, Cause::UnknownTool { name, nearest });
    Refused::new(failure, None, None).into()
}

/// A call to which only the schema objects, where the policy only warns.
#[cold]
fn only_warned<'c>(
    tool: &'c Arc<Tool>,
    refused: Box<Refused<'c>>,
) -> Result<Valid<'c>, Box<Refused<'c>>> {
    match (tool.validation, refused.failure.code) {
        (Validation::Warn, Code::InvalidArguments) => Valid::despite(tool, refused),
        _ => Err(refused),
    }
}

type Healed<'c> = Result<Box<Repaired<'c>>, Box<Refused<'c>>>;

/// A refused call, repaired if that is safe; else the refusal, with what a bolder repair would do as
/// suggestions.
#[cold]
fn heal<'c>(
    gate: &'c Gate,
    tool: &'c Arc<Tool>,
    call: &'c Call<'_>,
    mut refused: Box<Refused<'c>>,
) -> Healed<'c> {
    let Some(cap) = gate.repair_cap(tool) else {
        if let Some(path) = seen_cut(gate, tool, call, &refused) {
            refused.failure = Failure::cut_off(path, Cut::Seen);
        }
        return Err(refused);
    };
    if !refused.failure.may_be_repaired() {
        return Err(refused);
    }
    match look_for_edits(gate, tool, call, &refused, cap, false, &mut None) {
        Healing::Healed { arguments, edits } => {
            return Ok(Box::new(Repaired::new(tool, arguments, edits)));
        }
        Healing::Refused(failure) => {
            refused.failure = *failure;
            return Err(refused);
        }
        Healing::Hopeless => {}
    }
    if cap < Grade::Guess
        && let Healing::Healed { edits, .. } =
            look_for_edits(gate, tool, call, &refused, Grade::Guess, true, &mut None)
    {
        refused.failure.suggest(&edits, cap);
    }
    Err(refused)
}

/// Where a text is cut off that is not JSON for another reason as well.
fn seen_cut(gate: &Gate, tool: &Tool, call: &Call<'_>, refused: &Refused<'_>) -> Option<Path> {
    match (&refused.arguments, &call.arguments) {
        (None, Arguments::Text(text)) if refused.failure.may_be_repaired() => {
            repair::seen_cut(text, tool, gate.limits().max_depth)
        }
        _ => None,
    }
}

fn look_for_edits(
    gate: &Gate,
    tool: &Tool,
    call: &Call<'_>,
    refused: &Refused<'_>,
    cap: Grade,
    only_proposes: bool,
    trace: &mut Trace,
) -> Healing {
    let terms = Terms {
        tool,
        cap,
        is_complete: call.completeness == Completeness::Complete,
        only_proposes,
    };
    match (&refused.arguments, &call.arguments) {
        (Some(read), _) => repair::heal_value((**read).clone().into_owned(), &terms, trace),
        (None, Arguments::Text(text)) => {
            repair::heal_text(text, &terms, gate.limits().max_depth, trace)
        }
        (None, _) => Healing::Hopeless,
    }
}

/// Every edit that repair tries on a refused call, up to the boldest grade, whatever the policy allows.
pub(crate) fn explain(gate: &Gate, call: &Call<'_>) -> Vec<Trial> {
    let Some(tool) = gate.tool_set().meant(&call.tool) else {
        return Vec::new();
    };
    let mut trace = Some(Vec::new());
    if let Err(refused) = pass(gate, tool, call)
        && refused.failure.may_be_repaired()
    {
        look_for_edits(gate, tool, call, &refused, Grade::Guess, false, &mut trace);
    }
    trace.unwrap_or_default()
}

/// A call of a tool whose name is evident: judged and repaired as a call of that tool.
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
        // The name is the first thing to correct.
        Err(refused) => heal(gate, tool, call, refused).map_err(|_| unknown_tool(unknown))?,
    };
    repaired
        .edits
        .insert(0, Edit::tool_name(&call.tool, tool.name()));
    Ok(repaired)
}
