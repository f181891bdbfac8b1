//! What the servers send: to the client, or into an answer that is put together.

use serde::Deserialize;
use serde_json::value::RawValue;

use memchr::memmem;

use super::list::List;
use super::{Mail, Pending, State};
use crate::message::{Id, Message, place, with_edits};
use crate::several::ids::marked;

#[derive(Deserialize)]
struct WithMeta<'m> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'m RawValue>,
}

#[derive(Deserialize)]
struct Meta<'m> {
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'m RawValue>,
}

#[derive(Deserialize)]
struct Cancelled<'m> {
    #[serde(borrow, rename = "requestId")]
    request: Option<&'m RawValue>,
}

/// A result that is a task, as protocols write it: in a member, or since 2026-07-28 as the result itself.
#[derive(Deserialize)]
struct Tasked {
    task: Option<Task>,
    #[serde(rename = "taskId")]
    id: Option<String>,
}

#[derive(Deserialize)]
struct Task {
    #[serde(rename = "taskId")]
    id: String,
}

impl State {
    pub(super) fn server_sends<'m>(
        &mut self,
        server: usize,
        message: &'m [u8],
        read: Message<'m>,
        mail: &mut Mail<'m>,
    ) {
        match read {
            Message::Request { id, params, .. } => {
                let ids = [Some(id.0), params.and_then(token)];
                let edits = ids.into_iter().flatten().filter_map(|id| {
                    let range = place(message, id)?;
                    Some((range, marked(server, id)))
                });
                let marked = with_edits(message, edits.collect());
                mail.to_client.push(marked.into());
            }
            Message::Notification { method, params } => {
                for list in List::of_change(&method) {
                    self.standing[server].late.remove(list);
                }
                // The client has got ours.
                if method == "notifications/subscriptions/acknowledged" {
                    return;
                }
                let cancels = method == "notifications/cancelled";
                let request = params.filter(|_| cancels).and_then(|params| {
                    let cancelled: Cancelled<'_> = serde_json::from_str(params.get()).ok()?;
                    let request = cancelled.request?.get();
                    Some((place(message, request)?, marked(server, request)))
                });
                mail.to_client.push(match request {
                    Some(edit) => with_edits(message, vec![edit]).into(),
                    None => message.into(),
                });
            }
            Message::Response { id, result, error } => {
                self.server_answers(server, message, id, result, error, mail);
            }
            Message::Batch(_) | Message::Other => {
                if message.trim_ascii().is_empty() {
                    return;
                }
                let standing = &mut self.standing[server];
                if !std::mem::replace(&mut standing.is_noisy, true) {
                    let name = &standing.name;
                    mail.warnings.push(format!(
                        "the MCP server {name:?} writes lines that are no messages of the protocol; the client does not get them"
                    ));
                }
            }
        }
    }

    fn server_answers<'m>(
        &mut self,
        server: usize,
        message: &'m [u8],
        id: Id<'_>,
        result: Option<&RawValue>,
        error: Option<&RawValue>,
        mail: &mut Mail<'m>,
    ) {
        // What nobody asked this server for might pass for the answer of another one.
        let Some(pending) = self.standing[server].pending.remove(id.key().as_ref()) else {
            return;
        };
        match pending {
            Pending::Passes { .. } => {
                if memmem::find(message, b"\"taskId\"").is_some()
                    && let Some(task) = result.and_then(task)
                {
                    self.routes.has_task(server, &task);
                }
                mail.to_client.push(message.into());
            }
            Pending::Part(number) => match (result, error) {
                (_, Some(error)) => self.part_failed(number, server, error.get(), mail),
                (result, None) => {
                    let result = result.map_or("{}", RawValue::get);
                    self.part_answered(number, server, result, mail);
                }
            },
            Pending::Listener(key) => self.fell_silent(&key, Some(message), mail),
            Pending::Search(number) => {
                self.search_answered(number, server, message, error.is_some(), mail);
            }
        }
    }
}

/// What a server wants to hear of the progress of its request by.
fn token(params: &RawValue) -> Option<&str> {
    let params: WithMeta<'_> = serde_json::from_str(params.get()).ok()?;
    let meta: Meta<'_> = serde_json::from_str(params.meta?.get()).ok()?;
    meta.token.map(RawValue::get)
}

fn task(result: &RawValue) -> Option<String> {
    let tasked: Tasked = serde_json::from_str(result.get()).ok()?;
    tasked.task.map(|task| task.id).or(tasked.id)
}
