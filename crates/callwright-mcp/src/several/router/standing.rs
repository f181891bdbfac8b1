//! What is known of one server.

use std::collections::HashMap;

use serde_json::Value;

use super::Pending;
use super::hello::Hello;
use super::list::List;
use crate::several::group::Member;
use crate::several::names::Names;

/// What is known of one server.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) name: String,
    pub(super) prefix: String,
    /// Requests that it has not answered, by [`crate::message::Id::key`].
    pub(super) pending: HashMap<String, Pending>,
    /// Why it is not there.
    pub(super) gone: Option<String>,
    /// What it said of itself.
    pub(super) hello: Option<Hello>,
    pub(super) tools: Names,
    pub(super) prompts: Names,
    /// Lists that came after the client had got its answer: the next answer has them.
    pub(super) late: HashMap<List, Vec<String>>,
    /// Whether the operator was told that it writes other things than messages.
    pub(super) is_noisy: bool,
}

impl Standing {
    pub(super) fn new(member: &Member) -> Self {
        Standing {
            name: member.name.clone(),
            prefix: member.prefix.clone(),
            pending: HashMap::new(),
            gone: None,
            hello: None,
            tools: Names::new(member.prefix.clone()),
            prompts: Names::new(member.prefix.clone()),
            late: HashMap::new(),
            is_noisy: false,
        }
    }

    /// Whether it can do something, as far as it has said.
    pub(super) fn can(&self, what: &str) -> bool {
        let says = |hello: &Hello| {
            hello
                .capabilities
                .get(what)
                .is_some_and(|it| *it != Value::Null)
        };
        self.hello.as_ref().is_some_and(says)
    }

    /// Whether it may have something to list. Servers that forget to say that they have tools are many.
    pub(super) fn has(&self, list: List) -> bool {
        match list {
            List::Tools => self.hello.is_some(),
            _ => self.can(list.ability()),
        }
    }
}
