//! The guard's decisions: typed actions, which a driver with I/O carries out in order.

use std::borrow::Cow;

use crate::message::Message;
use crate::tools::{ToolCompilation, short_warning};

/// One thing to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Action<'m> {
    /// Pass the client's message to the server byte for byte.
    PassToServer(&'m [u8]),
    /// Pass the server's message to the client byte for byte.
    PassToClient(&'m [u8]),
    /// Send this to the server: a changed message, or one message of a batch.
    ToServer(Cow<'m, [u8]>),
    /// Send this to the client: a changed message, one message of a batch, or an answer of the guard.
    ToClient(Cow<'m, [u8]>),
    /// Ask the server for its tools. The answer is for the guard.
    ListTools(Vec<u8>),
    /// Ask the client to ask the user about a held call. This goes where the answer to the call would go; the user's
    /// answer is for the guard.
    AskUser(HeldMessage),
    /// The call with this id, as the client wrote it, is held in the guard: for the tool list or for the user.
    Hold(String),
    /// The held call with this id, as the client wrote it, was cancelled: it is not held any more, and gets no answer.
    Drop(String),
    /// Send a held call to the server.
    Release(HeldMessage),
    /// Send the answer to a held call to the client.
    Answer(HeldMessage),
    /// Compile a tool list, on a thread that no message waits for.
    CompileTools(ToolCompilation),
    /// Show this sentence to the operator.
    Warn(String),
}

/// A message about a call that is or was held.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldMessage {
    /// The id of the call, as the client wrote it.
    pub call: String,
    /// The call for the server, its answer, or a question about it.
    pub message: Vec<u8>,
}

impl Action<'_> {
    pub(super) fn warn(warning: impl Into<String>) -> Self {
        Action::Warn(short_warning(warning.into()))
    }

    /// The message, if it is for the server.
    pub fn for_server(&self) -> Option<&[u8]> {
        match self {
            Action::PassToServer(message) => Some(message),
            Action::ToServer(message) => Some(message),
            Action::ListTools(request) => Some(request),
            Action::Release(held) => Some(&held.message),
            _ => None,
        }
    }

    /// The message, if it is for the client. This excludes questions to the user.
    pub fn for_client(&self) -> Option<&[u8]> {
        match self {
            Action::PassToClient(message) => Some(message),
            Action::ToClient(message) => Some(message),
            Action::Answer(held) => Some(&held.message),
            _ => None,
        }
    }
}

/// What happens to one message.
#[derive(Debug)]
pub(super) enum Fate {
    /// It passes unchanged.
    Pass,
    /// It is replaced with this.
    Replace(Vec<u8>),
    /// It is not passed on; its sender gets this answer.
    Reply(Vec<u8>),
    /// It is not passed on, or not now.
    Keep,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Sender {
    Client,
    Server,
}

impl Sender {
    /// Decides about a message, or about each message of a batch. A batch in which nothing changes stays whole.
    pub(super) fn decide<'m>(
        self,
        message: &'m [u8],
        out: &mut Vec<Action<'m>>,
        mut fate: impl FnMut(&'m [u8], &Message<'m>, &mut Vec<Action<'m>>) -> Fate,
    ) {
        let parts = match Message::read(message) {
            Message::Batch(parts) => parts,
            read => {
                let fate = fate(message, &read, out);
                return self.push(message, fate, out);
            }
        };
        let mut fates = Vec::with_capacity(parts.len());
        for part in parts {
            let part = part.get().as_bytes();
            fates.push((part, fate(part, &Message::read(part), out)));
        }
        if fates.iter().all(|(_, fate)| matches!(fate, Fate::Pass)) {
            return self.push(message, Fate::Pass, out);
        }
        out.extend(
            fates
                .into_iter()
                .filter_map(|(part, fate)| self.action(part, fate)),
        );
    }

    /// The action for a whole message.
    pub(super) fn push<'m>(self, message: &'m [u8], fate: Fate, out: &mut Vec<Action<'m>>) {
        match (self, fate) {
            (Sender::Client, Fate::Pass) => out.push(Action::PassToServer(message)),
            (Sender::Server, Fate::Pass) => out.push(Action::PassToClient(message)),
            (_, fate) => out.extend(self.action(message, fate)),
        }
    }

    /// The action for one message of a batch.
    fn action(self, message: &[u8], fate: Fate) -> Option<Action<'_>> {
        let (message, is_forwarded) = match fate {
            Fate::Pass => (Cow::Borrowed(message), true),
            Fate::Replace(other) => (Cow::Owned(other), true),
            Fate::Reply(answer) => (Cow::Owned(answer), false),
            Fate::Keep => return None,
        };
        Some(match (self, is_forwarded) {
            (Sender::Client, true) | (Sender::Server, false) => Action::ToServer(message),
            (Sender::Server, true) | (Sender::Client, false) => Action::ToClient(message),
        })
    }
}

impl Action<'static> {
    /// The action for a client's call that was held until now.
    pub(super) fn of_held(call: String, message: Vec<u8>, fate: Fate) -> Option<Self> {
        match fate {
            Fate::Pass => Some(Action::Release(HeldMessage { call, message })),
            Fate::Replace(message) => Some(Action::Release(HeldMessage { call, message })),
            Fate::Reply(message) => Some(Action::Answer(HeldMessage { call, message })),
            Fate::Keep => None,
        }
    }
}
