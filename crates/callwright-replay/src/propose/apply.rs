//! Applies accepted suggestions to a tool file.
//!
//! Takes the text of the file as it is now, the suggestions and the accepted numbers; returns the new text. If a
//! schema is not the one that a proposal was made for, nothing is changed at all.

use std::collections::BTreeMap;

use callwright::json::Path;
use callwright::validate::Loosening;
use json_patch::Patch;
use serde::Deserialize;
use serde_json::Value as Json;

use super::Proof;
use super::combine::{Clash, combined};
use super::patch::moved;
use super::proof::compare;
use super::rewrite::rewrite;
use super::schema_hash::schema_hash;
use super::suggest::VERSION;
use super::tools_file::{DeclaredTool, entries};
use crate::summary::Side;

/// Why suggestions cannot be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The tool file is not JSON.
    #[error("the tool file is not JSON: {0}")]
    ToolsNotJson(serde_json::Error),
    /// The suggestions are not what `--suggest` writes.
    #[error("not a suggestions file: {0}; write one with `callwright replay --suggest`")]
    NoSuggestions(String),
    /// Unknown suggestion; the smallest and the largest existing number.
    #[error("unknown proposal {0}; the numbers go from {1} to {2}")]
    UnknownNumber(usize, usize, usize),
    /// There are no suggestions at all.
    #[error("the suggestions contain no proposals, so there is nothing to apply")]
    Empty,
    /// The file does not declare the tool of a proposal.
    #[error(
        "proposal {0}: the tool file does not declare {1:?}; give the file that the replay was run with"
    )]
    NoTool(usize, String),
    /// The schema of a proposal has changed.
    #[error("proposal {0}: the schema of {1:?} has changed since; run replay again")]
    Changed(usize, String),
    /// Two proposals cannot both be applied.
    #[error(
        "proposals {0} and {1} contradict each other; accept one, and run replay again for the other"
    )]
    Contradiction(usize, usize),
    /// It is unknown whether a change only loosens, with the reason.
    #[error("proposal {0} is not proved to only loosen: {1}; use --force to apply it anyway")]
    NotProved(usize, String),
    /// Together, the changes to a tool refuse something that was accepted.
    #[error(
        "together, the accepted proposals for {0:?} refuse what was accepted before; accept fewer"
    )]
    Stricter(String),
}

#[derive(Deserialize)]
struct SuggestionsFile {
    v: u32,
    tools: Vec<ForTool>,
}

#[derive(Deserialize)]
struct ForTool {
    name: String,
    side: Side,
    schema_at: String,
    schema_hash: String,
    proposals: Vec<Suggestion>,
}

#[derive(Deserialize)]
struct Suggestion {
    number: usize,
    proof: Proof,
    patch: Patch,
}

/// Writes the accepted suggestions into the text of a tool file. `force` also applies unproved ones.
///
/// # Errors
/// Fails if a number is unknown, a tool or its schema has changed, two suggestions contradict each other, or one is
/// not proved. Nothing is changed then.
pub fn apply(
    tools_text: &str,
    suggestions: &Json,
    accept: &[usize],
    force: bool,
) -> Result<String, ApplyError> {
    let old: Json = serde_json::from_str(tools_text).map_err(ApplyError::ToolsNotJson)?;
    let file = SuggestionsFile::deserialize(suggestions)
        .map_err(|error| ApplyError::NoSuggestions(error.to_string()))?;
    if file.v != VERSION {
        let why = format!("version {} is not supported, only {VERSION}", file.v);
        return Err(ApplyError::NoSuggestions(why));
    }
    are_known(&file, accept)?;
    let all = entries(&old);
    let mut new = old.clone();
    for tool in &file.tools {
        let mut patches = BTreeMap::new();
        for suggestion in &tool.proposals {
            if !accept.contains(&suggestion.number) {
                continue;
            }
            if let (Proof::NotProved(why), false) = (&suggestion.proof, force) {
                return Err(ApplyError::NotProved(suggestion.number, why.clone()));
            }
            patches.insert(suggestion.number, suggestion.patch.clone());
        }
        if !patches.is_empty() {
            one_schema(&old, &mut new, tool, &all, patches, force)?;
        }
    }
    if new == old {
        return Ok(tools_text.to_owned());
    }
    Ok(rewrite(tools_text, &old, &new).unwrap_or_else(|| format!("{new:#}")))
}

fn are_known(file: &SuggestionsFile, accept: &[usize]) -> Result<(), ApplyError> {
    let numbers = || file.tools.iter().flat_map(|tool| &tool.proposals);
    let numbers = || numbers().map(|suggestion| suggestion.number);
    let (Some(least), Some(most)) = (numbers().min(), numbers().max()) else {
        return if accept.is_empty() {
            Ok(())
        } else {
            Err(ApplyError::Empty)
        };
    };
    let is_unknown = |number: &&usize| !numbers().any(|known| known == **number);
    match accept.iter().find(is_unknown) {
        Some(&number) => Err(ApplyError::UnknownNumber(number, least, most)),
        None => Ok(()),
    }
}

/// Changes one schema of one tool.
fn one_schema(
    old: &Json,
    new: &mut Json,
    tool: &ForTool,
    all: &[DeclaredTool],
    patches: BTreeMap<usize, Patch>,
    force: bool,
) -> Result<(), ApplyError> {
    let number = patches.keys().next().copied().unwrap_or_default();
    let changed = |number| ApplyError::Changed(number, tool.name.clone());
    let mut named = all.iter().filter(|it| it.name == tool.name).peekable();
    if named.peek().is_none() {
        return Err(ApplyError::NoTool(number, tool.name.clone()));
    }
    let places = named.filter_map(|entry| Some(entry.at.join(entry.schema_at(tool.side)?)));
    let mut known = places.filter_map(|at| Some((old.pointer(at.as_pointer())?, at)));
    let (schema, at) = known
        .find(|(schema, _)| schema_hash(schema) == tool.schema_hash)
        .ok_or_else(|| changed(number))?;
    // The patches are for the tool, but are needed for its schema.
    let inside = Path::from_pointer(tool.schema_at.as_str());
    let steps = inside.segments().count();
    let on_schema = |path: &Path| {
        let rest = path.segments().skip(steps);
        let rest = rest.fold(Path::root(), |path, step| path.key(&step));
        inside.contains(path).then_some(rest)
    };
    let mut own = Vec::new();
    for (number, patch) in patches {
        let patch = moved(&patch, on_schema).ok_or_else(|| changed(number))?;
        own.push((number, patch));
    }
    let looser = combined(schema, &own).map_err(|clash| match clash {
        Clash::Changed(number) => changed(number),
        Clash::Between(first, second) => ApplyError::Contradiction(first, second),
    })?;
    if !force && compare(schema, &looser, &Path::root()) == Loosening::Refuted {
        return Err(ApplyError::Stricter(tool.name.clone()));
    }
    *new.pointer_mut(at.as_pointer())
        .ok_or_else(|| changed(number))? = looser;
    Ok(())
}
