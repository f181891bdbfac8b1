//! Objections to results, and failed tools: the code, and the next step.

use crate::text::snippet;
use crate::tool::Tool;
use crate::vocabulary::{
    Cause, Class, Code, Failure, FailureKind, FindingKind, Next, OutputFault, ToolFailure,
};

/// How much of a tool's own error is quoted, in characters: enough to recognise it.
const QUOTED: usize = 60;

/// The failure for an unusable or incomplete result.
#[cold]
pub(crate) fn bad_output(fault: OutputFault) -> Failure {
    let next = match &fault {
        OutputFault::Finding(finding) => finding.next,
        OutputFault::ErrorInDisguise {
            transient: true, ..
        } => Some(Next::RetryLater),
        _ => None,
    };
    Failure {
        escalated: next,
        ..Failure::new(code(&fault), Cause::Output(Box::new(fault)))
    }
}

/// The class of an objection to a result.
pub(crate) fn output_class(fault: &OutputFault) -> Class {
    code(fault).row().class
}

fn code(fault: &OutputFault) -> Code {
    match fault {
        OutputFault::Syntax { .. } | OutputFault::Nothing | OutputFault::NotText { .. } => {
            Code::InvalidOutputJson
        }
        OutputFault::CutOff { .. } => Code::TruncatedResponse,
        OutputFault::Violation(_)
        | OutputFault::NoJson { .. }
        | OutputFault::TooDeep
        | OutputFault::TooLarge { .. } => Code::SchemaViolation,
        OutputFault::ErrorInDisguise { .. } => Code::ErrorInDisguise,
        OutputFault::Empty { .. } => Code::EmptyResult,
        OutputFault::MorePages(_) => Code::MorePagesAvailable,
        OutputFault::CutText | OutputFault::Omitted { .. } | OutputFault::TooLong { .. } => {
            Code::IncompleteResult
        }
        OutputFault::Finding(finding) => match finding.kind {
            FindingKind::SchemaMismatch => Code::SchemaViolation,
            FindingKind::PartialData => Code::IncompleteResult,
            FindingKind::SemanticGarbage => Code::ImplausibleResult,
        },
    }
}

/// The failure of a tool. `said` is its own result, if it has one.
#[cold]
pub(crate) fn tool_failed(
    mut failure: ToolFailure,
    said: Option<&str>,
    passes: bool,
    tool: &Tool,
) -> Failure {
    if tool.takes_secrets() {
        // A type's objection may quote the value.
        failure.forget_objection();
    }
    let code = match failure.kind() {
        _ if passes => Code::Transient,
        FailureKind::Transient => Code::Transient,
        FailureKind::Reported => Code::ToolReportedFailure,
        FailureKind::Internal => Code::ToolError,
        FailureKind::TimedOut(_) => Code::Timeout,
        FailureKind::Panicked => Code::Panic,
        FailureKind::Cancelled | FailureKind::NotStarted => Code::Cancelled,
        FailureKind::Defect => Code::ToolDefect,
    };
    let once = tool.is_once();
    let next = match failure.next() {
        // It is unknown whether the call took effect.
        None if once && code == Code::Timeout => Some(Next::ChangeApproach),
        None if failure.objection().is_some() => Some(Next::FixArguments),
        own => own,
    };
    let cause = Cause::Tool {
        tool: tool.name().to_owned(),
        once,
        passes,
        said: said.map(|said| snippet(said.trim(), QUOTED)),
        failure: Box::new(failure),
    };
    Failure {
        escalated: next,
        ..Failure::new(code, cause)
    }
}
