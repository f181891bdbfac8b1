//! Writes the `--suggest` file: JSON Patches on the tools as they are in their file.

use callwright::json::Path;
use serde_json::{Value as Json, json};

use super::patch::moved;
use super::tools_file::entries;
use super::{Proposal, Proposals};
use crate::summary::Side;

/// The version of the suggestions format.
pub(super) const VERSION: u32 = 1;

/// All proposals, by tool and side. With the text of the tool file, the patches apply to the tools as written there;
/// without it, to MCP's form.
pub fn suggestions_file(proposals: &Proposals, tools_text: Option<&str>) -> Json {
    let file: Option<Json> = tools_text.and_then(|text| serde_json::from_str(text).ok());
    let entries = file.as_ref().map(entries).unwrap_or_default();
    let mut sides: Vec<(&str, Side)> = Vec::new();
    for proposal in &proposals.changes {
        let side = (proposal.tool.as_str(), proposal.side);
        if !sides.contains(&side) {
            sides.push(side);
        }
    }
    let tools: Vec<Json> = sides
        .into_iter()
        .map(|(name, side)| {
            let entry = entries.iter().find(|entry| entry.name == name);
            let stated = entry.and_then(|entry| entry.schema_at(side));
            let at = stated.cloned().unwrap_or_else(|| {
                Path::root().key(match side {
                    Side::Input => "inputSchema",
                    Side::Output => "outputSchema",
                })
            });
            let own = proposals.changes.iter();
            let own = own.filter(|it| it.tool == name && it.side == side);
            let hash = own.clone().next().map(|first| &first.schema_hash);
            json!({
                "name": name,
                "side": side,
                "schema_at": at.as_pointer(),
                "schema_hash": hash,
                "proposals": own.map(|proposal| suggestion(proposal, &at)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({"v": VERSION, "tools": tools})
}

fn suggestion(proposal: &Proposal, at: &Path) -> Json {
    json!({
        "number": proposal.number,
        "title": proposal.title,
        "change": proposal.change,
        "kind": proposal.kind,
        "accepts": proposal.accepts,
        "accepts_bugs": proposal.accepts_bugs,
        "touches": proposal.touches,
        "is_estimate": proposal.is_estimate,
        "shared_by": proposal.shared_by,
        "proof": proposal.proof,
        "patch": moved(&proposal.patch, |path| Some(at.join(path))),
    })
}
