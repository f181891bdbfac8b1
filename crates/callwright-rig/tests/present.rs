//! Runs `corpus/present` through the agent loop of `rig`, with a scripted model that reads the results.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "../../callwright/tests/present_cases/mod.rs"]
mod present_cases;
#[path = "../../callwright/tests/present_cases/toolbox.rs"]
mod present_toolbox;

use std::sync::Arc;

use callwright::toolbox::GuardSettings;
use callwright_rig::Guard;
use present_cases::{PresentCase, TOOL, cases};
use present_toolbox::toolbox;
use rig_agent::core::message::{
    AssistantContent, Message, ToolCall, ToolFunction, ToolName, ToolResultContent, UserContent,
};
use rig_agent::core::tool::{PortableTool, ToolExecutionError, ToolOutput};
use rig_agent::test_utils::{MockCompletionModel, MockTurn};
use rig_agent::{Agent, AgentBuilder};
use serde_json::Value;

/// A tool that answers as the case says.
struct Scripted(PresentCase);

impl PortableTool for Scripted {
    const NAME: &'static str = TOOL;
    type Args = Value;
    type Output = ToolOutput;
    type Error = ToolExecutionError;

    fn description(&self) -> String {
        self.0.spec().description.unwrap_or_default()
    }

    fn parameters(&self) -> Value {
        self.0.tool()["inputSchema"].clone()
    }

    async fn call(&self, _: Value) -> Result<ToolOutput, ToolExecutionError> {
        match self.0.answer() {
            Value::String(text) if self.0.failed() => Err(ToolExecutionError::not_found(text)),
            Value::String(text) => Ok(ToolOutput::text(text)),
            value => Ok(ToolOutput::json(value.clone())),
        }
    }
}

/// A model that makes the call as often as the case says, one answer each, and then says "done".
fn model(case: &PresentCase) -> MockCompletionModel {
    let call = |round| {
        let name = ToolName::new(TOOL).expect("a name");
        let function = ToolFunction::parse(name, &case.arguments().to_string());
        let call = ToolCall::from_wire(format!("call_{round}"), function);
        MockTurn::from_contents([AssistantContent::ToolCall(call)])
    };
    let turns = (0..case.times()).map(call).chain([MockTurn::text("done")]);
    MockCompletionModel::from_turns(turns)
}

/// What the model receives for its last call, and whether it is an error.
async fn read(agent: &Agent, model: &MockCompletionModel) -> (String, bool) {
    let ended = agent.prompt("Look it up.").max_turns(20).await;
    assert_eq!(ended.expect("the run ends well").output(), "done");
    let requests = model.requests();
    let history = &requests.last().expect("a request").chat_history;
    let results = history.iter().flat_map(|message| match message {
        Message::User { content } => content.iter().collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let mut results = results.filter_map(|content| match content {
        UserContent::ToolResult(result) => Some(result),
        _ => None,
    });
    let last = results.next_back().expect("a result");
    let texts = last.content.iter().map(|content| match content {
        ToolResultContent::Text(text) => text.text.clone(),
        ToolResultContent::Json { value } => value.to_string(),
        ToolResultContent::Image(_) => "a picture".to_owned(),
    });
    (texts.collect::<Vec<_>>().join("\n"), last.is_error)
}

#[tokio::test]
async fn a_guarded_tool_shows_a_settled_call_as_everywhere() {
    for case in cases() {
        let guard = Guard::with(GuardSettings {
            policy: case.policy(),
            feedback: case.feedback(),
            ..GuardSettings::default()
        });
        let model = model(&case);
        let tool = guard.tool_as(Scripted(case.clone()), |_| case.spec());
        let agent = AgentBuilder::new(model.clone())
            .tool(tool.expect("a new name"))
            .add_hook(guard)
            .build();
        let (text, is_error) = read(&agent, &model).await;
        case.check_text("guarded tool", &text, Some(is_error));
    }
}

#[tokio::test]
async fn the_tools_of_a_toolbox_show_a_settled_call_as_everywhere() {
    for case in cases() {
        let guard = Guard::new();
        let model = model(&case);
        let tools = guard.toolbox(&Arc::new(toolbox(&case))).expect("new names");
        let agent = AgentBuilder::new(model.clone())
            .dynamic_tools(tools)
            .add_hook(guard)
            .build();
        let (text, is_error) = read(&agent, &model).await;
        case.check_text("tools of a toolbox", &text, Some(is_error));
    }
}
