//! The router's knowledge about one server.

use std::collections::HashMap;

use serde_json::Value;

use super::PendingRequest;
use super::lists::ListKind;
use super::server_info::ServerInfo;
use crate::hub::group::GroupMember;
use crate::hub::names::PrefixedNames;

#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) name: String,
    pub(super) prefix: String,
    /// Requests that it has not answered, by [`crate::message::Id::key`].
    pub(super) pending: HashMap<String, PendingRequest>,
    pub(super) gone: Option<String>,
    pub(super) info: Option<ServerInfo>,
    pub(super) tools: PrefixedNames,
    pub(super) prompts: PrefixedNames,
    /// Pages of lists that came after the client had its answer: the next answer includes them.
    pub(super) late_lists: HashMap<ListKind, Vec<String>>,
    /// Whether the operator was warned that it writes lines that are not messages.
    pub(super) is_noisy: bool,
}

impl ServerState {
    pub(super) fn new(member: &GroupMember) -> Self {
        ServerState {
            name: member.name.clone(),
            prefix: member.prefix.clone(),
            pending: HashMap::new(),
            gone: None,
            info: None,
            tools: PrefixedNames::new(member.prefix.clone()),
            prompts: PrefixedNames::new(member.prefix.clone()),
            late_lists: HashMap::new(),
            is_noisy: false,
        }
    }

    pub(super) fn is_there(&self) -> bool {
        self.gone.is_none()
    }

    pub(super) fn has_capability(&self, capability: &str) -> bool {
        let info = self.info.as_ref();
        let value = info.and_then(|info| info.capabilities.get(capability));
        value.is_some_and(|value| *value != Value::Null)
    }

    /// Whether it may have something to list. Many servers forget to declare that they have tools.
    pub(super) fn may_list(&self, list: ListKind) -> bool {
        match list {
            ListKind::Tools => self.info.is_some(),
            _ => self.has_capability(list.capability()),
        }
    }
}
