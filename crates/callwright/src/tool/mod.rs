//! Tools: name, schema, effect.
//!
//! [`crate::wire::read_tools`] reads them from any provider's shape as [`ToolSpec`]s; the gate compiles each into a [`Tool`].
//! A schema that cannot be read or compiled, or is too expensive, quarantines only its own tool: its calls pass as unjudged,
//! and the other tools work. Never judges a call.

mod lookup;
mod sent_name;

use std::sync::{Arc, OnceLock};

pub use crate::validate::normalise;
pub use crate::vocabulary::{DeclaredBy, Effect, ToolSpec};
use ahash::AHashSet;
pub(crate) use lookup::{ToolSet, UnknownTool};
pub(crate) use sent_name::{MCP, own_name};
use serde_json::Value as Schema;

use crate::json::Path;
use crate::nearest::FoldedName;
use crate::text::visible;
use crate::validate::{
    CompileBudget, CompiledSchema, Cost, SchemaCache, Secrets, marks_secret, misplaced_enums,
};
use crate::vocabulary::{OutputPolicy, Validation};

/// A tool that the gate knows: its declaration, and its schemas, compiled if possible.
#[derive(Debug)]
pub struct Tool {
    spec: ToolSpec,
    schema: Result<Arc<CompiledSchema>, Arc<str>>,
    secrets: Option<Arc<Secrets>>,
    pub(crate) validation: Validation,
    output_schema: Option<Result<Arc<CompiledSchema>, Arc<str>>>,
    output_secrets: Option<Arc<Secrets>>,
    output_policy: OutputPolicy,
    /// Whether any call may destroy or spend something; cached, since it means searching the name.
    may_destroy_or_spend: OnceLock<bool>,
    /// Whether it is declared read-only and its name does not contradict that.
    only_reads: OnceLock<bool>,
    /// Whether a call must not be repeated without asking.
    is_once: OnceLock<bool>,
    /// Its parameters: all parts of its schema are looked through for them once.
    parameters: OnceLock<Parameters>,
}

#[derive(Debug)]
struct Parameters {
    names: AHashSet<String>,
    /// The same without case and separators.
    folded: OnceLock<AHashSet<String>>,
    are_judged: bool,
}

impl Tool {
    /// Compiles a tool's schemas within the remaining budget of its tool list, or takes them from the cache.
    pub(crate) fn compile(
        spec: ToolSpec,
        validation: Validation,
        output_policy: OutputPolicy,
        cache: &SchemaCache,
        budget: &mut CompileBudget,
    ) -> Tool {
        let mut compile = |declared: &Option<Arc<Schema>>, fault: &Option<Arc<str>>, mode| {
            let read = declared.as_ref().map(Ok).or(fault.as_ref().map(Err));
            let asked = read.filter(|_| mode != Validation::Off)?;
            Some(match asked {
                Ok(declared) => cache.compile_within(declared, budget),
                Err(fault) => Err(Arc::clone(fault)),
            })
        };
        let schema = compile(&spec.input_schema, &spec.input_fault, validation);
        let mode = output_policy.mode;
        let output_schema = compile(&spec.output_schema, &spec.output_fault, mode);
        let (input, output) = (spec.input_schema.as_deref(), spec.output_schema.as_deref());
        Tool {
            secrets: secrets(input, spec.input_fault.as_deref(), schema.as_ref()),
            output_secrets: secrets(output, spec.output_fault.as_deref(), output_schema.as_ref()),
            schema: schema.unwrap_or_else(|| cache.compile(&Arc::new(Schema::Bool(true)))),
            validation,
            output_schema,
            output_policy,
            may_destroy_or_spend: OnceLock::new(),
            only_reads: OnceLock::new(),
            is_once: OnceLock::new(),
            parameters: OnceLock::new(),
            spec,
        }
    }

    /// Whether it is declared read-only, see [`ToolSpec::only_reads`]. Every call asks, so the answer is cached.
    pub(crate) fn only_reads(&self) -> bool {
        let is_read = self.spec.effect == Effect::Read;
        is_read && *self.only_reads.get_or_init(|| self.spec.only_reads())
    }

    /// See [`ToolSpec::is_once`]. Every failed call asks.
    pub(crate) fn is_once(&self) -> bool {
        *self.is_once.get_or_init(|| self.spec.is_once())
    }

    /// Whether any call may destroy or spend something, by declaration or by the name of the tool.
    pub(crate) fn may_destroy_or_spend(&self) -> bool {
        let spec = &self.spec;
        *self
            .may_destroy_or_spend
            .get_or_init(|| spec.may_destroy() || spec.spends())
    }

    /// Whether an empty text may stand for `{}`: nothing can have been lost, or losing it costs a read.
    pub(crate) fn may_be_called_blank(&self) -> bool {
        let takes_nothing = || self.schema().is_some_and(CompiledSchema::takes_nothing);
        self.only_reads() || (!self.may_destroy_or_spend() && takes_nothing())
    }

