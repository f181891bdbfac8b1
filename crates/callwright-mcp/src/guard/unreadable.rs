//! Client messages that are malformed, or that two readers could read differently.
//!
//! A server may be more lenient than we are and take one for a call, so none of them reaches it. In `warn` mode,
//! where nothing may be changed, they pass and are counted.

use callwright::policy::Validation;
use serde_json::value::RawValue;

use super::action::{Action, Fate, Sender};
use super::{Guard, GuardStep, Now};
use crate::members::members;
use crate::message::{Id, not_null};
use crate::own_messages::{self, code};

impl Guard {
    /// A line that some servers read as several lines.
    pub(crate) fn broken_line<'m>(&self, line: &'m [u8], out: &mut Vec<Action<'m>>) {
        let why = "the line contains a carriage return, so some servers read it as several lines";
        let mut fate = Fate::Pass;
        if self.settings.mode != Validation::Off {
            fate = self.step(Now::by_clock(), out, |step| {
                step.refuse_unread(None, code::NOT_JSON, why)
            });
        }
        Sender::Client.push(line, fate, out);
    }
}

impl GuardStep<'_, '_> {
    /// Anything that is not a single message.
    pub(super) fn unreadable(&mut self, message: &[u8]) -> Fate {
        if message.trim_ascii().is_empty() {
            return Fate::Pass;
        }
        let text = std::str::from_utf8(message).map(str::trim_ascii);
        let is_json = |text: &&str| serde_json::from_str::<&RawValue>(text).is_ok();
        let Some(text) = text.ok().filter(is_json) else {
            let why = "the message is not a single JSON value in UTF-8";
            return self.refuse_unread(None, code::NOT_JSON, why);
        };
        let id = members(text, ["id"]).ok().and_then(|[id]| not_null(id));
        let why =
            "the message is not JSON-RPC, or has a member that is duplicated or differs in case";
        self.refuse_unread(id.map(|id| Id(id.get())), code::NOT_A_MESSAGE, why)
    }

    /// A call whose parameters do not name exactly one tool, or have a duplicate member.
    pub(super) fn bad_params(&mut self, id: Id<'_>) -> Fate {
        let why = "the parameters of a call must be an object with one `name`, a string, and at most one `arguments`";
        self.refuse_unread(Some(id), code::BAD_PARAMS, why)
    }

    /// A call that cannot be answered, because it has no id. Servers may run it anyway.
    pub(super) fn call_without_id(&mut self, message: &[u8]) -> Fate {
        let has_null = std::str::from_utf8(message)
            .is_ok_and(|text| matches!(members(text.trim_ascii(), ["id"]), Ok([Some(_)])));
        match self.refuse_unread(None, code::NOT_A_MESSAGE, "a `tools/call` needs an `id`") {
            // A notification gets no answer.
            Fate::Reply(_) if !has_null => Fate::Keep,
            fate => fate,
        }
    }

    fn refuse_unread(&mut self, id: Option<Id<'_>>, code: i32, why: &str) -> Fate {
        let settings = &self.guard.settings;
        settings.status.could_not_read();
        let passes = settings.only_warns();
        let what = if passes {
            "passes unjudged"
        } else {
            "does not reach the server"
        };
        let warning = format!("a client message {what}: {why}");
        let new = self.state.tools.new_warnings(vec![warning]);
        self.warn_all(new);
        if passes {
            return Fate::Pass;
        }
        let id = id.map_or("null", |id| id.0);
        Fate::Reply(own_messages::error(id, code, why))
    }
}
