//! A server behind a guard: how calls of its tools are judged and run.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use callwright::ToolSpec;
use callwright::check::{Ran, ToolFailure};
use callwright::toolbox::{GuardSettings, Toolbox};
use callwright::wire::{read_mcp_result, read_tools};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorCode, PaginatedRequestParams};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;

use crate::client_session::{ClientSession, ClientSessions};
use crate::result::{answer, arguments, as_json, call, error_result};

/// How many pages of tools are read. The largest servers have a few hundred tools, on a few pages; a cursor that
/// leads back to itself would never end.
const MOST_PAGES: usize = 1_000;

/// Any server behind a guard. It is itself a server: serve it instead of the inner one.
///
/// The tools are those that the handler lists, on all pages. They are read when a client first calls one, and again
/// after the client has listed them, as it does when notified of a change. [`GuardedServer::refresh`] discards them
/// immediately.
#[derive(Debug)]
pub struct GuardedServer<H> {
    pub(crate) handler: H,
    settings: GuardSettings,
    sessions: ClientSessions,
}

impl<H: ServerHandler> GuardedServer<H> {
    /// A guard with the default settings.
    pub fn new(handler: H) -> Self {
        GuardedServer::with(handler, GuardSettings::default())
    }

    /// A guard with these settings.
    pub fn with(handler: H, settings: GuardSettings) -> Self {
        GuardedServer {
            handler,
            settings,
            sessions: ClientSessions::default(),
        }
    }

    /// Sets how long a client must be idle for its next call to begin a new turn, in which retry budgets and loop
    /// counters start over. Two minutes by default.
    #[must_use]
    pub fn quiet(mut self, quiet: Duration) -> Self {
        self.sessions.quiet = quiet;
        self
    }

    /// The inner handler.
    pub fn inner(&self) -> &H {
        &self.handler
    }

    /// Discards the tool list; the next call reads it again.
    pub fn refresh(&self) {
        self.sessions.forget_tools();
    }

    /// Discards the tool list of a client that lists the tools again.
    pub(crate) fn lists(
        &self,
        request: Option<&PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) {
        if request.is_none_or(|request| request.cursor.is_none()) {
            self.sessions.of(&context.peer).forget_tools();
        }
    }

    /// Judges a call, lets the handler run it if it may run, and judges the result.
    pub(crate) async fn guard(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = self.sessions.of(&context.peer);
        let toolbox = self.tools(&session, &request.name, &context).await?;
        let running = session.begin(self.sessions.quiet);
        // The client continues a call after answering a question from the handler. It was counted when it first
        // arrived.
        let continues = request.request_state.is_some() || request.input_responses.is_some();
        let place = (!continues).then(|| running.place());
        let id = context.id.clone();
        let call = call(&request, &id);
        let invocation = match toolbox.begin(&call, place) {
            Ok(invocation) => invocation,
            Err(refused) => return Ok(error_result(&refused, toolbox.feedback()).into()),
        };
        let ticket = invocation.ticket();
        let tool = ticket.tool();
        let typed = tool.spec().output_schema.is_some();
        let mut passed_on = request.clone();
        if !ticket.edits().is_empty() {
            passed_on.name = tool.name().to_owned().into();
            passed_on.arguments = arguments(ticket.arguments());
        }
        let feedback = toolbox.feedback();
        match invocation
            .run(self.handler.call_tool(passed_on, context))
            .await
        {
            Ok(Ok(CallToolResponse::Complete(result))) => {
                let json = as_json(&result);
                let settled = invocation.end(read_mcp_result(&json).into_owned());
                Ok(answer(&settled, result, &json, typed, feedback).into())
            }
            // A question to the user, or a task that continues elsewhere.
            Ok(Ok(other)) => {
                drop(invocation.end_unknown());
                Ok(other)
            }
            Err(failure) => {
                let settled = invocation.end(Ran::failed(failure));
                Ok(error_result(&settled, feedback).into())
            }
            Ok(Err(error)) => {
                let (failure, is_for_the_model) = failed(&error);
                let settled = invocation.end(Ran::failed(failure));
                if is_for_the_model {
                    Ok(error_result(&settled, feedback).into())
                } else {
                    Err(error)
                }
            }
        }
    }

    async fn tools(
        &self,
        session: &ClientSession,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Toolbox>, ErrorData> {
        if let Some(known) = session.tools().get() {
            // An invented name is not a reason to list them again.
            let is_new = known.gate().tool(name).is_none() && self.handler.get_tool(name).is_some();
            if !is_new {
                return Ok(Arc::clone(known));
            }
            session.forget_tools();
        }
        let tools = session.tools();
        let known = tools.get_or_try_init(async || {
            let specs = self.list(context).await?;
            let toolbox = self.settings.toolbox(specs).map_err(|error| {
                ErrorData::internal_error(format!("cannot list the tools: {error}"), None)
            })?;
            Ok(Arc::new(toolbox))
        });
        known.await.cloned()
    }

    /// All pages of the handler's own list.
    async fn list(&self, context: &RequestContext<RoleServer>) -> Result<Vec<ToolSpec>, ErrorData> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = cursor
                .take()
                .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let listed = self.handler.list_tools(page, context.clone()).await?;
            tools.extend(listed.tools);
            cursor = listed.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        let mut specs = read_tools(&json!({ "tools": tools }).to_string())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        // If two tools have the same name, the handler runs the first.
        let mut seen = HashSet::new();
        specs.retain(|spec| seen.insert(spec.name.clone()));
        Ok(specs)
    }
}

/// A protocol error from the handler as the failure of a call, and whether the model gets it. Errors that a client
/// knows how to handle stay protocol errors.
fn failed(error: &ErrorData) -> (ToolFailure, bool) {
    let message = match &error.data {
        Some(data) => format!("{}: {data}", error.message),
        None => error.message.to_string(),
    };
    match error.code {
        // The schema accepts the arguments, so the model is not to blame.
        ErrorCode::INVALID_PARAMS => (ToolFailure::defect(message), true),
        ErrorCode::INTERNAL_ERROR => (ToolFailure::internal(message), true),
        _ => (ToolFailure::said(error.message.to_string()), false),
    }
}
