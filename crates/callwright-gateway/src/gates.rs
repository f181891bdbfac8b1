//! A cache of compiled gates, keyed by the bytes of the tool list. Agents send the same tools with every request.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use callwright::admit::MemoryLedger;
use callwright::policy::Policy;
use callwright::wire::read_tools;
use callwright::{Gate, ToolSpec};
use callwright_http::unblocked;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_128;

/// How many bytes one generation may take. A tool list has 2 to 200 kB, and two generations are kept, so entries in
/// use survive.
const GENERATION_BYTES: usize = 24 * 1024 * 1024;

/// The estimated memory of a compiled list, on the safe side: this many times its text, plus a fixed amount.
const BYTES_PER_BYTE: usize = 12;
const BYTES_PER_LIST: usize = 16 * 1024;

/// The tools of a request.
#[derive(Debug)]
pub(crate) struct RequestTools {
    pub(crate) gate: Arc<Gate>,
    /// Whether every tool was understood. If not, a call of an unknown tool may be a call of one of the others.
    pub(crate) is_complete: bool,
    /// Where conversations are counted, each only for the duration of its answer.
    pub(crate) ledger: Arc<MemoryLedger>,
    /// The list as written: with a hash alone, a crafted list could collide with another.
    written: Box<str>,
}

impl RequestTools {
    /// `None` if there is no tool whose calls could be judged.
    fn read(written: &str, policy: &Policy) -> Option<Self> {
        let entries: Vec<&RawValue> = serde_json::from_str(written).ok()?;
        let mut tools: Vec<ToolSpec> = Vec::new();
        let mut names = HashSet::new();
        let mut is_complete = true;
        for entry in entries {
            let namespace = Namespace::read(entry.get());
            let (prefix, entries) = match &namespace {
                Some(namespace) => (format!("{}.", namespace.name), &namespace.tools[..]),
                None => (String::new(), &[entry][..]),
            };
            for entry in entries {
                let Ok(read) = read_tools(entry.get()) else {
                    is_complete = false;
                    continue;
                };
                // The provider's built-in tools have no name here.
                is_complete &= !read.is_empty();
                for mut tool in read {
                    tool.name.insert_str(0, &prefix);
                    // The provider takes one of two tools with the same name, and we do not know which.
                    if !names.insert(tool.name.clone()) {
                        return None;
                    }
                    tools.push(tool);
                }
            }
        }
        if !tools.iter().any(|tool| tool.input_schema.is_some()) {
            return None;
        }
        let ledger = Arc::new(MemoryLedger::default());
        let gate = Gate::builder().tools(tools).policy(policy.clone());
        let gate = gate.ledger(Arc::clone(&ledger) as _).build().ok()?;
        Some(RequestTools {
            gate: Arc::new(gate),
            is_complete,
            ledger,
            written: written.into(),
        })
    }

    /// Whether calls of a tool are judged: it has a schema, or it is known not to exist.
    pub(crate) fn judges(&self, tool: &str) -> bool {
        match self.gate.tool(tool) {
            Some(tool) => tool.spec().input_schema.is_some(),
            None => self.is_complete,
        }
    }
}

/// Tools of the responses API under a common namespace. Their calls carry it, and are read as `namespace.tool`.
#[derive(Deserialize)]
struct Namespace<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    name: Cow<'a, str>,
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

impl<'a> Namespace<'a> {
    fn read(entry: &'a str) -> Option<Self> {
        let read: Namespace<'a> = serde_json::from_str(entry).ok()?;
        (read.kind == "namespace").then_some(read)
    }
}

/// The gates of recent requests.
#[derive(Debug, Default)]
pub(crate) struct GateCache(Mutex<Generations>);

/// `None` if none of the tools can be judged.
type CachedTools = Option<Arc<RequestTools>>;

type Compiled = HashMap<u128, CachedTools>;

#[derive(Debug, Default)]
struct Generations {
    young: Compiled,
    old: Compiled,
    young_bytes: usize,
}

impl GateCache {
    /// The gate for these tools, compiled if necessary; `None` if none of them can be judged. Newly compiled tools
    /// are passed to `listed`.
    pub(crate) fn get(
        &self,
        tools: &str,
        policy: &Policy,
        listed: Option<&(dyn Fn(&str) + Send + Sync)>,
    ) -> Option<Arc<RequestTools>> {
        let key = xxh3_128(tools.as_bytes());
        let known = self.0.lock().find(key);
        if let Some(known) = known {
            let is_same = known.as_ref().is_none_or(|known| *known.written == *tools);
            return known.filter(|_| is_same);
        }
        // A large list takes a tenth of a second.
        let compiled = unblocked(|| RequestTools::read(tools, policy)).map(Arc::new);
        self.0.lock().insert(key, tools.len(), compiled.clone());
        if let (Some(listed), Some(_)) = (listed, &compiled) {
            listed(&tools.replace(['\n', '\r'], " "));
        }
        compiled
    }
}

impl Generations {
    fn find(&mut self, key: u128) -> Option<CachedTools> {
        if let Some(found) = self.young.get(&key) {
            return Some(found.clone());
        }
        let found = self.old.remove(&key)?;
        let bytes = found.as_ref().map_or(0, |tools| tools.written.len());
        self.insert(key, bytes, found.clone());
        Some(found)
    }

    fn insert(&mut self, key: u128, bytes: usize, compiled: CachedTools) {
        // An empty entry still has its key.
        let size = compiled
            .as_ref()
            .map_or(256, |_| bytes * BYTES_PER_BYTE + BYTES_PER_LIST);
        self.young_bytes += size;
        if self.young_bytes > GENERATION_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = size;
        }
        self.young.insert(key, compiled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEATHER: &str = r#"[{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]"#;

    #[test]
    fn tools_are_compiled_once() {
        let cache = GateCache::default();
        let first = cache
            .get(WEATHER, &Policy::default(), None)
            .expect("a gate");
        let again = cache
            .get(WEATHER, &Policy::default(), None)
            .expect("a gate");
        assert!(Arc::ptr_eq(&first, &again));
    }

    #[test]
    fn unknown_names_are_not_judged_if_a_tool_is_not_understood() {
        let judges = |tools: &str, name: &str| {
            let tools = GateCache::default().get(tools, &Policy::default(), None);
            tools.is_some_and(|tools| tools.judges(name))
        };
        assert!(judges(WEATHER, "get_weather"));
        assert!(judges(WEATHER, "getweather"));
        let with_hosted = WEATHER.replace(']', r#", {"type": "web_search"}]"#);
        assert!(judges(&with_hosted, "get_weather"));
        assert!(!judges(&with_hosted, "getweather"));
        let without_schema = r#"[{"type": "bash_20250124", "name": "bash"}]"#;
        assert!(!judges(without_schema, "bash"));
        let namespace = r#"[{"type": "namespace", "name": "crm", "description": "d", "tools": [{"type": "function", "name": "find", "parameters": {"type": "object"}}]}]"#;
        assert!(judges(namespace, "crm.find"));
        assert!(judges(namespace, "crm.fined"));
        let with_hosted = namespace.replace("]}]", r#", {"type": "mcp"}]}]"#);
        assert!(judges(&with_hosted, "crm.find"));
        assert!(!judges(&with_hosted, "crm.fined"));
        assert!(!judges("[]", "x") && !judges("{}", "x") && !judges("[1]", "x"));
    }
}
