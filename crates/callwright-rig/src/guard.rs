//! The guard, and how tools are put behind it.

use std::collections::HashMap;
use std::sync::Arc;

use callwright::internal::{duplicate_tool, nameless_tool};
use callwright::toolbox::{GuardSettings, Toolbox};
use callwright::{Error, ToolSpec};
use parking_lot::Mutex;
use rig_agent::core::message::ToolName;
use rig_agent::core::tool::{DynamicTool, Tool, ToolContext};
use serde_json::{Value as Json, json};

use crate::agent_run::PendingCalls;
use crate::guarded_tool::{GuardedTool, judge_and_run};
use crate::result::answer_of_toolbox;

/// Guards the tools of one agent. Clones share everything.
#[derive(Debug, Clone, Default)]
pub struct Guard(Arc<GuardState>);

#[derive(Debug, Default)]
pub(crate) struct GuardState {
    pub(crate) settings: GuardSettings,
    toolboxes: Mutex<HashMap<String, Arc<Toolbox>>>,
    pub(crate) pending: PendingCalls,
    /// Distinguishes the runs of this process from those of others that share the ledger.
    pub(crate) seed: u64,
}

impl Guard {
    /// A guard with the default settings.
    pub fn new() -> Self {
        Guard::with(GuardSettings::default())
    }

    /// A guard with these settings.
    pub fn with(settings: GuardSettings) -> Self {
        Guard(Arc::new(GuardState {
            settings,
            seed: fastrand::u64(..),
            ..GuardState::default()
        }))
    }

    /// Puts a tool behind the guard, for `AgentBuilder::tool`.
    ///
    /// # Errors
    /// Fails if the guard already has a tool of this name.
    pub fn tool<T: Tool>(&self, tool: T) -> Result<GuardedTool<T>, Error> {
        self.tool_as(tool, |spec| spec)
    }

    /// Same, with declarations that `rig` lacks: what the tool does to the world, and what it returns.
    ///
    /// ```
    /// # use callwright_rig::{Guard, GuardedTool};
    /// # use rig_agent::core::tool::Tool;
    /// # fn example<T: Tool>(guard: &Guard, search: T) -> Result<GuardedTool<T>, callwright::Error> {
    /// use callwright::tool::Effect;
    ///
    /// guard.tool_as(search, |spec| spec.with_effect(Effect::Read))
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the guard already has a tool of this name.
    pub fn tool_as<T: Tool>(
        &self,
        tool: T,
        declare: impl FnOnce(ToolSpec) -> ToolSpec,
    ) -> Result<GuardedTool<T>, Error> {
        let spec = ToolSpec::new(T::NAME, tool.parameters()).with_description(tool.description());
        let toolbox = self.judge_of(declare(spec))?;
        Ok(GuardedTool::new(self.clone(), toolbox, tool))
    }

    /// Puts a tool that was created at run time behind the guard, for `AgentBuilder::dynamic_tool`. Tools of MCP
    /// servers are created this way.
    ///
    /// # Errors
    /// Fails if the guard already has a tool of this name.
    pub fn dynamic_tool(&self, tool: DynamicTool) -> Result<DynamicTool, Error> {
        let declared = tool.definition();
        let spec = ToolSpec::new(declared.name.as_str(), declared.parameters.clone())
            .with_description(declared.description.clone());
        let toolbox = self.judge_of(spec)?;
        let guard = self.clone();
        let is_live = tool.clone();
        let guarded = DynamicTool::new_with_context(
            declared.name,
            declared.description,
            declared.parameters,
            move |context: &mut ToolContext, arguments: Json| {
                let (guard, toolbox, tool) = (guard.clone(), Arc::clone(&toolbox), tool.clone());
                Box::pin(async move {
                    let sent = arguments.to_string();
                    judge_and_run(&guard, &toolbox, &tool, &sent, context).await
                })
            },
        );
        Ok(guarded.with_liveness(move || is_live.is_live()))
    }

    /// The tools of a toolbox, for `AgentBuilder::dynamic_tools`. The toolbox judges and runs their calls; the guard
    /// passes it their place in the conversation.
    ///
    /// # Errors
    /// Fails if the guard already has a tool of the same name, or if a tool has no name.
    pub fn toolbox(&self, toolbox: &Arc<Toolbox>) -> Result<Vec<DynamicTool>, Error> {
        let specs = toolbox.specs();
        let tools = specs.into_iter().map(|spec| {
            let name = ToolName::new(&spec.name).map_err(|_| nameless_tool())?;
            self.register(spec.name.clone(), toolbox)?;
            let schema = spec.input_schema.as_deref().cloned();
            let (guard, toolbox, tool) = (self.clone(), Arc::clone(toolbox), spec.name.clone());
            Ok(DynamicTool::new_with_context(
                name,
                spec.description.clone().unwrap_or_default(),
                schema.unwrap_or_else(|| json!({"type": "object", "properties": {}})),
                move |context: &mut ToolContext, arguments: Json| {
                    let (guard, toolbox) = (guard.clone(), Arc::clone(&toolbox));
                    let tool = tool.clone();
                    Box::pin(async move {
                        let origin = guard.state().pending.take(&tool, context);
                        let sent = arguments.to_string();
                        let call = origin.call(&tool, &sent);
                        let settled = toolbox.invoke(&call, origin.place()).await;
                        answer_of_toolbox(&settled, toolbox.feedback())
                    })
                },
            ))
        });
        tools.collect()
    }

    /// A toolbox that judges the calls of one tool.
    fn judge_of(&self, spec: ToolSpec) -> Result<Arc<Toolbox>, Error> {
        let name = spec.name.clone();
        let toolbox = Arc::new(self.0.settings.toolbox([spec])?);
        self.register(name, &toolbox)?;
        Ok(toolbox)
    }

    fn register(&self, name: String, toolbox: &Arc<Toolbox>) -> Result<(), Error> {
        let mut toolboxes = self.0.toolboxes.lock();
        if toolboxes.contains_key(&name) {
            return Err(duplicate_tool(name));
        }
        toolboxes.insert(name, Arc::clone(toolbox));
        Ok(())
    }

    /// The toolbox that judges the calls of a tool.
    pub(crate) fn toolbox_of(&self, tool: &str) -> Option<Arc<Toolbox>> {
        self.0.toolboxes.lock().get(tool).cloned()
    }

    pub(crate) fn state(&self) -> &GuardState {
        &self.0
    }
}
