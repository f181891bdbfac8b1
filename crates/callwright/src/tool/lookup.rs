//! The tools of a gate by name; for an unknown name, the tool that was evidently meant, or the closest ones.
//!
//! An unknown name is compared with every tool, which takes milliseconds where there are thousands, and models call the same
//! wrong name again and again: so the result is remembered.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ahash::AHashMap;

use super::Tool;
use super::sent_name::{after_server, is_repeated, own_name, undecorated, with_plain_separators};
use crate::nearest::{has_same_letters, nearest, same_spelling};
use crate::validate::Secrets;
use crate::vocabulary::template;

/// How many names are remembered before all are forgotten. A name takes a few hundred bytes with its candidates.
const MOST_NAMES: usize = 1_024;

/// Longer names are not remembered; providers allow at most 64 characters.
const LONGEST_NAME: usize = 256;

/// No tool has this name; these are the closest.
#[derive(Debug)]
pub(crate) struct UnknownTool {
    pub(crate) name: String,
    pub(crate) nearest: Vec<String>,
}

/// All tools of a gate.
#[derive(Debug, Default)]
pub(crate) struct ToolSet {
    tools: AHashMap<String, Arc<Tool>>,
    guesses: Guesses,
    /// Everything that any of the tools marks as a secret.
    all_secrets: OnceLock<Option<Arc<Secrets>>>,
}

/// The results for unknown names.
#[derive(Debug, Default)]
struct Guesses(Mutex<AHashMap<String, Guess>>);

#[derive(Debug, Clone)]
struct Guess {
    /// The one tool that was evidently meant.
    meant: Option<String>,
    nearest: Vec<String>,
}

impl Guesses {
    fn of(&self, name: &str, guess: impl FnOnce() -> Guess) -> Guess {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(guess) = known().get(name) {
            return guess.clone();
        }
        let guess = guess();
        if name.len() <= LONGEST_NAME {
            let mut known = known();
            if known.len() >= MOST_NAMES {
                known.clear();
            }
            known.insert(name.to_owned(), guess.clone());
        }
        guess
    }
}

impl ToolSet {
    /// Adds a tool; `false` if the name is already taken.
    pub(crate) fn insert(&mut self, tool: Tool) -> bool {
        let name = tool.name().to_owned();
        self.tools.insert(name, Arc::new(tool)).is_none()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(AsRef::as_ref)
    }

    /// Everything that any of the tools marks as a secret, for calls that may be meant for any of them.
    pub(crate) fn all_secrets(&self) -> Option<&Arc<Secrets>> {
        let merged = || {
            let marked = self.iter().filter_map(Tool::secrets);
            Secrets::of_any(marked.map(AsRef::as_ref)).map(Arc::new)
        };
        self.all_secrets.get_or_init(merged).as_ref()
    }

    /// The tool with this name, or the closest names.
    pub(crate) fn find(&self, name: &str) -> Result<&Arc<Tool>, UnknownTool> {
        self.get(name).ok_or_else(|| UnknownTool {
            name: name.to_owned(),
            nearest: self.guess(name).nearest,
        })
    }

    /// The names closest to an unknown one, the closest first, at most three.
    pub(crate) fn nearest(&self, name: &str) -> Vec<&str> {
        nearest(name, self.iter().map(Tool::name), 3)
    }

    /// The tool with this name, or the one that was evidently meant.
    pub(crate) fn meant(&self, name: &str) -> Option<&Arc<Tool>> {
        self.get(name).or_else(|| self.meant_tool(name))
    }

    /// The one tool that a name evidently means: equal except for case and separators, once everything around it that says
    /// nothing is left out ([`super::sent_name`]). A name in another namespace is another tool.
    pub(crate) fn meant_tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.get(&self.guess(name).meant?)
    }

    fn guess(&self, name: &str) -> Guess {
        self.guesses.of(name, || Guess {
            meant: self.look_for(name).map(|tool| tool.name().to_owned()),
            nearest: self.nearest(name).into_iter().map(str::to_owned).collect(),
        })
    }

    fn look_for(&self, sent: &str) -> Option<&Tool> {
        let sent = template::without_invisible(sent);
        let (name, is_certain) = undecorated(&sent)?;
        let mut found = self.all(|tool| same_spelling(tool, name));
        if found.is_empty() {
            let bare = template::without_namespace(name);
            let plain = with_plain_separators(name);
            found = self.all(|tool| {
                let is_bare = match bare {
                    Some(bare) => same_spelling(tool, bare),
                    None => own_name(tool).is_some_and(|own| same_spelling(own, name)),
                };
                is_bare || same_spelling(&with_plain_separators(tool), &plain)
            });
        }
        match found[..] {
            [only] => (is_certain || only.only_reads()).then_some(only),
            [] => self.repeated(name).or_else(|| self.of_a_server(name)),
            _ => None,
        }
    }

    fn all(&self, is_meant: impl Fn(&str) -> bool) -> Vec<&Tool> {
        self.iter().filter(|tool| is_meant(tool.name())).collect()
    }

    /// The tool whose exact name this is several times in a row: `searchsearch`. Clients that join the pieces of a stream send
    /// it if each piece has the name. With a separator it may be another name: `search_search`.
    fn repeated(&self, name: &str) -> Option<&Tool> {
        let is_like = |tool: &str| is_repeated(tool, name) || has_same_letters(tool, name);
        match self.all(is_like)[..] {
            [only] if is_repeated(only.name(), name) => Some(only),
            _ => None,
        }
    }

    /// The tool that only reads and has the name after that of a server, which may not be ours. Not if it is known under the
    /// name of another server too.
    fn of_a_server(&self, name: &str) -> Option<&Tool> {
        let (server, bare) = after_server(name)?;
        let is_meant = |name: &str| same_spelling(name, bare);
        let of_any = |tool: &str| {
            let of_another = || after_server(tool).is_some_and(|(_, own)| is_meant(own));
            is_meant(tool) || of_another() || same_spelling(tool, server)
        };
        match self.all(of_any)[..] {
            [only] if only.only_reads() && is_meant(only.name()) => Some(only),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_NAMES, ToolSet};
    use crate::tool::Tool;
    use crate::validate::{CompileBudget, SchemaCache};
    use crate::vocabulary::{OutputPolicy, ToolSpec, Validation};

    #[test]
    fn lookups_stay_the_same_however_many_names_are_remembered() {
        let spec = ToolSpec::without_schema("read_file");
        let mut tools = ToolSet::default();
        tools.insert(Tool::compile(
            spec,
            Validation::Strict,
            OutputPolicy::default(),
            &SchemaCache::shared(),
            &mut CompileBudget::default(),
        ));
        for _ in 0..2 {
            let unknown = tools.find("raed_file").expect_err("no such tool");
            assert_eq!(unknown.nearest, ["read_file"]);
            assert!(tools.meant_tool("readFile").is_some());
            for number in 0..MOST_NAMES {
                assert!(tools.meant_tool(&format!("other {number}")).is_none());
            }
        }
    }
}
