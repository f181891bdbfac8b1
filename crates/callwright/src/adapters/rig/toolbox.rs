//! The tools of a toolbox as tools of `rig`.

use std::sync::Arc;

use rig_agent::core::message::ToolName;
use rig_agent::core::tool::{DynamicTool, ToolContext};
use serde_json::{Value as Json, json};

use super::guard::Guard;
use super::guarded::call;
use super::result::answer_of_toolbox;
use crate::error::{Error, ErrorKind};
use crate::toolbox::Toolbox;

impl Guard {
    /// The tools of a toolbox, for `AgentBuilder::dynamic_tools`. The toolbox judges and runs their calls; the guard
    /// tells it where in a conversation they stand.
    ///
    /// # Errors
    /// Fails if a tool of the same name is behind the guard already, or a tool has no name.
    pub fn toolbox(&self, toolbox: &Arc<Toolbox>) -> Result<Vec<DynamicTool>, Error> {
        let specs = toolbox.specs();
        let tools = specs.into_iter().map(|spec| {
            let name = ToolName::new(&spec.name).map_err(|_| ErrorKind::NamelessTool {
                place: "the toolbox".to_owned(),
            })?;
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
                        let standing = guard.inner().dispatches.take(&tool, context);
                        let sent = arguments.to_string();
                        let call = call(&tool, &sent).with_completeness(standing.completeness);
                        let call = match &standing.id {
                            Some(id) => call.with_id(id),
                            None => call,
                        };
                        let settled = toolbox.invoke(&call, standing.place()).await;
                        answer_of_toolbox(&settled, toolbox.feedback())
                    })
                },
            ))
        });
        tools.collect()
    }
}
