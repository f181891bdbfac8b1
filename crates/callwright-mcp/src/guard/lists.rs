//! Tool lists: those that the client requests, and those that the guard requests because a call came first.

use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use super::GuardStep;
use super::action::{Action, Fate};
use super::state::{SessionState, ToolsRequest};
use crate::fix_tool_list::{FixedToolList, fix_tool_list};
use crate::message::Id;
use crate::own_messages;
use crate::tools::{CompiledTools, ToolPage};

/// How long a call waits for the tools it is judged by: for the list, and until it is compiled. Servers answer in
/// milliseconds; one that has to fetch the list from elsewhere gets ten seconds, and then the call passes unjudged.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How long a guard that remembers no calls keeps a list, since it is not notified of changes. Also the time after
/// which a list that did not arrive is requested again.
const LIST_LIFE: Duration = Duration::from_secs(60);

/// How many pages a tool list may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

impl GuardStep<'_, '_> {
    pub(super) fn client_listed(
        &mut self,
        message: &[u8],
        result: Option<&RawValue>,
        is_first: bool,
    ) -> Fate {
        self.learn(result, is_first);
        self.compile();
        match result.and_then(|result| fix_tool_list(message, result)) {
            Some(fixed) => self.offer_fixed(fixed),
            None => Fate::Pass,
        }
    }

    /// Adds a page of tools. Returns whether it is one, and the cursor of the next page.
    fn learn(&mut self, result: Option<&RawValue>, is_first: bool) -> (bool, Option<String>) {
        let settings = &self.guard.settings;
        let page = result.and_then(|result| ToolPage::read(result.get(), settings));
        let Some(page) = page else {
            return (false, None);
        };
        let next = page.next.clone();
        let warnings = self.state.tools.learn(page, is_first);
        self.state.listed = Some(self.now.instant);
        self.warn_all(warnings);
        (true, next)
    }

    fn compile(&mut self) {
        let compilation = self.state.tools.compilation(&self.guard.settings);
        self.out.extend(compilation.map(Action::CompileTools));
    }

    /// Judges waiting calls by the compiled tool list, even if the tools have changed meanwhile.
    pub(super) fn tools_compiled(&mut self, compiled: CompiledTools) {
        match self.state.tools.compiled(compiled) {
            Some(warnings) => {
                self.warn_all(warnings);
                self.tools_known();
            }
            None => self.compile(),
        }
    }

    fn tools_known(&mut self) {
        if self.state.tools_request.is_some() {
            // More pages are coming.
            return;
        }
        self.state.waiting_since = None;
        self.state.gave_up = false;
        self.release_all();
        if std::mem::take(&mut self.state.is_outdated) {
            self.state.tools.changed();
        }
    }

    /// Some clients reject a malformed list: it is corrected if the operator wants that.
    fn offer_fixed(&mut self, fixed: FixedToolList) -> Fate {
        let settings = &self.guard.settings;
        let is_fixed = settings.fix_schemas && !settings.only_warns();
        let what = if is_fixed {
            "its schema is corrected for the client"
        } else {
            "its schema is malformed, and some clients reject it; `--fix-schemas` corrects it"
        };
        let tools = fixed.tools.iter();
        let warnings = tools.map(|name| format!("tool {name:?}: {what}"));
        let new = self.state.tools.new_warnings(warnings.collect());
        self.warn_all(new);
        if is_fixed {
            Fate::Replace(fixed.message)
        } else {
            Fate::Pass
        }
    }

    /// Requests a list again that is too old to rely on.
    pub(super) fn expire_list(&mut self) {
        let now = self.now.instant;
        let age = self
            .state
            .listed
            .map(|listed| now.saturating_duration_since(listed));
        if !self.guard.remembers && age.is_some_and(|age| age > LIST_LIFE) {
            self.state.tools.changed();
        }
    }

    /// Requests the tool list, unless a request is already in progress.
    pub(super) fn request_tools(&mut self, meta: Option<String>) {
        if self.state.tools_request.is_none() && !self.state.tools.is_compiling() {
            let request = ToolsRequest {
                key: String::new(),
                pages: 0,
                meta,
            };
            self.request_page(request, None);
        }
    }

    fn request_page(&mut self, mut request: ToolsRequest, cursor: Option<&str>) {
        let id = self.next_id();
        let message =
            own_messages::page_request("tools/list", &id, cursor, request.meta.as_deref());
        self.out.push(Action::ListTools(message));
        request.key = Id(&id).key().into_owned();
        self.state.tools_request = Some(request);
    }

    /// The answer to our own request: requests the next page, or compiles the tools.
    pub(super) fn listed(&mut self, result: Option<&RawValue>) {
        let Some(mut request) = self.state.tools_request.take() else {
            return;
        };
        match self.learn(result, request.pages == 0) {
            (true, Some(_)) if self.state.tools.is_cut() => {}
            (true, Some(next)) if request.pages + 1 < MOST_PAGES => {
                request.pages += 1;
                return self.request_page(request, Some(&next));
            }
            (true, Some(_)) => {
                self.state.tools.endless();
                self.warn(format!(
                    "the tool list has more than {MOST_PAGES} pages; calls of tools after them pass unjudged"
                ));
            }
            (true, None) => {}
            (false, _) => {
                self.state.tools.not_listed();
                self.warn("the server does not list its tools; calls pass unjudged");
                return self.tools_known();
            }
        }
        self.compile();
    }
}

impl SessionState {
    /// The server reports that its tools have changed: they are requested again before the next call is judged.
    pub(super) fn tools_changed(&mut self) {
        self.tools.changed();
        self.is_outdated = self.tools_request.is_some() || self.tools.is_compiling();
    }

    /// Until when calls wait for the tool list.
    pub(super) fn list_deadline(&self) -> Option<Instant> {
        let waits = !self.held.is_empty() && !self.gave_up;
        self.waiting_since
            .filter(|_| waits)
            .map(|since| since + LONGEST_WAIT)
    }

    /// Whether held calls have waited long enough by now; from then on, none waits for this list.
    pub(super) fn gives_up(&mut self, now: Instant) -> bool {
        self.gave_up |= self.has_waited(now, LONGEST_WAIT);
        self.gave_up && !self.held.is_empty()
    }

    /// Requests a list again that did not arrive, after a while.
    pub(super) fn try_again(&mut self, now: Instant) {
        if self.gave_up && self.has_waited(now, LIST_LIFE) && !self.tools.is_compiling() {
            self.tools_request = None;
            self.waiting_since = None;
            self.gave_up = false;
        }
    }

    fn has_waited(&self, now: Instant, long: Duration) -> bool {
        let since = self.waiting_since;
        since.is_some_and(|since| now.saturating_duration_since(since) >= long)
    }
}
