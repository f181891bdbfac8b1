//! Routes server messages: to the client, or into a merged answer.

use callwright::internal::{Replacements, span_in};
use memchr::memmem;
use serde_json::value::RawValue;

use super::lists::ListKind;
use super::{PendingRequest, Routing};
use crate::hub::request_ids::marked;
use crate::members::{member, string};
use crate::message::{Id, Message, cancelled_id};

impl<'m> Routing<'_, 'm> {
    pub(super) fn route_server_message(
        &mut self,
        server: usize,
        message: &'m [u8],
        read: Message<'m>,
    ) {
        match read {
            Message::Request { id, params, .. } => {
                let token = member(member(params, "_meta"), "progressToken");
                let ids = [Some(id.0), token.map(RawValue::get)];
                self.out
                    .to_client
                    .push(with_marks(server, message, ids).into());
            }
            Message::Notification { method, params } => {
                for list in ListKind::of_change(&method) {
                    self.state.servers[server].late_lists.remove(&list);
                }
                match method.as_ref() {
                    // The client already has ours.
                    "notifications/subscriptions/acknowledged" => {}
                    "notifications/cancelled" => {
                        let ids = [cancelled_id(params).map(|id| id.0)];
                        self.out
                            .to_client
                            .push(with_marks(server, message, ids).into());
                    }
                    _ => self.out.to_client.push(message.into()),
                }
            }
            Message::Response { id, result, error } => {
                self.server_response(server, message, id, (result, error));
            }
            Message::Batch(_) | Message::Other => {
                let from = &mut self.state.servers[server];
                if !message.trim_ascii().is_empty() && !std::mem::replace(&mut from.is_noisy, true)
                {
                    let name = &from.name;
                    self.out.warnings.push(format!(
                        "the MCP server {name:?} writes lines that are not messages; the client does not get them"
                    ));
                }
            }
        }
    }

    fn server_response(
        &mut self,
        server: usize,
        message: &'m [u8],
        id: Id<'_>,
        (result, error): (Option<&RawValue>, Option<&RawValue>),
    ) {
        // An unsolicited answer of this server might be mistaken for that of another one.
        let pending = &mut self.state.servers[server].pending;
        let request = pending
            .remove(id.key().as_ref())
            .or_else(|| pending.remove(&id.key_as_other_type()?));
        match request {
            None => {}
            Some(PendingRequest::Passes { .. }) => {
                if memmem::find(message, b"\"taskId\"").is_some()
                    && let Some(task) = task_id(result)
                {
                    self.state.routes.has_task(server, &task);
                }
                self.out.to_client.push(message.into());
            }
            Some(PendingRequest::Part(number)) => {
                let outcome = error.map_or(Ok(result), |error| Err(error.get()));
                self.part_answered(number, server, Some(message), outcome);
            }
        }
    }
}

/// The message with ids that identify the server for the client.
fn with_marks<'i>(
    server: usize,
    message: &[u8],
    ids: impl IntoIterator<Item = Option<&'i str>>,
) -> Vec<u8> {
    let ids = ids.into_iter().flatten();
    let marks = ids.map(|id| (span_in(message, id), marked(server, id)));
    marks.collect::<Replacements>().in_bytes(message)
}

/// The task in a result: in a member, or since 2026-07-28 the result itself.
fn task_id(result: Option<&RawValue>) -> Option<String> {
    let task = member(result, "task").or(result);
    let id = member(task, "taskId").and_then(string)?;
    Some(id.into_owned())
}
