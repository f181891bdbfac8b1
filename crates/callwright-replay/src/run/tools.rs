//! Which tools judge a call: those that were given, or those that the log itself declares.
//!
//! A request carries the tools that the model was offered, and its calls are judged by these. Anything else in a log
//! is judged by the newest declaration of each tool anywhere in it.

use std::sync::Arc;

use ahash::AHashMap;
use callwright::admit::Ledger;
use callwright::tool::Tool;
use callwright::validate::SchemaCache;
use callwright::wire::{self, Provider};
use callwright::{Error, Policy, ToolSpec};
use xxhash_rust::xxh3::xxh3_128;

use super::declared::DeclaredTools;
use super::tool_store::ToolStore;
use crate::judge::Judge;
use crate::summary::{Summary, ToolSummary, Version};

/// How many bytes of compiled schemas the two gates of a judge share, which is more than these declarations take. The
/// process-wide cache would keep them after the run, while the report is made.
const MOST_CACHED: u64 = 256 * 1024 * 1024;

/// Which tools judge.
#[derive(Debug)]
pub(super) enum Tools {
    /// Those that were given.
    Given(Arc<ToolSet>),
    /// Those that the log itself declares, or more than should be in memory at once: compiled when they are called.
    Stored(Box<ToolStore>),
}

impl Tools {
    /// Tools that were given.
    pub(super) fn given(
        tools: DeclaredTools,
        policy: Policy,
        ledger: Arc<dyn Ledger>,
    ) -> Result<Self, Error> {
        Ok(match tools.into_specs() {
            Ok(tools) => Tools::Given(Arc::new(ToolSet::new(tools, &policy, ledger)?)),
            Err(tools) => Tools::Stored(Box::new(ToolStore::given(tools, policy, ledger)?)),
        })
    }

    /// What judges calls of this tool, and their results, whatever their record carries.
    pub(super) fn judging(&self, tool: &str) -> Option<Arc<ToolSet>> {
        match self {
            Tools::Given(set) => Some(Arc::clone(set)),
            Tools::Stored(store) => store.judging_name(tool).ok(),
        }
    }

    /// Adds declared tools that were never called to a summary: a report names them too. Their declaration is left
    /// out: nothing is said about it, and a part of a log in which they are called has it.
    pub(super) fn add_idle(&self, summary: &mut Summary) {
        match self {
            Tools::Given(set) => set.add_idle(summary),
            Tools::Stored(store) => store.add_idle(summary),
        }
    }
}

/// A set of tools that judges calls, and how each tool was declared.
#[derive(Debug)]
pub struct ToolSet {
    judge: Arc<Judge>,
    /// By the address of the compiled tool.
    tools: AHashMap<usize, Arc<KnownTool>>,
}

/// A tool as it is counted: it takes a fiftieth of the memory of a compiled one, and may outlive it.
#[derive(Debug)]
pub(super) struct KnownTool {
    pub(super) name: String,
    /// Calls of an undeclared tool are counted, but cannot be judged.
    pub(super) declared: Option<Declaration>,
}

/// How a tool was declared.
#[derive(Debug, Clone)]
pub(super) struct Declaration {
    /// In MCP's format, as JSON.
    pub(super) text: String,
    /// A hash of it.
    pub(super) hash: String,
    /// Why its schema does not compile, if it does not.
    pub(super) quarantined: Option<String>,
}

impl ToolSet {
    /// Compiles tools.
    ///
    /// # Errors
    /// Fails if two tools have the same name.
    pub fn new(
        tools: Vec<ToolSpec>,
        policy: &Policy,
        ledger: Arc<dyn Ledger>,
    ) -> Result<Self, Error> {
        let cache = SchemaCache::new(MOST_CACHED);
        let judge = Judge::new(tools, policy, ledger, cache)?;
        Ok(ToolSet::of(judge, true))
    }

    /// The tools of a judge, which are only known by name if they were not declared.
    pub(super) fn of(judge: Judge, are_declared: bool) -> Self {
        let tools = judge.gate().tools().map(|tool| {
            let declared = are_declared.then(|| {
                let text = declaration(tool.spec());
                Declaration {
                    hash: format!("{:032x}", xxh3_128(text.as_bytes())),
                    text,
                    quarantined: tool.quarantined().map(str::to_owned),
                }
            });
            let known = KnownTool {
                name: tool.name().to_owned(),
                declared,
            };
            (std::ptr::from_ref(tool).addr(), Arc::new(known))
        });
        ToolSet {
            tools: tools.collect(),
            judge: Arc::new(judge),
        }
    }

    /// What judges calls of these tools.
    pub fn judge(&self) -> &Arc<Judge> {
        &self.judge
    }

    /// About how many bytes its declarations have.
    pub(super) fn declared_bytes(&self) -> usize {
        let declared = self.tools.values().filter_map(|it| it.declared.as_ref());
        declared.map(|it| it.text.len()).sum()
    }

    /// See [`Tools::add_idle`].
    pub(super) fn add_idle(&self, summary: &mut Summary) {
        for KnownTool { name, declared } in self.tools.values().map(AsRef::as_ref) {
            let is_idle = summary.tools.get(name).is_none();
            let Some(declared) = declared.as_ref().filter(|_| is_idle) else {
                continue;
            };
            let version = Version {
                quarantined: declared.quarantined.clone(),
                ..Version::default()
            };
            let mut idle = ToolSummary::default();
            idle.versions.add(declared.hash.clone(), version);
            summary.tools.add(name.clone(), idle);
        }
    }

    /// A tool of this set, as it is counted.
    pub(super) fn known(&self, tool: &Tool) -> Option<&Arc<KnownTool>> {
        self.tools.get(&std::ptr::from_ref(tool).addr())
    }
}

/// The declaration of a tool in MCP's format, as JSON.
pub(super) fn declaration(tool: &ToolSpec) -> String {
    wire::declare(Provider::Mcp, tool).to_string()
}
