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
//! stands behind it, see [`crate::admit`]. Each stage takes a type that only the stage before it makes, so a call cannot
//! skip one.

use crate::call::{Arguments, Call, Completeness};
use crate::classify::{self, Code, Refused};
use crate::gate::Gate;
use crate::json::Path;
use crate::parse::{self, Blank};
use crate::policy::Validation;
use crate::repair::{self, Edit, Grade, Healing, Terms, Trace, Trial};
use crate::tool::Tool;
use crate::unknown_tool::UnknownTool;
use crate::validate::{self, Valid};
use crate::verdict::{Repaired, Verdict};

pub(crate) fn judge<'c>(gate: &'c Gate, call: &'c Call<'_>) -> Verdict<'c> {
    let refused = match gate.find(&call.tool) {
        Ok(tool) => match pass(gate, tool, call) {
            Ok(valid) => return Verdict::Valid(valid),
            Err(refused) => match only_warned(tool, refused) {
                Ok(valid) => return Verdict::Valid(valid),
                Err(refused) => heal(gate, tool, call, refused),
            },
        },
        Err(unknown) => match gate.meant_tool(&call.tool) {
            Some(tool) => heal_name(gate, tool, call, unknown),
            None => Err(classify::unknown_tool(unknown).into()),
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
    tool: &'c Tool,
    call: &'c Call<'_>,
) -> Result<Valid<'c>, Box<Refused<'c>>> {
    let only_reads = tool.spec().only_reads();
    let parsed = parse::read(call, only_reads, gate.limits())
        .map_err(|why| classify::unreadable(why, tool))?;
    let blank = parsed.blank;
    let valid = validate::validate(parsed, tool).map_err(|why| classify::invalid(why, tool))?;
    match blank {
        Some(Blank::Text) if !only_reads => Err(classify::blank(tool).into()),
        Some(Blank::Null) if tool.spec().may_destroy() => Err(classify::blank(tool).into()),
        _ => Ok(valid),
    }
}

/// A call to which only the schema objects, where the policy just wants to hear of it.
#[cold]
fn only_warned<'c>(
    tool: &'c Tool,
    refused: Box<Refused<'c>>,
) -> Result<Valid<'c>, Box<Refused<'c>>> {
    match (tool.validation(), refused.failure.code) {
        (Validation::Warn, Code::InvalidArguments) => validate::pass_warned(tool, *refused),
        _ => Err(refused),
    }
}

type Healed<'c> = Result<Box<Repaired<'c>>, Box<Refused<'c>>>;

/// A refused call, repaired if that is safe; else the refusal, with what a bolder repair would do as
/// suggestions.
#[cold]
fn heal<'c>(
    gate: &'c Gate,
    tool: &'c Tool,
    call: &'c Call<'_>,
    mut refused: Box<Refused<'c>>,
) -> Healed<'c> {
    let Some(cap) = gate.repair_cap(tool) else {
        return Err(match seen_cut(gate, tool, call, &refused) {
            Some(path) => classify::cut_off(*refused, path).into(),
            None => refused,
        });
    };
    if !refused.failure.may_be_repaired() {
        return Err(refused);
    }
    match look_for_edits(gate, tool, call, &refused, cap, false, &mut None) {
        Healing::Healed { arguments, edits } => {
            return Ok(Box::new(Repaired::new(tool, arguments, edits)));
        }
        Healing::Ambiguous {
            path,
            first,
            second,
        } => return Err(classify::ambiguous(*refused, path, first, second).into()),
        Healing::SeveralValues(count) => {
            return Err(classify::several_values(*refused, count).into());
        }
        Healing::CutOff(path) => return Err(classify::cut_off(*refused, path).into()),
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

/// Where a text is cut off that is no JSON for another reason as well.
fn seen_cut(gate: &Gate, tool: &Tool, call: &Call<'_>, refused: &Refused<'_>) -> Option<Path> {
    match (&refused.arguments, &call.arguments) {
        (None, Arguments::Text(text)) if refused.failure.may_be_repaired() => {
            repair::cut_off(text, tool, gate.limits().max_depth)
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
    let Some(tool) = gate.meant(&call.tool) else {
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
    tool: &'c Tool,
    call: &'c Call<'_>,
    unknown: UnknownTool,
) -> Healed<'c> {
    if gate.repair_cap(tool).is_none() {
        return Err(classify::unknown_tool(unknown).into());
    }
    let mut repaired = match pass(gate, tool, call) {
        Ok(valid) => {
            let arguments = valid.into_arguments().into_owned();
            Box::new(Repaired::new(tool, arguments, Vec::new()))
        }
        // The name is the first thing to correct.
        Err(refused) => {
            heal(gate, tool, call, refused).map_err(|_| classify::unknown_tool(unknown))?
        }
    };
    repaired.record_first(Edit::tool_name(&call.tool, tool.name()));
    Ok(repaired)
}
