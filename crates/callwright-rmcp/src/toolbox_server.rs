//! A toolbox as an MCP server.

use std::sync::Arc;
use std::time::Duration;

use callwright::ToolSpec;
use callwright::toolbox::Toolbox;
use callwright::wire::{Provider, declare, render_settled};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;

use crate::client_session::ClientSessions;
use crate::result::{call, error_result, from_json};

/// Serves the tools of a toolbox over MCP.
///
/// ```
/// use callwright_rmcp::ToolboxServer;
/// use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
/// use rmcp::ServiceExt as _;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// # let transport = tokio::io::duplex(4096).0;
/// let now = ToolDef::new("now", |(): ()| async { ToolResult::Ok("noon".to_owned()) });
/// let toolbox = Toolbox::builder().tool(now).build()?;
/// let running = ToolboxServer::new(toolbox).serve(transport).await?;
/// running.waiting().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ToolboxServer {
    toolbox: Arc<Toolbox>,
    tools: Vec<Tool>,
    config: ServerConfig,
    sessions: ClientSessions,
}

impl ToolboxServer {
    /// A server for these tools.
    pub fn new(toolbox: impl Into<Arc<Toolbox>>) -> Self {
        let toolbox = toolbox.into();
        let tools = toolbox.specs().into_iter().map(declared).collect();
        ToolboxServer {
            toolbox,
            tools,
            config: ServerConfig::new(ServerCapabilities::builder().enable_tools().build()),
            sessions: ClientSessions::default(),
        }
    }

    /// Sets the server's name, instructions and so on.
    #[must_use]
    pub fn config(mut self, config: ServerConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets how long a client must be idle for its next call to begin a new turn. Two minutes by default.
    #[must_use]
    pub fn quiet(mut self, quiet: Duration) -> Self {
        self.sessions.quiet = quiet;
        self
    }

    /// The inner toolbox.
    pub fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }
}

fn declared(spec: &ToolSpec) -> Tool {
    let of = |spec: &ToolSpec| serde_json::from_value(declare(Provider::Mcp, spec)).ok();
    of(spec).unwrap_or_else(|| {
        // MCP requires the schema to be an object; `true` is not allowed.
        let mut any = spec.clone();
        any.input_schema = Some(Arc::new(json!({"type": "object"})));
        of(&any).unwrap_or_default()
    })
}

impl ServerHandler for ToolboxServer {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let running = self.sessions.of(&context.peer).begin(self.sessions.quiet);
        let call = call(&request, &context.id);
        let cancelled = context.ct.cancelled();
        let settled = self
            .toolbox
            .invoke_until(&call, running.place(), cancelled)
            .await;
        let feedback = self.toolbox.feedback();
        let rendered = render_settled(Provider::Mcp, &call, &settled, feedback);
        let result = from_json(&rendered);
        Ok(result
            .unwrap_or_else(|| error_result(&settled, feedback))
            .into())
    }
}
