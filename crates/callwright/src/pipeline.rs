//! The life of a call, in one function.
//!
//! ```text
//! Call ─find→ Tool ─parse→ Parsed ─validate→ Valid
//!        │           │                │ refused
//!        └───────────┴── classify → Failure ── feedback → words
//! ```
//!
//! Repair will stand between parse and validate, admission behind validate. Each stage takes a type
//! that only the stage before it makes, so a call cannot skip one.

use crate::call::Call;
use crate::classify::{self, Refused};
use crate::gate::Gate;
use crate::parse;
use crate::validate::{self, Valid};
use crate::verdict::Verdict;

pub(crate) fn judge<'c>(gate: &'c Gate, call: &'c Call<'_>) -> Verdict<'c> {
    match pass(gate, call) {
        Ok(valid) => Verdict::Valid(valid),
        Err(refused) => Verdict::Refused(refused),
    }
}

// The refusal is boxed, so that the usual answer stays small.
fn pass<'c>(gate: &'c Gate, call: &'c Call<'_>) -> Result<Valid<'c>, Box<Refused<'c>>> {
    let tool = gate.find(&call.tool).map_err(classify::unknown_tool)?;
    let parsed = parse::read(call, gate.limits()).map_err(|why| classify::unreadable(why, tool))?;
    let valid = validate::validate(parsed, tool).map_err(classify::invalid)?;
    Ok(valid)
}
