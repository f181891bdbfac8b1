//! The tools of a server, as its lists declare them.
//!
//! Takes the answers to `tools/list`, whether the client or we requested them; returns a gate for the tools in them,
//! once they are compiled. A list may come in pages, and a client may stop at the first. What a server says about its
//! own tools makes repair more careful, and less careful only if the operator trusts the server.

use std::collections::HashSet;
use std::sync::Arc;

use callwright::internal::first_bytes;
use callwright::tool::{Effect, Tool, ToolSpec};
use callwright::wire::{Provider, declare, read_tools};
use callwright::{Error, Gate};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::guard::Settings;
use crate::members::{member, string};
use crate::message::not_null;

/// How many different warnings are given. Each is remembered, so that none is given twice.
const MOST_WARNINGS: usize = 1_000;

/// How many bytes of a warning are given: one that quotes a schema has a few hundred, and a name may have millions.
const LONGEST_WARNING: usize = 1_000;

/// How many bytes the tools of all pages may have together: as many as those of one page, which is a message.
const MOST_LIST_BYTES: usize = 64 * 1024 * 1024;

/// A warning as it is given.
pub(crate) fn short_warning(warning: String) -> String {
    let kept = first_bytes(&warning, LONGEST_WARNING);
    if kept.len() < warning.len() {
        format!("{kept}…")
    } else {
        warning
    }
}

#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    gate: Option<Arc<Gate>>,
    tools: Vec<ListedTool>,
    extent: ListExtent,
    is_stale: bool,
    is_unlisted: bool,
    /// How many pages were added, and how many of them `gate` knows.
    pages: u64,
    compiled_pages: u64,
    is_compiling: bool,
    given: HashSet<String>,
}

#[derive(Debug)]
struct ListedTool {
    spec: ToolSpec,
    /// How long its declaration is.
    bytes: usize,
}

/// A tool list to compile, which may take long: the driver does it on a thread that no message waits for, and passes
/// the outcome to [`crate::guard::Guard::tools_compiled`]. Meanwhile calls are held.
#[derive(Debug)]
pub struct ToolCompilation {
    settings: Arc<Settings>,
    specs: Vec<ToolSpec>,
    extent: ListExtent,
    pages: u64,
}

/// A compiled tool list.
#[derive(Debug)]
pub struct CompiledTools {
    gate: Result<Gate, Error>,
    warnings: Vec<String>,
    pages: u64,
}

