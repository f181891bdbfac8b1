//! Lists of tools: those that pass by, and those that we ask for because a call came first.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::state::{Asked, Listing, State};
use super::{Fate, Guard, Now, Outbox};
use crate::answer;
use crate::fix::{Fixed, fixed};
use crate::message::{Id, not_null};
use crate::tools::Page;

/// How long a call waits for the list of tools that it is judged by. Servers answer this in milliseconds; one that has
/// to fetch it from elsewhere gets ten seconds, and then the call passes unjudged.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How long a guard that remembers no calls keeps a list: it is not told of changes.
const LIST_LIFE: Duration = Duration::from_secs(60);

/// How many pages a list of tools may have. Real ones have a handful.
const MOST_PAGES: usize = 1_000;

#[derive(Deserialize)]
struct ListParams<'m> {
    #[serde(borrow)]
    cursor: Option<&'m RawValue>,
}

impl Guard {
    /// The client gets a list.
    pub(super) fn client_listed(
        &self,
        state: &mut State,
        message: &[u8],
        result: Option<&RawValue>,
        is_first: bool,
        now: Now,
        out: &mut Outbox<'_>,
    ) -> Fate {
        let page = result.and_then(|result| Page::read(result.get(), &self.settings));
        if let Some(page) = page {
            let warnings = state.tools.learn(page, is_first, &self.settings);
            out.warnings.extend(warnings);
            state.listed = Some(now.instant);
        }
        match result.and_then(|result| fixed(message, result)) {
            Some(fixed) => self.choked(state, fixed, out),
            None => Fate::Passes,
        }
    }

    /// A list that clients may choke on.
    fn choked(&self, state: &mut State, fixed: Fixed, out: &mut Outbox<'_>) -> Fate {
        let is_fixed = self.settings.fix_schemas && !self.settings.only_warns();
        let what = if is_fixed {
            "its schema is corrected for the client"
        } else {
            "its schema is not written by the book, and some clients choke on it; `--fix-schemas` corrects it"
        };
        let tools = fixed.tools.iter();
        let warnings = tools.map(|name| format!("tool {name:?}: {what}"));
        out.warnings.extend(state.tools.untold(warnings.collect()));
        if is_fixed {
            Fate::Becomes(fixed.message)
        } else {
            Fate::Passes
        }
    }

    /// A list that was learned too long ago to be relied upon is asked for again.
    pub(super) fn let_lists_age(&self, state: &mut State, now: Now) {
        let age = state
            .listed
            .map(|listed| now.instant.saturating_duration_since(listed));
        if !self.remembers && age.is_some_and(|age| age > LIST_LIFE) {
            state.tools.changed();
        }
    }

    /// Asks for the list of tools, unless we have.
    pub(super) fn ask(
        &self,
        state: &mut State,
        meta: Option<String>,
        now: Now,
        out: &mut Outbox<'_>,
    ) {
        if state.asked.is_some() {
            return;
        }
        let asked = Asked {
            key: String::new(),
            since: now.instant,
            pages: 0,
            meta,
            gave_up: false,
            is_outdated: false,
        };
        self.ask_page(state, asked, None, out);
    }

    fn ask_page(
        &self,
        state: &mut State,
        mut asked: Asked,
        cursor: Option<&str>,
        out: &mut Outbox<'_>,
    ) {
        state.questions += 1;
        // A text that no client counts up to.
        let name = format!("callwright-{}-{}", self.session, state.questions);
        let id = json!(name).to_string();
        let question = answer::list_request(&id, cursor, asked.meta.as_deref());
        out.to_server.push(question.into());
        asked.key = Id(&id).key().into_owned();
        state.asked = Some(asked);
    }

    /// The answer to our own question: the next page is asked for, or calls that waited are judged.
    pub(super) fn listed(
        &self,
        state: &mut State,
        result: Option<&RawValue>,
        now: Now,
        out: &mut Outbox<'_>,
    ) {
        let Some(mut asked) = state.asked.take() else {
            return;
        };
        let page = result.and_then(|result| Page::read(result.get(), &self.settings));
        if let Some(page) = page {
            let next = page.next.clone();
            let is_first = asked.pages == 0;
            asked.pages += 1;
            let warnings = state.tools.learn(page, is_first, &self.settings);
            out.warnings.extend(warnings);
            state.listed = Some(now.instant);
            match next {
                Some(next) if asked.pages < MOST_PAGES => {
                    self.ask_page(state, asked, Some(&next), out);
                    return;
                }
                Some(_) => {
                    state.tools.endless();
                    out.warnings.push(format!(
                        "the list of tools has more than {MOST_PAGES} pages; calls of tools behind them pass unjudged"
                    ));
                }
                None => {}
            }
        } else {
            state.tools.not_listed();
            out.warnings
                .push("the server does not list its tools; calls pass unjudged".to_owned());
        }
        for held in std::mem::take(&mut state.held) {
            let passed = self.release(state, held, now, out);
            out.to_server.extend(passed.map(Into::into));
        }
        if asked.is_outdated {
            state.tools.changed();
        }
    }
}

impl State {
    /// The client asks for a list.
    pub(super) fn client_lists(&mut self, id: Id<'_>, params: Option<&RawValue>) -> Fate {
        let cursor = params.and_then(|params| {
            let page: ListParams<'_> = serde_json::from_str(params.get()).ok()?;
            not_null(page.cursor)
        });
        if !self.is_full() {
            let listing = Listing {
                id: id.0.to_owned(),
                is_first: cursor.is_none(),
            };
            self.lists.insert(id.key().into_owned(), listing);
        }
        Fate::Passes
    }

    /// The server says that its tools have changed: they are asked for again before the next call is judged.
    pub(super) fn tools_changed(&mut self) {
        self.tools.changed();
        if let Some(asked) = &mut self.asked {
            asked.is_outdated = true;
        }
    }

    /// When calls that wait for the tools have waited long enough.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        let asked = self.asked.as_ref().filter(|asked| !asked.gave_up)?;
        (!self.held.is_empty()).then_some(asked.since + LONGEST_WAIT)
    }

    /// Whether calls have waited long enough by now; from then on none waits for this list.
    pub(super) fn gives_up(&mut self, now: Instant) -> bool {
        let waits = self.asked.as_mut().is_some_and(|asked| {
            asked.gave_up |= now.saturating_duration_since(asked.since) >= LONGEST_WAIT;
            !asked.gave_up
        });
        !waits && !self.held.is_empty()
    }
}