    /// Whether it has a parameter of this name, in whichever part of its schema. The schema as declared counts too: it may
    /// be in quarantine, or not be asked.
    pub(crate) fn has_parameter(&self, name: &str) -> bool {
        self.parameters().names.contains(name)
    }

    /// Whether a name may be that of a parameter, in another case or with other separators.
    pub(crate) fn may_take(&self, name: &FoldedName) -> bool {
        let Parameters { names, folded, .. } = self.parameters();
        let fold = |name: &String| FoldedName::new(name).folded;
        let folded = folded.get_or_init(|| names.iter().map(fold).collect());
        folded.contains(&name.folded)
    }

    /// Whether the schema that judges its calls lists parameters; if not, anything may be sent.
    pub(crate) fn judges_parameters(&self) -> bool {
        self.parameters().are_judged
    }

    fn parameters(&self) -> &Parameters {
        self.parameters.get_or_init(|| {
            let judged = self.schema().and_then(CompiledSchema::parameters);
            let declared = self.spec.input_schema.as_deref();
            let declared = declared.and_then(|schema| schema.get("properties")?.as_object());
            let declared = declared
                .into_iter()
                .flat_map(|listed| listed.keys().cloned());
            Parameters {
                are_judged: judged.is_some(),
                names: declared.chain(judged.into_iter().flatten()).collect(),
                folded: OnceLock::new(),
            }
        })
    }

    /// The compiled schema of results; `None` if none is declared, if it is not used, or if it is in quarantine.
    pub fn output_schema(&self) -> Option<&CompiledSchema> {
        self.output_schema.as_ref()?.as_deref().ok()
    }

    /// Why the schema of results could not be compiled, if so. Results then pass unvalidated.
    pub fn output_quarantined(&self) -> Option<&str> {
        let compiled = self.output_schema.as_ref()?;
        compiled.as_ref().err().map(AsRef::as_ref)
    }

    /// Where the declared schema of arguments has an `enum` of strings on a list, which no list can satisfy. It is read as the
    /// `enum` of the items; the author should know.
    pub fn misplaced_enums(&self) -> Vec<Path> {
        let declared = self.spec.input_schema.as_deref();
        declared.map(misplaced_enums).unwrap_or_default()
    }

    /// What is wrong with its schemas, one sentence each, fit for a terminal.
    pub(crate) fn schema_warnings(&self) -> impl Iterator<Item = String> {
        let passes =
            |what, why: Option<&str>| why.map(|why| format!("its {what} pass unvalidated: {why}"));
        let calls = passes("calls", self.quarantined());
        let results = passes("results", self.output_quarantined());
        let enums = self
            .misplaced_enums()
            .into_iter()
            .map(|at| format!("no list can match the enum at {at}; it is applied to the items"));
        let all = calls.into_iter().chain(results).chain(enums);
        all.map(|what| format!("tool {:?}: {}", self.name(), visible(&what)))
    }

    /// How results are judged.
    pub fn output_policy(&self) -> &OutputPolicy {
        &self.output_policy
    }

    /// Whether some part of a result is marked `writeOnly` or `format: password`.
    pub(crate) fn returns_secrets(&self) -> bool {
        self.output_secrets.is_some()
    }

    /// Whether some argument is marked `writeOnly` or `format: password`, quarantined or not.
    pub(crate) fn takes_secrets(&self) -> bool {
        self.secrets.is_some()
    }

    /// Which arguments must not be shown, if any.
    pub(crate) fn secrets(&self) -> Option<&Arc<Secrets>> {
        self.secrets.as_ref()
    }

    /// Which parts of results must not be shown, if any.
    pub(crate) fn output_secrets(&self) -> Option<&Arc<Secrets>> {
        self.output_secrets.as_ref()
    }

    /// The name that the model uses.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The tool's declaration, with the policy's overrides of its effect.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The compiled schema; `None` if the tool is quarantined. With validation off, it accepts anything.
    pub fn schema(&self) -> Option<&CompiledSchema> {
        self.schema.as_deref().ok()
    }

    /// Why the schema could not be read or compiled, if so. Calls then pass as unjudged.
    pub fn quarantined(&self) -> Option<&str> {
        self.schema.as_ref().err().map(AsRef::as_ref)
    }
}

/// The secrets of a schema: those of its compiled form, or of its declaration if it is unused or in quarantine. If it cannot be
/// read, or is too large to search, everything is a secret.
fn secrets(
    declared: Option<&Schema>,
    fault: Option<&str>,
    compiled: Option<&Result<Arc<CompiledSchema>, Arc<str>>>,
) -> Option<Arc<Secrets>> {
    let Some(declared) = declared else {
        return fault.map(|_| Arc::new(Secrets::everything()));
    };
    if !marks_secret(declared) {
        return None;
    }
    if let Some(Ok(compiled)) = compiled
        && let Some(found) = compiled.secrets()
    {
        return Some(Arc::clone(found));
    }
    let found = Cost::of(declared).map_or(None, |_| Secrets::of(declared));
    Some(Arc::new(found.unwrap_or_else(Secrets::everything)))
}