impl ToolCompilation {
    /// Compiles the tools.
    pub fn run(self) -> CompiledTools {
        let policy = &self.settings.policy;
        if let Some(listed) = &self.settings.tools_listed {
            let declared = self.specs.iter().map(|spec| declare(Provider::Mcp, spec));
            listed(&Value::Array(declared.collect()).to_string());
        }
        let gate = self.settings.gate(self.specs);
        let mut warnings: Vec<String> = gate.iter().flat_map(Gate::schema_warnings).collect();
        if let (Ok(gate), ListExtent::Whole) = (&gate, self.extent) {
            let unmatched = policy.warnings(gate.tools().map(Tool::name));
            warnings.extend(unmatched.iter().map(|what| format!("policy, {what}")));
        }
        warnings.sort();
        CompiledTools {
            gate,
            warnings,
            pages: self.pages,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ListExtent {
    #[default]
    Whole,
    /// There are pages that were not requested.
    Part,
    /// There are more pages than we read.
    Endless,
}

#[derive(Debug)]
pub(crate) enum ToolLookup {
    /// This gate judges its calls.
    Gate(Arc<Gate>),
    /// The server has to be asked first.
    NotYet,
    /// The server does not declare this tool, and is not asked again.
    Undeclared,
}

#[derive(Debug)]
pub(crate) struct ToolPage {
    tools: Vec<ListedTool>,
    faults: Vec<String>,
    /// The cursor of the next page, as written.
    pub(crate) next: Option<String>,
}

#[derive(Deserialize)]
struct ToolListResult<'m> {
    #[serde(borrow)]
    tools: Vec<&'m RawValue>,
    #[serde(borrow, rename = "nextCursor")]
    next: Option<&'m RawValue>,
}

impl ToolPage {
    /// Reads the result of a `tools/list`; `None` if it is not one. An entry that is not a tool does not cost the
    /// others their guard.
    pub(crate) fn read(result: &str, settings: &Settings) -> Option<Self> {
        let list: ToolListResult<'_> = serde_json::from_str(result).ok()?;
        let mut page = ToolPage {
            tools: Vec::with_capacity(list.tools.len()),
            faults: Vec::new(),
            next: not_null(list.next)
                .map(|next| next.get().to_owned())
                .filter(|next| next != "\"\""),
        };
        for (at, entry) in list.tools.iter().enumerate() {
            let bytes = entry.get().len();
            let listed = |spec| ListedTool { spec, bytes };
            match read_tools(entry.get()) {
                Ok(specs) if settings.trust_annotations => {
                    page.tools.extend(specs.into_iter().map(listed));
                }
                Ok(specs) => page.tools.extend(
                    specs
                        .into_iter()
                        .map(|spec| listed(doubted(spec, entry))),
                ),
                // Its name is all that is needed to let its calls pass.
                Err(_) => page.faults.push(match member(Some(entry), "name").and_then(string) {
                    Some(name) => {
                        page.tools
                            .push(listed(ToolSpec::without_schema(name.as_ref())));
                        format!("tool {name:?}: its calls pass unvalidated: its declaration cannot be read")
                    }
                    None => format!("entry {at} of the tool list is not a tool with a name"),
                }),
            }
        }
        Some(page)
    }
}

/// A tool whose hints are believed only where they make repair more careful: that it destroys, or writes. Claiming to
/// be read-only does not get it less careful repairs, and claiming to be idempotent does not get it a second attempt.
fn doubted(mut spec: ToolSpec, entry: &RawValue) -> ToolSpec {
    spec.idempotent = false;
    if spec.effect == Effect::Read {
        let destroys = member(member(Some(entry), "annotations"), "destructiveHint");
        spec.effect = match destroys.map(RawValue::get) {
            Some("true") => Effect::Destructive,
            _ => Effect::Unknown,
        };
    }
    spec
}

/// A gate for a tool that no list declares: its calls are counted and recorded, though no schema can judge them.
pub(crate) fn undeclared(tool: &str, settings: &Settings) -> Option<Arc<Gate>> {
    let gate = settings.gate(vec![ToolSpec::without_schema(tool)]);
    gate.ok().map(Arc::new)
}

impl ListedTools {
    pub(crate) fn lookup(&self, tool: &str) -> ToolLookup {
        if self.is_unlisted {
            return ToolLookup::Undeclared;
        }
        let is_current = !self.is_stale && self.compiled_pages == self.pages;
        match self.gate.as_ref().filter(|_| is_current) {
            Some(gate) if gate.tool(tool).is_some() || self.extent == ListExtent::Whole => {
                ToolLookup::Gate(Arc::clone(gate))
            }
            Some(_) if self.extent == ListExtent::Endless => ToolLookup::Undeclared,
            _ => ToolLookup::NotYet,
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn input_schema(&self, tool: &str) -> Option<Arc<serde_json::Value>> {
        let tool = self.gate.as_ref()?.tool(tool)?;
        tool.spec().input_schema.clone()
    }

    /// Records that the server does not list its tools.
    pub(crate) fn not_listed(&mut self) {
        self.is_unlisted = true;
    }

    /// Whether later pages would find no room.
    pub(crate) fn is_cut(&self) -> bool {
        self.extent == ListExtent::Endless
    }

    pub(crate) fn endless(&mut self) {
        self.extent = ListExtent::Endless;
    }

    pub(crate) fn changed(&mut self) {
        self.is_stale = true;
        self.is_unlisted = false;
    }

    /// Adds a page: the first of a list, or a later one. Returns what is wrong with it, once. Its tools are known
    /// when they are compiled.
    pub(crate) fn learn(&mut self, page: ToolPage, is_first: bool) -> Vec<String> {
        if is_first {
            self.tools.clear();
            self.is_stale = false;
        }
        // A page after one that we have not seen does not complete the list.
        let is_part = page.next.is_some() || (!is_first && self.pages == 0);
        self.is_unlisted = false;
        self.pages += 1;
        let mut warnings = page.faults;
        let mut seen = HashSet::new();
        let new: Vec<ListedTool> = page
            .tools
            .into_iter()
            .filter(|ListedTool { spec, .. }| {
                let is_new = seen.insert(spec.name.clone());
                if !is_new {
                    let name = &spec.name;
                    warnings.push(format!(
                        "tool {name:?} is listed twice; the first one counts"
                    ));
                }
                is_new
            })
            .collect();
        self.tools.retain(|tool| !seen.contains(&tool.spec.name));
        let listed = new.len();
        let before = self.tools.len();
        let mut bytes: usize = self.tools.iter().map(|tool| tool.bytes).sum();
        for tool in new {
            bytes += tool.bytes;
            if is_first || bytes <= MOST_LIST_BYTES {
                self.tools.push(tool);
            }
        }
        let is_cut = self.tools.len() < before + listed;
        let was_cut = !is_first && self.is_cut();
        self.extent = match (is_cut || was_cut, is_part) {
            (true, _) => ListExtent::Endless,
            (false, true) => ListExtent::Part,
            (false, false) => ListExtent::Whole,
        };
        if is_cut {
            warnings.push(format!(
                "the tool list has more than {MOST_LIST_BYTES} bytes; calls of tools after them pass unjudged"
            ));
        }
        self.new_warnings(warnings)
    }

    /// What to compile, one list at a time.
    pub(crate) fn compilation(&mut self, settings: &Arc<Settings>) -> Option<ToolCompilation> {
        if self.is_compiling || self.compiled_pages == self.pages {
            return None;
        }
        self.is_compiling = true;
        Some(ToolCompilation {
            settings: Arc::clone(settings),
            specs: self.tools.iter().map(|tool| tool.spec.clone()).collect(),
            extent: self.extent,
            pages: self.pages,
        })
    }

    pub(crate) fn is_compiling(&self) -> bool {
        self.is_compiling
    }

    /// Takes over what was compiled. Returns warnings; `None` if another page has arrived since.
    pub(crate) fn compiled(&mut self, compiled: CompiledTools) -> Option<Vec<String>> {
        self.is_compiling = false;
        if compiled.pages != self.pages {
            return None;
        }
        self.compiled_pages = compiled.pages;
        self.is_stale = false;
        let mut warnings = compiled.warnings;
        match compiled.gate {
            Ok(gate) => self.gate = Some(Arc::new(gate)),
            Err(error) => {
                warnings.push(format!("the tools cannot be guarded: {error}"));
                self.is_unlisted = true;
            }
        }
        Some(self.new_warnings(warnings))
    }

    /// Those of these warnings that have not been given before. After [`MOST_WARNINGS`] none are given: a server must not be
    /// able to flood the operator's log.
    pub(crate) fn new_warnings(&mut self, mut warnings: Vec<String>) -> Vec<String> {
        let had_room = self.given.len() < MOST_WARNINGS;
        for warning in &mut warnings {
            *warning = short_warning(std::mem::take(warning));
        }
        warnings.retain(|warning| {
            self.given.len() < MOST_WARNINGS && self.given.insert(warning.clone())
        });
        if had_room && self.given.len() == MOST_WARNINGS {
            warnings.push("further warnings about this server are not shown".to_owned());
        }
        warnings
    }
}
