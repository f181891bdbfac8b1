//! What the guard decides: typed actions, which a driver with IO carries out in order.

use std::borrow::Cow;

use crate::message::Message;
use crate::tools::ToolCompilation;

/// One thing to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Action<'m> {
    /// The client's message goes to the server exactly as it came.
    PassToServer(&'m [u8]),
    /// The server's message goes to the client exactly as it came.
    PassToClient(&'m [u8]),
    /// The server gets this: a changed message, or one message of a batch.
    ToServer(Cow<'m, [u8]>),
    /// The client gets this: a changed message, one message of a batch, or an answer of the guard.
    ToClient(Cow<'m, [u8]>),
    /// The server is asked for its tools. The answer is for the guard.
    ListTools(Vec<u8>),
    /// The client is asked to ask the user about a call that is held. This goes where the answer to the call would go; the
    /// answer is for the guard.
    AskUser(HeldMessage),
    /// The call with this id, as the client wrote it, waits in the guard: for the list of tools or for the user.
    Hold(String),
    /// The server gets a call that was held.
    Release(HeldMessage),
    /// The client gets the answer to a call that was held.
    Answer(HeldMessage),
    /// A list of tools is to be compiled, on a thread that no message waits for.
    CompileTools(ToolCompilation),
    /// The operator gets this sentence.
    Warn(String),
}

/// A message about a call that is or was held.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldMessage {
    /// The id of the call, as the client wrote it.
    pub call: String,
    /// The call as the server gets it, its answer, or a question about it.
    pub message: Vec<u8>,
}

impl Action<'_> {
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

    /// The message, if it is for the client. Questions to the user are not among them.
    pub fn for_client(&self) -> Option<&[u8]> {
        match self {
            Action::PassToClient(message) => Some(message),
            Action::ToClient(message) => Some(message),
            Action::Answer(held) => Some(&held.message),
            _ => None,
        }
    }
}

/// What becomes of one message.
#[derive(Debug)]
pub(super) enum Fate {
    /// It goes on as it is.
    Pass,
    /// This goes on instead.
    Replace(Vec<u8>),
    /// It does not go on; its sender gets this answer.
    Reply(Vec<u8>),
    /// It does not go on, or not now.
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
        let (message, goes_on) = match fate {
            Fate::Pass => (Cow::Borrowed(message), true),
            Fate::Replace(other) => (Cow::Owned(other), true),
            Fate::Reply(answer) => (Cow::Owned(answer), false),
            Fate::Keep => return None,
        };
        Some(match (self, goes_on) {
            (Sender::Client, true) | (Sender::Server, false) => Action::ToServer(message),
            (Sender::Server, true) | (Sender::Client, false) => Action::ToClient(message),
        })
    }
}

impl Action<'static> {
    /// What becomes of a call of the client's that was held until now.
    pub(super) fn of_held(call: String, message: Vec<u8>, fate: Fate) -> Option<Self> {
        match fate {
            Fate::Pass => Some(Action::Release(HeldMessage { call, message })),
            Fate::Replace(message) => Some(Action::Release(HeldMessage { call, message })),
            Fate::Reply(message) => Some(Action::Answer(HeldMessage { call, message })),
            Fate::Keep => None,
        }
    }
}
