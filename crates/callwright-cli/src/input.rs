//! Files and standard input, with errors that name the place.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use callwright::admit::MemoryLedger;
use callwright::repair::RepairPolicy;
use callwright::{Gate, Policy, tool};

use crate::say;

/// The largest tool file that is read. A gateway with 10,000 tools has one of 20 MB.
pub(crate) const LARGEST_TOOL_FILE: u64 = 256 * 1024 * 1024;

/// How many quarantined or missing tools are named one by one.
const NAMED_TOOLS: usize = 10;

/// Something to read calls from.
pub(crate) struct Source {
    /// How it is called in messages.
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send>,
    /// In bytes, where that is known.
    pub(crate) size: Option<u64>,
}

/// Opens a file of calls, or standard input for `-`.
pub(crate) fn open(path: &Path) -> Result<Source> {
    if path == Path::new("-") {
        return Ok(Source {
            name: "standard input".to_owned(),
            reader: Box::new(io::stdin()),
            size: None,
        });
    }
    let (file, size) = open_file(path, "file of calls")?;
    Ok(Source {
        name: path.display().to_string(),
        reader: Box::new(file),
        size: Some(size),
    })
}

/// Reads a tool file and compiles its tools under a policy; `repair` beats what the policy says of it. Tools that
/// cannot be compiled are named in a warning, and so is what the policy says of tools that are not there.
pub(crate) fn load_gate(
    path: &Path,
    policy: Option<&Path>,
    repair: Option<RepairPolicy>,
    ledger: Arc<MemoryLedger>,
) -> Result<Gate> {
    let mut settings = match policy {
        Some(path) => read_policy(path)?,
        None => Policy::default(),
    };
    if let Some(repair) = repair {
        settings = settings.with_repair(repair);
    }
    let text = read_text(path, "tool file", LARGEST_TOOL_FILE)?;
    let place = || format!("in the tool file {}", path.display());
    let specs = tool::read_tools(text.trim_start_matches('\u{feff}')).with_context(place)?;
    if specs.is_empty() {
        say(
            "warning",
            &format!(
                "the tool file {} holds no tools, so every call is refused",
                path.display()
            ),
        );
    }
    let gate = Gate::builder()
        .tools(specs)
        .policy(settings.clone())
        .ledger(ledger)
        .build()
        .with_context(place)?;
    warn_of_quarantine(&gate);
    if let Some(policy) = policy {
        warn_of_missing_tools(&gate, &settings, policy);
    }
    Ok(gate)
}

pub(crate) fn read_policy(path: &Path) -> Result<Policy> {
    let text = read_text(path, "policy file", Policy::LONGEST_FILE as u64)?;
    Policy::from_toml(&text).with_context(|| format!("in the policy file {}", path.display()))
}

/// The text of a file with settings of some kind.
pub(crate) fn read_text(path: &Path, kind: &str, largest: u64) -> Result<String> {
    let (mut file, size) = open_file(path, kind)?;
    let too_large = || {
        anyhow::anyhow!(
            "the {kind} {} has more than the {largest} bytes that are read; shorten it",
            path.display()
        )
    };
    if size > largest {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.by_ref()
        .take(largest + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read the {kind} {}", path.display()))?;
    if bytes.len() as u64 > largest {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|error| {
        anyhow::anyhow!(
            "the {kind} {} is not UTF-8: invalid byte at offset {}; save it as UTF-8",
            path.display(),
            error.utf8_error().valid_up_to()
        )
    })
}

fn open_file(path: &Path, what: &str) -> Result<(File, u64)> {
    let cannot = || {
        let path = path.display();
        format!("cannot open the {what} {path}; check the path and its permissions")
    };
    let file = File::open(path).with_context(cannot)?;
    let metadata = file.metadata().with_context(cannot)?;
    if metadata.is_dir() {
        bail!(
            "the {what} {} is a folder; give a file in it",
            path.display()
        );
    }
    Ok((file, metadata.len()))
}

/// Text from a file, with what could move the cursor escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

fn warn_of_quarantine(gate: &Gate) {
    let mut bad: Vec<(&str, &str)> = gate
        .tools()
        .filter_map(|tool| Some((tool.name(), tool.quarantined()?)))
        .collect();
    bad.sort_unstable();
    for (name, reason) in bad.iter().take(NAMED_TOOLS) {
        let name = printable(name);
        say(
            "warning",
            &format!("tool `{name}` is quarantined, its calls pass unvalidated: {reason}"),
        );
    }
    if let Some(more) = bad.len().checked_sub(NAMED_TOOLS).filter(|more| *more > 0) {
        say("warning", &format!("{more} more tools are quarantined"));
    }
}

fn warn_of_missing_tools(gate: &Gate, policy: &Policy, path: &Path) {
    let warnings = policy.warnings(gate.tools().map(tool::Tool::name));
    let file = path.display();
    for warning in warnings.iter().take(NAMED_TOOLS) {
        say("warning", &format!("in the policy file {file}: {warning}"));
    }
    let more = warnings.len().saturating_sub(NAMED_TOOLS);
    if more > 0 {
        let text = format!("in the policy file {file}: {more} more names match no tool");
        say("warning", &text);
    }
}
