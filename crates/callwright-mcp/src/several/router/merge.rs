//! The pages of several servers in one list.
//!
//! Every entry stays byte for byte, but for the name that it is known by to the client.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::State;
use super::list::List;
use crate::message::{place, with_edits};

type Members<'m> = HashMap<String, &'m RawValue>;

/// What all pages together say beside their entries.
#[derive(Debug, Default)]
struct Aside {
    /// Whether they say that they are all, as results since 2026-07-28 do.
    says_all: bool,
    /// How long they may be kept: as long as the shortest of them.
    time: Option<u64>,
    is_private: bool,
    scopes: usize,
    pages: usize,
}

impl State {
    /// One list out of those of the servers, and what two of them have. `is_whole` says that all of them have answered.
    pub(super) fn merged(
        &mut self,
        list: List,
        parts: &[(usize, &[String])],
        is_whole: bool,
        warnings: &mut Vec<String>,
    ) -> String {
        let mut aside = Aside::default();
        let mut entries = String::new();
        for (server, pages) in parts {
            let members: Vec<Members<'_>> = pages
                .iter()
                .filter_map(|page| serde_json::from_str(page).ok())
                .collect();
            let mut found: Vec<&RawValue> = Vec::new();
            for page in &members {
                aside.note(page);
                let listed = page.get(list.member());
                let listed = listed.and_then(|listed| serde_json::from_str(listed.get()).ok());
                found.extend::<Vec<&RawValue>>(listed.unwrap_or_default());
            }
            for entry in self.shown(list, *server, &found, warnings) {
                if !entries.is_empty() {
                    entries.push(',');
                }
                entries.push_str(&entry);
            }
        }
        let member = list.member();
        let aside = aside.told(is_whole);
        format!("{{\"{member}\":[{entries}]{aside}}}")
    }

    /// The entries of a server as the client gets them. What they are known by is remembered.
    fn shown<'m>(
        &mut self,
        list: List,
        server: usize,
        entries: &[&'m RawValue],
        warnings: &mut Vec<String>,
    ) -> Vec<Cow<'m, str>> {
        let keys: Vec<Option<(&RawValue, String)>> = entries
            .iter()
            .map(|entry| {
                let members: Members<'_> = serde_json::from_str(entry.get()).ok()?;
                let written = *members.get(list.key())?;
                Some((written, serde_json::from_str(written.get()).ok()?))
            })
            .collect();
        let whole = entries.iter().map(|entry| Cow::Borrowed(entry.get()));
        let standing = &mut self.standing[server];
        let names = match list {
            List::Tools => &mut standing.tools,
            List::Prompts => &mut standing.prompts,
            List::Resources | List::Templates => {
                let mut shown = Vec::with_capacity(entries.len());
                for (entry, key) in whole.zip(&keys) {
                    let uri = key.as_ref().map(|(_, uri)| uri);
                    let other = uri.and_then(|uri| match list {
                        List::Templates => Some((uri, self.routes.has_template(server, uri)?)),
                        _ => Some((uri, self.routes.has_resource(server, uri)?)),
                    });
                    match other {
                        None => shown.push(entry),
                        Some((uri, other)) => warnings.push(format!(
                            "the MCP servers {:?} and {:?} both have the resource {uri:?}; the first one is asked for it",
                            self.standing[other].name, self.standing[server].name
                        )),
                    }
                }
                return shown;
            }
            List::Tasks => {
                for (_, task) in keys.iter().flatten() {
                    self.routes.has_task(server, task);
                }
                return whole.collect();
            }
        };
        let originals: Vec<Cow<'_, str>> = keys
            .iter()
            .flatten()
            .map(|(_, name)| name.as_str().into())
            .collect();
        let mut shown = names.shown(&originals).into_iter();
        let renamed = |(entry, key): (&&'m RawValue, &Option<(&RawValue, String)>)| {
            let entry = entry.get();
            let (Some((written, _)), true) = (key, key.is_some()) else {
                return Cow::Borrowed(entry);
            };
            let name = json!(shown.next().unwrap_or_default()).to_string();
            let range = place(entry.as_bytes(), written.get()).unwrap_or_default();
            let renamed = with_edits(entry.as_bytes(), vec![(range, name)]);
            String::from_utf8(renamed).map_or(Cow::Borrowed(entry), Cow::Owned)
        };
        entries.iter().zip(&keys).map(renamed).collect()
    }
}

impl Aside {
    fn note(&mut self, page: &Members<'_>) {
        self.pages += 1;
        self.says_all |= page.contains_key("resultType");
        if let Some(time) = page.get("ttlMs").and_then(|time| time.get().parse().ok()) {
            self.time = Some(self.time.map_or(time, |shortest: u64| shortest.min(time)));
        }
        if let Some(scope) = page.get("cacheScope") {
            self.scopes += 1;
            self.is_private |= scope.get() != "\"public\"";
        }
    }

    fn told(&self, is_whole: bool) -> String {
        let mut told = String::new();
        let mut tell = |key: &str, value: Value| told.push_str(&format!(",\"{key}\":{value}"));
        if self.says_all {
            tell("resultType", json!("complete"));
        }
        if let Some(time) = self.time {
            tell("ttlMs", json!(if is_whole { time } else { 0 }));
        }
        if self.scopes > 0 {
            let is_public = !self.is_private && self.scopes == self.pages;
            tell(
                "cacheScope",
                json!(if is_public { "public" } else { "private" }),
            );
        }
        told
    }
}
