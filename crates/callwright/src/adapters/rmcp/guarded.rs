//! A server behind a guard: what happens to calls of its tools.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorCode, PaginatedRequestParams};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;

use super::result::{answer, arguments, call, ran, told};
use super::session::{Session, Sessions};
use crate::adapters::GuardSettings;
use crate::check::{Ran, ToolFailure};
use crate::tool::{ToolSpec, read_tools};
use crate::toolbox::Toolbox;

/// How many pages of tools are read. Servers with the most tools have some hundreds, in a few pages; a cursor that
/// leads back to itself has no end.
const MOST_PAGES: usize = 1_000;

/// Any server behind a guard. It is a server itself: serve it in the stead of the one inside.
///
/// The tools are those that the handler lists, all pages of them. They are read when a client first calls one, and again
/// after the client has listed them, as it does when it hears that they have changed; [`Guarded::refresh`] does so at
/// once.
#[derive(Debug)]
pub struct Guarded<H> {
    pub(super) handler: H,
    settings: GuardSettings,
    sessions: Sessions,
}

impl<H: ServerHandler> Guarded<H> {
    /// A guard with what is usual.
    pub fn new(handler: H) -> Self {
        Guarded::with(handler, GuardSettings::new())
    }

    /// A guard with these settings.
    pub fn with(handler: H, settings: GuardSettings) -> Self {
        Guarded {
            handler,
            settings,
            sessions: Sessions::default(),
        }
    }

    /// The same with another time of silence after which a client's next call begins a new turn: the retry budgets and
    /// the loops that were counted begin anew. Two minutes are usual.
    #[must_use]
    pub fn quiet(mut self, quiet: Duration) -> Self {
        self.sessions.quiet = quiet;
        self
    }

    /// The handler inside.
    pub fn inner(&self) -> &H {
        &self.handler
    }

    /// Forgets which tools there are; the next call reads them again.
    pub fn refresh(&self) {
        self.sessions.forget_tools();
    }

    /// Forgets which tools one client was told about: it is being told anew.
    pub(super) fn lists(
        &self,
        request: Option<&PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) {
        if request.is_none_or(|request| request.cursor.is_none()) {
            self.sessions.of(&context.peer).forget_tools();
        }
    }

    /// Judges a call, has the handler run it if it may run, and judges what came of it.
    pub(super) async fn guard(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = self.sessions.of(&context.peer);
        let toolbox = self.tools(&session, &request.name, &context).await?;
        let beat = session.begin(self.sessions.quiet);
        // The client goes on with a call that the handler has put a question to: it was counted when it came first.
        let goes_on = request.request_state.is_some() || request.input_responses.is_some();
        let place = (!goes_on).then(|| beat.place());
        let id = context.id.clone();
        let call = call(&request, &id);
        let underway = match toolbox.begin(&call, place) {
            Ok(underway) => underway,
            Err(refused) => return Ok(told(&refused, toolbox.feedback()).into()),
        };
        let ticket = underway.ticket();
        let tool = ticket.tool();
        let typed = tool.spec().output_schema.is_some();
        let mut passed_on = request.clone();
        if !ticket.edits().is_empty() {
            passed_on.name = tool.name().to_owned().into();
            passed_on.arguments = arguments(ticket.arguments());
        }
        let running = self.handler.call_tool(passed_on, context);
        let ended = match toolbox.in_time(&underway, running).await {
            Ok(ended) => ended,
            Err(failure) => {
                let settled = underway.end(Ran::failed(failure));
                return Ok(told(&settled, toolbox.feedback()).into());
            }
        };
        let feedback = toolbox.feedback();
        match ended {
            Ok(CallToolResponse::Complete(result)) => {
                let settled = underway.end(ran(&result));
                Ok(answer(&settled, result, typed, feedback).into())
            }
            // A question to the user, or a task that goes on elsewhere.
            Ok(other) => {
                drop(underway.goes_on());
                Ok(other)
            }
            Err(error) => {
                let (failure, is_for_the_model) = failed(&error);
                let settled = underway.end(Ran::failed(failure));
                if is_for_the_model {
                    Ok(told(&settled, feedback).into())
                } else {
                    Err(error)
                }
            }
        }
    }

    /// The tools of a client's server.
    async fn tools(
        &self,
        session: &Session,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Toolbox>, ErrorData> {
        if let Some(known) = session.tools().get() {
            // A name that somebody has made up is no reason to list them.
            let is_new = known.gate().tool(name).is_none() && self.handler.get_tool(name).is_some();
            if !is_new {
                return Ok(Arc::clone(known));
            }
            session.forget_tools();
        }
        let tools = session.tools();
        let known = tools.get_or_try_init(async || {
            let specs = self.list(context).await?;
            let toolbox = self.settings.guests(specs).map_err(|error| {
                ErrorData::internal_error(format!("the tools cannot be read: {error}"), None)
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
        // Of two that have one name the handler knows the first.
        let mut seen = ahash::AHashSet::new();
        specs.retain(|spec| seen.insert(spec.name.clone()));
        Ok(specs)
    }
}

/// A protocol error of the handler's: why the call failed, and whether the model gets that instead of the error. Errors
/// that a client knows what to do with stay what they are.
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
