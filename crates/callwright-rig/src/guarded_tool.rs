//! A `rig` tool behind a guard.

use std::sync::Arc;

use callwright::call::Arguments;
use callwright::check::Ran;
use callwright::toolbox::Toolbox;
use rig_agent::core::message::ToolName;
use rig_agent::core::tool::{
    DynamicTool, ErasedTool as _, Tool, ToolContext, ToolExecutionError, ToolOutput, ToolResult,
};
use rig_agent::core::wasm_compat::WasmBoxedFuture;
use serde_json::value::RawValue;

use crate::guard::Guard;
use crate::result::{answer, ran};

/// A tool behind a guard. It is itself a `rig` tool, with the same name and declaration.
#[derive(Debug)]
pub struct GuardedTool<T> {
    guard: Guard,
    toolbox: Arc<Toolbox>,
    tool: T,
}

impl<T: Tool> GuardedTool<T> {
    pub(crate) fn new(guard: Guard, toolbox: Arc<Toolbox>, tool: T) -> Self {
        GuardedTool {
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

impl<T: Tool> Tool for GuardedTool<T> {
    const NAME: &'static str = T::NAME;
    /// Whatever JSON the model sent: it is judged here, before the tool's own types see it.
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
        let tool = TypedTool(&self.tool);
        judge_and_run(&self.guard, &self.toolbox, &tool, arguments.get(), context).await
    }
}

/// What typed and dynamic tools have in common.
pub(crate) trait RunTool: Sync {
    fn tool(&self) -> &str;

    fn run<'a>(
        &'a self,
        arguments: String,
        context: &'a mut ToolContext,
    ) -> WasmBoxedFuture<'a, ToolResult>;
}

struct TypedTool<'t, T>(&'t T);

impl<T: Tool> RunTool for TypedTool<'_, T> {
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

impl RunTool for DynamicTool {
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

/// Judges a call, runs the tool if it may run, and judges the result.
pub(crate) async fn judge_and_run(
    guard: &Guard,
    toolbox: &Toolbox,
    tool: &dyn RunTool,
    sent: &str,
    context: &mut ToolContext,
) -> Result<ToolOutput, ToolExecutionError> {
    let origin = guard.state().pending.take(tool.tool(), context);
    let call = origin.call(tool.tool(), sent);
    let invocation = match toolbox.begin(&call, origin.place()) {
        Ok(invocation) => invocation,
        Err(refused) => return answer(&refused, None, toolbox.feedback()),
    };
    // A valid call is passed on exactly as received.
    let arguments = match (invocation.ticket().edits(), &call.arguments) {
        ([], Arguments::Text(text)) => text.clone().into_owned(),
        _ => invocation.ticket().arguments().to_string(),
    };
    let (result, ran) = match invocation.run(tool.run(arguments, context)).await {
        Ok(result) => {
            let ran = ran(&result);
            (Some(result), ran)
        }
        Err(failure) => (None, Ran::failed(failure)),
    };
    let settled = invocation.end(ran);
    answer(&settled, result, toolbox.feedback())
}
