//! The methods that list something, one page at a time.

use self::ListKind::{Prompts, Resources, Tasks, Templates, Tools};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ListKind {
    Tools,
    Prompts,
    Resources,
    Templates,
    Tasks,
}

/// For each list: its method, the result member that contains the entries, the capability of servers that have them,
/// and the member that identifies an entry.
type ListMethod = (
    ListKind,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

/// In the order of [`ListKind`].
#[rustfmt::skip]
const LISTS: [ListMethod; 5] = [
    (Tools, "tools/list", "tools", "tools", "name"),
    (Prompts, "prompts/list", "prompts", "prompts", "name"),
    (Resources, "resources/list", "resources", "resources", "uri"),
    (Templates, "resources/templates/list", "resourceTemplates", "resources", "uriTemplate"),
    (Tasks, "tasks/list", "tasks", "tasks", "taskId"),
];

impl ListKind {
    pub(super) fn of_method(method: &str) -> Option<Self> {
        let row = LISTS.iter().find(|row| row.1 == method)?;
        Some(row.0)
    }

    /// The lists that have changed, according to a server's notification.
    pub(super) fn of_change(method: &str) -> impl Iterator<Item = Self> {
        let capability = method
            .strip_prefix("notifications/")
            .and_then(|rest| rest.strip_suffix("/list_changed"));
        let rows = LISTS.iter().filter(move |row| capability == Some(row.3));
        rows.map(|row| row.0)
    }

    pub(super) fn method(self) -> &'static str {
        LISTS[self as usize].1
    }

    pub(super) fn member(self) -> &'static str {
        LISTS[self as usize].2
    }

    pub(super) fn capability(self) -> &'static str {
        LISTS[self as usize].3
    }

    pub(super) fn key(self) -> &'static str {
        LISTS[self as usize].4
    }
}
