//! Lists of tools: those that the client asks for, and those that we ask for because a call came first.

use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use super::GuardStep;
use super::action::{Action, Fate};
use super::state::{SessionState, ToolsRequest};
use crate::answer;
use crate::fix::{FixedToolList, fix_tool_list};
use crate::message::Id;
use crate::tools::ToolPage;

/// How long a call waits for the list of tools that it is judged by. Servers answer in milliseconds; one that has to fetch
/// the list from elsewhere gets ten seconds, and then the call passes unjudged.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How long a guard that remembers no calls keeps a list: it does not hear of changes.
const LIST_LIFE: Duration = Duration::from_secs(60);

/// How many pages a list of tools may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

impl GuardStep<'_, '_> {
    pub(super) fn client_listed(
        &mut self,
        message: &[u8],
        result: Option<&RawValue>,
        is_first: bool,
    ) -> Fate {
        self.learn(result, is_first);
        match result.and_then(|result| fix_tool_list(message, result)) {
            Some(fixed) => self.offer_fixed(fixed),
            None => Fate::Pass,
        }
    }

    /// Takes in a page of tools. Returns whether it is one, and the cursor of the next page.
    fn learn(&mut self, result: Option<&RawValue>, is_first: bool) -> (bool, Option<String>) {
        let settings = &self.guard.settings;
        let page = result.and_then(|result| ToolPage::read(result.get(), settings));
        let Some(page) = page else {
            return (false, None);
        };
        let next = page.next.clone();
        let warnings = self.state.tools.learn(page, is_first, settings);
        self.state.listed = Some(self.now.instant);
        self.warn_all(warnings);
        (true, next)
    }

    /// Some clients choke on a list: it is corrected if the operator wants that.
    fn offer_fixed(&mut self, fixed: FixedToolList) -> Fate {
        let settings = &self.guard.settings;
        let is_fixed = settings.fix_schemas && !settings.only_warns();
        let what = if is_fixed {
            "its schema is corrected for the client"
        } else {
            "its schema is malformed, and some clients choke on it; `--fix-schemas` corrects it"
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

    /// A list that is too old to rely on is asked for again.
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

    /// Asks for the list of tools, unless we have already.
    pub(super) fn request_tools(&mut self, meta: Option<String>) {
        if self.state.tools_request.is_none() {
            let request = ToolsRequest {
                key: String::new(),
                since: self.now.instant,
                pages: 0,
                meta,
                gave_up: false,
                is_outdated: false,
            };
            self.request_page(request, None);
        }
    }

    fn request_page(&mut self, mut request: ToolsRequest, cursor: Option<&str>) {
        let id = self.next_id();
        let message = answer::page_request("tools/list", &id, cursor, request.meta.as_deref());
        self.out.push(Action::ListTools(message));
        request.key = Id(&id).key().into_owned();
        self.state.tools_request = Some(request);
    }

    /// The answer to our own request: the next page is asked for, or calls that waited are judged.
    pub(super) fn listed(&mut self, result: Option<&RawValue>) {
        let Some(mut request) = self.state.tools_request.take() else {
            return;
        };
        match self.learn(result, request.pages == 0) {
            (true, Some(next)) if request.pages + 1 < MOST_PAGES => {
                request.pages += 1;
                return self.request_page(request, Some(&next));
            }
            (true, Some(_)) => {
                self.state.tools.endless();
                self.warn(format!(
                    "the list of tools has more than {MOST_PAGES} pages; calls of tools after them pass unjudged"
                ));
            }
            (true, None) => {}
            (false, _) => {
                self.state.tools.not_listed();
                self.warn("the server does not list its tools; calls pass unjudged");
            }
        }
        self.release_all();
        if request.is_outdated {
            self.state.tools.changed();
        }
    }
}

impl SessionState {
    /// The server says that its tools have changed: they are asked for again before the next call is judged.
    pub(super) fn tools_changed(&mut self) {
        self.tools.changed();
        if let Some(request) = &mut self.tools_request {
            request.is_outdated = true;
        }
    }

    /// Until when calls wait for the list of tools.
    pub(super) fn list_deadline(&self) -> Option<Instant> {
        let request = self
            .tools_request
            .as_ref()
            .filter(|request| !request.gave_up)?;
        (!self.held.is_empty()).then_some(request.since + LONGEST_WAIT)
    }

    /// Whether held calls have waited long enough by now; from then on none waits for this list.
    pub(super) fn gives_up(&mut self, now: Instant) -> bool {
        let waits = self.tools_request.as_mut().is_some_and(|request| {
            request.gave_up |= now.saturating_duration_since(request.since) >= LONGEST_WAIT;
            !request.gave_up
        });
        !waits && !self.held.is_empty()
    }
}
