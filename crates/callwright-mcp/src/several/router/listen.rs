//! `subscriptions/listen`, by which clients hear of changes since 2026-07-28: one request, and all servers that answer it
//! as long as they have something to say.
//!
//! The client gets one acknowledgement, which is ours, since ours is what it may rely on: all that the servers tell passes.
//! It gets one answer, when the last of them has ended.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::list::List;
use super::{Mail, Pending, SERVER_GONE, State};
use crate::answer;
use crate::message::Id;

/// A client that listens.
#[derive(Debug)]
pub(super) struct Listener {
    /// As the client wrote it.
    id: String,
    wants: Wants,
    /// How many servers have not answered.
    open: usize,
    /// What goes to the client in the end.
    answer: Option<Vec<u8>>,
}

/// What a client wants to hear of.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Wants {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
}

#[derive(Deserialize)]
struct Params<'m> {
    #[serde(borrow)]
    notifications: Option<&'m RawValue>,
}

impl Wants {
    fn has(&self, list: List) -> bool {
        match list {
            List::Tools => self.tools_list_changed,
            List::Prompts => self.prompts_list_changed,
            List::Resources | List::Templates => self.resources_list_changed,
            List::Tasks => false,
        }
    }
}

impl State {
    /// The client listens from now on.
    pub(super) fn listen<'m>(
        &mut self,
        message: &'m [u8],
        id: Id<'_>,
        params: Option<&RawValue>,
        mail: &mut Mail<'m>,
    ) {
        let servers = self.all_there();
        if servers.is_empty() {
            let error = answer::error(id.0, SERVER_GONE, "no MCP server is left");
            return mail.to_client.push(error.into());
        }
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let filter = params.and_then(|params: Params<'_>| params.notifications);
        let wants = filter.and_then(|filter| serde_json::from_str(filter.get()).ok());
        let filter = filter.map_or("{}", RawValue::get);
        let meta = meta(id.0);
        let told = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{\"notifications\":{filter},\"_meta\":{meta}}}}}"
        );
        mail.to_client.push(told.into_bytes().into());
        let listener = Listener {
            id: id.0.to_owned(),
            wants: wants.unwrap_or_default(),
            open: servers.len(),
            answer: None,
        };
        self.listeners.insert(id.key().into_owned(), listener);
        for server in servers {
            let pending = Pending::Listener(id.key().into_owned());
            self.send(server, id, message.into(), pending, mail);
        }
    }

    /// A server has no more to say.
    pub(super) fn fell_silent(&mut self, key: &str, answer: Option<&[u8]>, mail: &mut Mail<'_>) {
        let Some(listener) = self.listeners.get_mut(key) else {
            return;
        };
        listener.open = listener.open.saturating_sub(1);
        if let Some(answer) = answer {
            listener.answer = Some(answer.to_vec());
        }
        if listener.open == 0
            && let Some(listener) = self.listeners.remove(key)
        {
            let nobody =
                || answer::error(&listener.id, SERVER_GONE, "no MCP server tells of changes");
            let answer = listener.answer.unwrap_or_else(nobody);
            mail.to_client.push(answer.into());
        }
    }

    /// Tells those who listen that a list has changed.
    pub(super) fn tell_listeners(&self, list: List, mail: &mut Mail<'_>) {
        for listener in self.listeners.values() {
            if listener.wants.has(list) {
                let meta = meta(&listener.id);
                let method = list.change();
                let told = format!(
                    "{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{{\"_meta\":{meta}}}}}"
                );
                mail.to_client.push(told.into_bytes().into());
            }
        }
    }
}

/// What says which request a notification belongs to.
fn meta(id: &str) -> String {
    let key = json!("io.modelcontextprotocol/subscriptionId");
    format!("{{{key}:{id}}}")
}
