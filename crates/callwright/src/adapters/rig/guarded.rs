//! A tool of `rig` behind a guard.

use std::sync::Arc;

use rig_agent::core::message::ToolName;
use rig_agent::core::tool::{
    DynamicTool, ErasedTool as _, Tool, ToolContext, ToolExecutionError, ToolOutput, ToolResult,
};
use rig_agent::core::wasm_compat::WasmBoxedFuture;
use serde_json::value::RawValue;

use super::guard::Guard;
use super::result::{answer, ran};
use crate::call::{Arguments, Call};
use crate::check::Ran;
use crate::toolbox::Toolbox;

/// A tool behind a guard: a tool of `rig` itself, of the same name and with the same declaration.
#[derive(Debug)]
pub struct Guarded<T> {
    guard: Guard,
    toolbox: Arc<Toolbox>,
    tool: T,
}

impl<T: Tool> Guarded<T> {
    pub(super) fn new(guard: Guard, toolbox: Arc<Toolbox>, tool: T) -> Self {
        Guarded {
            guard,
            toolbox,
            tool,
        }
    }

    /// The tool itself.
    pub fn inner(&self) -> &T {
        &self.tool
    }
}

impl<T: Tool> Tool for Guarded<T> {
    const NAME: &'static str = T::NAME;
    /// Whatever JSON the model sent: it is judged here, before the tool's own types are asked.
    type Args = Box<RawValue>;
    type Output = ToolOutput;
    type Error = ToolExecutionError;

    fn description(&self) -> String {
        self.tool.description()
    }

    fn parameters(&self) -> serde_json::Value {
        self.tool.parameters()
    }

    async fn call(
        &self,
        context: &mut ToolContext,
        arguments: Box<RawValue>,
    ) -> Result<ToolOutput, ToolExecutionError> {
        let tool = Typed(&self.tool);
        pass(&self.guard, &self.toolbox, &tool, arguments.get(), context).await
    }
}

/// A tool with its types, or one without.
pub(super) trait Runs: Sync {
    fn tool(&self) -> &str;

    fn run<'a>(
        &'a self,
        arguments: String,
        context: &'a mut ToolContext,
    ) -> WasmBoxedFuture<'a, ToolResult>;
}

struct Typed<'t, T>(&'t T);

impl<T: Tool> Runs for Typed<'_, T> {
    fn tool(&self) -> &str {
        T::NAME
    }

    fn run<'a>(
        &'a self,
        arguments: String,
        context: &'a mut ToolContext,
    ) -> WasmBoxedFuture<'a, ToolResult> {
        self.0.execute(arguments, context)
    }
}

impl Runs for DynamicTool {
    fn tool(&self) -> &str {
        ToolName::as_str(self.name())
    }

    fn run<'a>(
        &'a self,
        arguments: String,
        context: &'a mut ToolContext,
    ) -> WasmBoxedFuture<'a, ToolResult> {
        Box::pin(async move {
            let ran = match serde_json::from_str(&arguments) {
                Ok(arguments) => self.execute_with(context, arguments).await,
                Err(error) => Err(ToolExecutionError::from_error(error)),
            };
            ran.map_or_else(ToolResult::failed, ToolResult::success)
        })
    }
}

/// Judges a call, has the tool run it if it may run, and judges what came of it.
pub(super) async fn pass(
    guard: &Guard,
    toolbox: &Toolbox,
    tool: &dyn Runs,
    sent: &str,
    context: &mut ToolContext,
) -> Result<ToolOutput, ToolExecutionError> {
    let standing = guard.inner().dispatches.take(tool.tool(), context);
    let call = call(tool.tool(), sent).with_completeness(standing.completeness);
    let call = match &standing.id {
        Some(id) => call.with_id(id),
        None => call,
    };
    let underway = match toolbox.begin(&call, standing.place()) {
        Ok(underway) => underway,
        Err(refused) => return answer(&refused, None, toolbox.feedback()),
    };
    // A valid call goes on exactly as it came.
    let arguments = match (underway.ticket().edits(), &call.arguments) {
        ([], Arguments::Text(text)) => text.clone().into_owned(),
        _ => underway.ticket().arguments().to_string(),
    };
    let running = tool.run(arguments, context);
    let (result, ran) = match toolbox.in_time(&underway, running).await {
        Ok(result) => {
            let ran = ran(&result);
            (Some(result), ran)
        }
        Err(failure) => (None, Ran::failed(failure)),
    };
    let settled = underway.end(ran);
    answer(&settled, result, toolbox.feedback())
}

/// A call as `rig` hands it over: to it, `null` is as good as nothing.
pub(super) fn call<'a>(tool: &'a str, arguments: &'a str) -> Call<'a> {
    match arguments.trim_ascii() {
        "null" | "" => Call::new(tool, Arguments::Absent),
        _ => Call::from_text(tool, arguments),
    }
}
