//! Things that servers list, a page at a time.

use serde_json::json;

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
    Tasks,
}

impl List {
    /// What a method lists.
    pub(super) fn of(method: &str) -> Option<Self> {
        Some(match method {
            "tools/list" => List::Tools,
            "prompts/list" => List::Prompts,
            "resources/list" => List::Resources,
            "resources/templates/list" => List::Templates,
            "tasks/list" => List::Tasks,
            _ => return None,
        })
    }

    /// The member of the answer that has them.
    pub(super) fn member(self) -> &'static str {
        match self {
            List::Tools => "tools",
            List::Prompts => "prompts",
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
            List::Tasks => "tasks",
        }
    }

    /// The capability of a server that has them.
    pub(super) fn ability(self) -> &'static str {
        match self {
            List::Templates => "resources",
            other => other.member(),
        }
    }

    /// What each of them is known by.
    pub(super) fn key(self) -> &'static str {
        match self {
            List::Tools | List::Prompts => "name",
            List::Resources => "uri",
            List::Templates => "uriTemplate",
            List::Tasks => "taskId",
        }
    }

    /// The message that there are others now.
    pub(super) fn changed(self) -> Vec<u8> {
        let method = self.change();
        json!({"jsonrpc": "2.0", "method": method})
            .to_string()
            .into_bytes()
    }

    /// Its method.
    pub(super) fn change(self) -> String {
        format!("notifications/{}/list_changed", self.ability())
    }

    /// What has changed, as a server says it.
    pub(super) fn of_change(method: &str) -> &'static [Self] {
        match method {
            "notifications/tools/list_changed" => &[List::Tools],
            "notifications/prompts/list_changed" => &[List::Prompts],
            "notifications/resources/list_changed" => &[List::Resources, List::Templates],
            _ => &[],
        }
    }
}
