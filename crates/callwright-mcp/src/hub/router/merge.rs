//! Merges the pages of all servers into one list.
//!
//! Every entry stays byte for byte, except for the name by which the client knows it.

use std::borrow::Cow;

use callwright::internal::{Replacements, span_in};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Routing;
use super::lists::ListKind;
use crate::members::{member, string};

/// An entry of a list, and its identifier.
struct ListEntry<'m> {
    text: &'m str,
    key: Option<(&'m RawValue, Cow<'m, str>)>,
}

/// What all pages together say besides their entries.
#[derive(Debug, Default)]
struct PageMembers {
    /// Whether they have a `resultType`, as results since 2026-07-28 do.
    has_result_type: bool,
    /// How long they may be cached: as long as the shortest of them.
    time_to_live: Option<u64>,
    is_private: bool,
    scopes: usize,
    pages: usize,
}

impl Routing<'_, '_> {
    /// One list made of the servers' lists. `is_whole` says that all of them have answered.
    pub(super) fn merged(
        &mut self,
        list: ListKind,
        parts: &[(usize, &[String])],
        is_whole: bool,
    ) -> String {
        let mut others = PageMembers::default();
        let mut all: Vec<Cow<'_, str>> = Vec::new();
        for (server, pages) in parts {
            let mut entries = Vec::new();
            for page in *pages {
                let page: Option<&RawValue> = serde_json::from_str(page).ok();
                others.note(page);
                let listed = member(page, list.member()).map(RawValue::get);
                let listed = listed.and_then(|listed| serde_json::from_str(listed).ok());
                let listed: Vec<&RawValue> = listed.unwrap_or_default();
                entries.extend(listed.into_iter().map(|entry| {
                    let key = member(Some(entry), list.key());
                    ListEntry {
                        text: entry.get(),
                        key: key.and_then(|key| Some((key, string(key)?))),
                    }
                }));
            }
            all.extend(self.shown(list, *server, &entries));
        }
        let (member, all, others) = (list.member(), all.join(","), others.merged(is_whole));
        format!("{{\"{member}\":[{all}]{others}}}")
    }

    /// The entries of a server as the client gets them. Their identifiers are remembered.
    fn shown<'e>(
        &mut self,
        list: ListKind,
        server: usize,
        entries: &[ListEntry<'e>],
    ) -> Vec<Cow<'e, str>> {
        let names = match list {
            ListKind::Tools => &mut self.state.servers[server].tools,
            ListKind::Prompts => &mut self.state.servers[server].prompts,
            _ => {
                let entries = entries.iter();
                let shown = entries.filter(|entry| self.is_first(list, server, entry));
                return shown.map(|entry| entry.text.into()).collect();
            }
        };
        let keys = entries.iter().filter_map(|entry| entry.key.as_ref());
        let originals: Vec<Cow<'_, str>> = keys.map(|(_, name)| name.clone()).collect();
        let mut shown = names.shown(&originals).into_iter();
        let renamed = |entry: &ListEntry<'e>| {
            let Some((written, _)) = &entry.key else {
                return Cow::Borrowed(entry.text);
            };
            let name = json!(shown.next().unwrap_or_default()).to_string();
            let change = (span_in(entry.text, written.get()), name);
            Replacements::from_iter([change]).in_text(entry.text).into()
        };
        entries.iter().map(renamed).collect()
    }

    /// Records which server an entry belongs to. `false` if another server already has a resource with the same URI.
    fn is_first(&mut self, list: ListKind, server: usize, entry: &ListEntry<'_>) -> bool {
        let Some((_, key)) = &entry.key else {
            return true;
        };
        let other = match list {
            ListKind::Resources => self.state.routes.has_resource(server, key),
            ListKind::Templates => self.state.routes.has_template(server, key),
            _ => {
                self.state.routes.has_task(server, key);
                None
            }
        };
        if let Some(other) = other {
            let (first, second) = (
                &self.state.servers[other].name,
                &self.state.servers[server].name,
            );
            self.out.warnings.push(format!(
                "the MCP servers {first:?} and {second:?} both have the resource {key:?}; requests for it go to the first"
            ));
        }
        other.is_none()
    }
}

impl PageMembers {
    fn note(&mut self, page: Option<&RawValue>) {
        self.pages += 1;
        self.has_result_type |= member(page, "resultType").is_some();
        let time = member(page, "ttlMs").and_then(|time| time.get().parse().ok());
        self.time_to_live = self.time_to_live.into_iter().chain(time).min();
        if let Some(scope) = member(page, "cacheScope") {
            self.scopes += 1;
            self.is_private |= scope.get() != "\"public\"";
        }
    }

    fn merged(&self, is_whole: bool) -> String {
        let mut text = String::new();
        let mut add = |key: &str, value: Value| text.push_str(&format!(",\"{key}\":{value}"));
        if self.has_result_type {
            add("resultType", json!("complete"));
        }
        if let Some(time) = self.time_to_live {
            add("ttlMs", json!(if is_whole { time } else { 0 }));
        }
        if self.scopes > 0 {
            let is_public = !self.is_private && self.scopes == self.pages;
            let scope = if is_public { "public" } else { "private" };
            add("cacheScope", json!(scope));
        }
        text
    }
}
