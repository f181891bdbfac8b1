//! The tools of a gate by name; for an unknown name, the tool that was evidently meant, or the closest ones.
//!
//! An unknown name is compared with every tool, which takes milliseconds where there are thousands, and models call the same
//! wrong name again and again: so the result is remembered.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ahash::AHashMap;

use super::Tool;
use crate::nearest::{nearest, same_spelling};
use crate::validate::Secrets;
use crate::vocabulary::template::is_token_name;

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

    /// The one tool that a name evidently means: equal except for case and separators, with a meaningless namespace
    /// (`functions.bash`) or MCP's (`mcp__memory__read_graph`) on one side only, in quotes, or followed by empty parentheses or
    /// a control token. A name in another namespace is another tool.
    pub(crate) fn meant_tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.get(&self.guess(name).meant?)
    }

    fn guess(&self, name: &str) -> Guess {
        self.guesses.of(name, || Guess {
            meant: self.look_for(name).map(|tool| tool.name().to_owned()),
            nearest: self.nearest(name).into_iter().map(str::to_owned).collect(),
        })
    }

    fn look_for(&self, name: &str) -> Option<&Tool> {
        let (name, tokens) = name.split_at(name.find("<|").unwrap_or(name.len()));
        let name = undecorated(name.trim());
        let all = |same: &dyn Fn(&str) -> bool| -> Vec<&Tool> {
            self.iter().filter(|tool| same(tool.name())).collect()
        };
        let mut found = all(&|tool| same_spelling(tool, name));
        let mut careful = !is_debris(tokens);
        if found.is_empty() {
            careful |= is_of_a_server(name);
            let bare = bare_name(name);
            let dotted = without_dots(name);
            found = all(&|tool| {
                let is_bare = match bare {
                    Some(bare) => same_spelling(tool, bare),
                    None => bare_name(tool).is_some_and(|own| same_spelling(own, name)),
                };
                is_bare || same_spelling(&without_dots(tool), &dotted)
            });
        }
        match found[..] {
            [only] if !careful || only.only_reads() => Some(only),
            _ => None,
        }
    }
}

/// Whether a name belongs to a particular MCP server, which may not be ours.
fn is_of_a_server(name: &str) -> bool {
    name.starts_with("mcp__")
}

/// Whether a name is followed only by control tokens and the words that a chat template puts between them.
fn is_debris(tokens: &str) -> bool {
    const CHANNELS: [&str; 6] = ["", "commentary", "analysis", "final", "json", "code"];
    tokens
        .split("<|")
        .all(|token| match token.split_once("|>") {
            Some((name, channel)) => is_token_name(name) && CHANNELS.contains(&channel.trim()),
            None => token.is_empty(),
        })
}

/// A name without quotes around it, and without the empty parentheses of a call.
fn undecorated(name: &str) -> &str {
    const QUOTES: [char; 3] = ['"', '\'', '`'];
    let quoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
    let name = QUOTES.into_iter().find_map(quoted).unwrap_or(name);
    name.strip_suffix("()").unwrap_or(name)
}

/// A name with `_` for each dot: where names may not have dots, providers and servers write them so. Dots between digits are
/// those of a version.
fn without_dots(name: &str) -> String {
    let bytes = name.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let plain = |(at, c)| match c {
        '.' if at > 0 && !(is_digit(at - 1) && is_digit(at + 1)) => '_',
        other => other,
    };
    name.char_indices().map(plain).collect()
}

/// A name without the namespace that providers and clients prepend; `None` if it has none.
fn bare_name(name: &str) -> Option<&str> {
    ["functions.", "function.", "tools.", "default_api."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .map(without_number)
        .or_else(|| {
            let (server, bare) = name.strip_prefix("mcp__")?.split_once("__")?;
            (!server.is_empty()).then_some(bare)
        })
}

/// A name without the number of the call in the conversation, which Kimi writes after it: `functions.bash:0`. Without the
/// namespace the number may be an argument: `delete_row:5`.
fn without_number(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((bare, number))
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            bare
        }
        _ => name,
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
