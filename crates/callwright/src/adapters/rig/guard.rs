//! The guard: the tools behind it, and how they are added.

use std::sync::{Arc, Mutex};

use ahash::AHashMap;
use rig_agent::core::tool::{DynamicTool, Tool, ToolContext};
use serde_json::Value as Json;

use super::guarded::{Guarded, pass};
use super::place::{Dispatches, lock};
use crate::adapters::GuardSettings;
use crate::error::{Error, ErrorKind};
use crate::tool::ToolSpec;
use crate::toolbox::Toolbox;

/// Guards the tools of one agent. Clones share everything.
#[derive(Debug, Clone, Default)]
pub struct Guard(Arc<Inner>);

#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) settings: GuardSettings,
    toolboxes: Mutex<AHashMap<String, Arc<Toolbox>>>,
    pub(super) dispatches: Dispatches,
    /// Tells runs of this process apart from those of others, where a ledger is shared.
    pub(super) seed: u64,
}

impl Guard {
    /// A guard with what is usual.
    pub fn new() -> Self {
        Guard::with(GuardSettings::new())
    }

    /// A guard with these settings.
    pub fn with(settings: GuardSettings) -> Self {
        Guard(Arc::new(Inner {
            settings,
            seed: fastrand::u64(..),
            ..Inner::default()
        }))
    }

    /// The same tool behind this guard, for `AgentBuilder::tool`.
    ///
    /// # Errors
    /// Fails if a tool of this name is behind the guard already.
    pub fn tool<T: Tool>(&self, tool: T) -> Result<Guarded<T>, Error> {
        self.tool_as(tool, |spec| spec)
    }

    /// The same with more of a declaration than `rig` has: what the tool does to the world, what it returns.
    ///
    /// ```
    /// # use callwright::adapters::rig::{Guard, Guarded};
    /// # use rig_agent::core::tool::Tool;
    /// # fn example<T: Tool>(guard: &Guard, search: T) -> Result<Guarded<T>, callwright::Error> {
    /// use callwright::tool::Effect;
    ///
    /// guard.tool_as(search, |spec| spec.with_effect(Effect::Read))
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if a tool of this name is behind the guard already.
    pub fn tool_as<T: Tool>(
        &self,
        tool: T,
        declare: impl FnOnce(ToolSpec) -> ToolSpec,
    ) -> Result<Guarded<T>, Error> {
        let spec = ToolSpec::new(T::NAME, tool.parameters()).with_description(tool.description());
        let toolbox = self.guest(declare(spec))?;
        Ok(Guarded::new(self.clone(), toolbox, tool))
    }

    /// A tool that was made at run time behind this guard, for `AgentBuilder::dynamic_tool`. Tools of MCP servers are
    /// such.
    ///
    /// # Errors
    /// Fails if a tool of this name is behind the guard already.
    pub fn dynamic_tool(&self, tool: DynamicTool) -> Result<DynamicTool, Error> {
        let declared = tool.definition();
        let spec = ToolSpec::new(declared.name.as_str(), declared.parameters.clone())
            .with_description(declared.description.clone());
        let toolbox = self.guest(spec)?;
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
                    pass(&guard, &toolbox, &tool, &sent, context).await
                })
            },
        );
        Ok(guarded.with_liveness(move || is_live.is_live()))
    }

    fn guest(&self, spec: ToolSpec) -> Result<Arc<Toolbox>, Error> {
        let name = spec.name.clone();
        let toolbox = Arc::new(self.0.settings.guests([spec])?);
        self.register(name, &toolbox)?;
        Ok(toolbox)
    }

    /// Notes who judges the calls of a tool.
    pub(super) fn register(&self, name: String, toolbox: &Arc<Toolbox>) -> Result<(), Error> {
        let mut toolboxes = lock(&self.0.toolboxes);
        if toolboxes.contains_key(&name) {
            return Err(ErrorKind::DuplicateTool { name }.into());
        }
        toolboxes.insert(name, Arc::clone(toolbox));
        Ok(())
    }

    /// Who judges the calls of a tool.
    pub(super) fn toolbox_of(&self, name: &str) -> Option<Arc<Toolbox>> {
        lock(&self.0.toolboxes).get(name).cloned()
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }
}
