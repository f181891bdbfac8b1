//! The guard as an agent hook: handles calls that never reach a tool.
//!
//! `rig` answers a call itself if its arguments are not a JSON object, and ends the run if its tool does not exist.
//! The hook gives the model an instruction instead, or corrects the name if only one tool can be meant. It cannot
//! correct arguments that are not JSON: `rig` does not let a hook change them.

use std::sync::Arc;

use callwright::call::Completeness;
use callwright::repair::RepairPolicy;
use callwright::toolbox::Toolbox;
use callwright::{ToolSpec, Verdict};
use rig_agent::agent::{
    AgentHook, DispatchAction, DispatchEvent, HookContext, InvalidToolCallAction,
    InvalidToolCallContext, InvalidToolCallReason, ModelTurnAction, ModelTurnFinished,
    OutcomeAction, OutcomeEvent, StepEventKind,
};
use rig_agent::core::completion::FinishReason;

use crate::agent_run::{AgentRun, call};
use crate::guard::Guard;

impl AgentHook for Guard {
    fn name(&self) -> Option<String> {
        Some("callwright".to_owned())
    }

    fn observes(&self, kind: StepEventKind) -> bool {
        matches!(
            kind,
            StepEventKind::ToolDispatch
                | StepEventKind::ModelTurnFinished
                | StepEventKind::InvalidToolCall
        )
    }

    async fn on_model_turn_finished(
        &self,
        context: &HookContext,
        event: ModelTurnFinished<'_>,
    ) -> ModelTurnAction {
        let completeness = completeness(event.finish_reason);
        self.run(context).set_completeness(completeness);
        ModelTurnAction::Continue
    }

    async fn on_dispatch(&self, context: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        if event.tool_name().is_some() {
            let run = self.run(context);
            self.state().pending.put(&run, context.turn(), &event);
        }
        DispatchAction::Proceed
    }

    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        if event.tool_name().is_some() {
            self.state().pending.remove(event.id);
        }
        OutcomeAction::Proceed
    }

    async fn on_invalid_tool_call(
        &self,
        context: &HookContext,
        event: &InvalidToolCallContext,
    ) -> Option<InvalidToolCallAction> {
        let settings = &self.state().settings;
        let toolbox = match event.reason {
            InvalidToolCallReason::UnknownTool => {
                let known = event.available_tools.iter();
                settings.toolbox(known.map(|name| ToolSpec::without_schema(name.clone())))
            }
            InvalidToolCallReason::MalformedArguments { .. } => {
                // The agent accepts no corrections here, so the model has to make them.
                let judge = self.toolbox_of(&event.tool_name)?;
                let spec = judge.gate().tool(&event.tool_name)?.spec().clone();
                let mut settings = settings.clone();
                settings.policy = settings.policy.with_repair(RepairPolicy::Never);
                settings.toolbox([spec])
            }
            // The agent's own rules are not the guard's business.
            _ => return None,
        };
        refuse(&toolbox.ok()?, &self.run(context), context.turn(), event)
    }
}

impl Guard {
    fn run(&self, context: &HookContext) -> Arc<AgentRun> {
        AgentRun::of(context, self.state().seed)
    }
}

/// The instruction for a call that the agent does not make.
fn refuse(
    toolbox: &Toolbox,
    run: &AgentRun,
    round: usize,
    event: &InvalidToolCallContext,
) -> Option<InvalidToolCallAction> {
    let id = event.tool_call_id.as_ref().map(ToString::to_string);
    let arguments = event.args.as_deref().unwrap_or_default();
    let call = call(
        &event.tool_name,
        arguments,
        run.completeness(),
        id.as_deref(),
    );
    // A repaired call comes back under its correct name, and is counted then.
    if let Verdict::Repaired(repaired) = toolbox.gate().judge(&call) {
        let meant = repaired.tool().name();
        return (meant != event.tool_name).then(|| InvalidToolCallAction::Repair {
            tool_name: meant.to_owned(),
        });
    }
    let refused = toolbox.begin(&call, run.place(round)).err()?;
    let reason = refused.text(toolbox.feedback()).into_owned();
    Some(InvalidToolCallAction::Skip { reason })
}

fn completeness(reason: Option<&FinishReason>) -> Completeness {
    match reason {
        None => Completeness::Unknown,
        Some(FinishReason::Stop | FinishReason::ToolCalls) => Completeness::Complete,
        Some(FinishReason::Length | FinishReason::ContentFilter) => Completeness::CutOff,
        Some(FinishReason::Other(reason)) => Completeness::from_finish_reason(reason),
        Some(_) => Completeness::Doubtful,
    }
}
