//! Messages of a client that cannot be read, or that two readers could read in two ways.
//!
//! A server may be more lenient than we are and take one for a call, so none of them reaches it. Where nothing may be
//! changed (`warn`) they pass, and are counted.

use callwright::policy::Validation;
use serde_json::value::RawValue;

use super::state::State;
use super::{Fate, Guard, Outbox};
use crate::answer;
use crate::members::members;
use crate::message::{Id, not_null};

/// The codes of JSON-RPC.
const NOT_JSON: i32 = -32_700;
const NOT_A_MESSAGE: i32 = -32_600;
const BAD_PARAMS: i32 = -32_602;

impl Guard {
    /// Something that is not one message.
    pub(super) fn unreadable(
        &self,
        state: &mut State,
        message: &[u8],
        out: &mut Outbox<'_>,
    ) -> Fate {
        if message.trim_ascii().is_empty() {
            return Fate::Passes;
        }
        let text = std::str::from_utf8(message).map(str::trim_ascii);
        let is_json = |text: &&str| serde_json::from_str::<&RawValue>(text).is_ok();
        let Some(text) = text.ok().filter(is_json) else {
            let why = "the message is not one JSON value in UTF-8";
            return self.stopped(state, None, NOT_JSON, why, out);
        };
        let id = members(text, ["id"]).ok().and_then(|[id]| not_null(id));
        let why = "the message is not one of JSON-RPC, or has a member twice or in another case";
        self.stopped(state, id.map(|id| Id(id.get())), NOT_A_MESSAGE, why, out)
    }

    /// A line that some servers take for several.
    pub(crate) fn broken_line<'m>(&self, line: &'m [u8], out: &mut Outbox<'m>) {
        let why = "the line has a carriage return inside, and is several lines to some servers";
        let is_read = self.settings.mode != Validation::Off;
        let fate = is_read.then(|| self.stopped(&mut self.state(), None, NOT_JSON, why, out));
        match fate {
            Some(Fate::Answered(answer)) => out.to_client.push(answer.into()),
            _ => out.to_server.push(line.into()),
        }
    }

    /// A call whose parameters do not name one tool, or have something twice.
    pub(super) fn bad_params(&self, state: &mut State, id: Id<'_>, out: &mut Outbox<'_>) -> Fate {
        let why = "the parameters of a call are an object with one `name`, a text, and at most one `arguments`";
        self.stopped(state, Some(id), BAD_PARAMS, why, out)
    }

    /// A call that cannot be answered, because it has no id. Servers may run it all the same.
    pub(super) fn call_without_id(
        &self,
        state: &mut State,
        message: &[u8],
        out: &mut Outbox<'_>,
    ) -> Fate {
        let has_null = std::str::from_utf8(message)
            .is_ok_and(|text| matches!(members(text.trim_ascii(), ["id"]), Ok([Some(_)])));
        match self.stopped(
            state,
            None,
            NOT_A_MESSAGE,
            "a `tools/call` needs an `id`",
            out,
        ) {
            // A notification has no answer.
            Fate::Answered(_) if !has_null => Fate::Stays,
            fate => fate,
        }
    }

    fn stopped(
        &self,
        state: &mut State,
        id: Option<Id<'_>>,
        code: i32,
        why: &str,
        out: &mut Outbox<'_>,
    ) -> Fate {
        self.settings.status.could_not_read();
        let passes = self.settings.only_warns();
        let what = if passes {
            "passes unjudged"
        } else {
            "does not reach the server"
        };
        let warning = format!("a message of the client {what}: {why}");
        out.warnings.extend(state.tools.untold(vec![warning]));
        if passes {
            return Fate::Passes;
        }
        let id = id.map_or("null", |id| id.0);
        Fate::Answered(answer::error(id, code, why))
    }
}
