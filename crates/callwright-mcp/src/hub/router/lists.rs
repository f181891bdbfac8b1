//! The methods that list something, a page at a time: one row for each.

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ListKind {
    Tools,
    Prompts,
    Resources,
    Templates,
    Tasks,
}

/// The names around a list.
struct ListMethod {
    kind: ListKind,
    method: &'static str,
    /// The member of the result that has the entries.
    member: &'static str,
    /// The capability of servers that have them.
    capability: &'static str,
    /// The member that tells entries apart.
    key: &'static str,
    /// What a client subscribes to in order to hear of changes.
    subscription: &'static str,
}

/// In the order of [`ListKind`].
const LISTS: [ListMethod; 5] = [
    ListMethod {
        kind: ListKind::Tools,
        method: "tools/list",
        member: "tools",
        capability: "tools",
        key: "name",
        subscription: "toolsListChanged",
    },
    ListMethod {
        kind: ListKind::Prompts,
        method: "prompts/list",
        member: "prompts",
        capability: "prompts",
        key: "name",
        subscription: "promptsListChanged",
    },
    ListMethod {
        kind: ListKind::Resources,
        method: "resources/list",
        member: "resources",
        capability: "resources",
        key: "uri",
        subscription: "resourcesListChanged",
    },
    ListMethod {
        kind: ListKind::Templates,
        method: "resources/templates/list",
        member: "resourceTemplates",
        capability: "resources",
        key: "uriTemplate",
        subscription: "resourcesListChanged",
    },
    ListMethod {
        kind: ListKind::Tasks,
        method: "tasks/list",
        member: "tasks",
        capability: "tasks",
        key: "taskId",
        subscription: "tasksListChanged",
    },
];

impl ListKind {
    fn row(self) -> &'static ListMethod {
        &LISTS[self as usize]
    }

    pub(super) fn of_method(method: &str) -> Option<Self> {
        let row = LISTS.iter().find(|row| row.method == method)?;
        Some(row.kind)
    }

    /// What has changed, by the notification of a server.
    pub(super) fn of_change(method: &str) -> impl Iterator<Item = Self> {
        let capability = method
            .strip_prefix("notifications/")
            .and_then(|rest| rest.strip_suffix("/list_changed"));
        let rows = LISTS
            .iter()
            .filter(move |row| capability == Some(row.capability));
        rows.map(|row| row.kind)
    }

    pub(super) fn method(self) -> &'static str {
        self.row().method
    }

    pub(super) fn member(self) -> &'static str {
        self.row().member
    }

    pub(super) fn capability(self) -> &'static str {
        self.row().capability
    }

    pub(super) fn key(self) -> &'static str {
        self.row().key
    }

    pub(super) fn subscription(self) -> &'static str {
        self.row().subscription
    }

    /// The method of the notification that there are others now.
    pub(super) fn change_notification(self) -> String {
        format!("notifications/{}/list_changed", self.capability())
    }
}
