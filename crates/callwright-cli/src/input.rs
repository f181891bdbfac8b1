//! Reads files and standard input; errors name the file, and sizes are bounded.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use callwright::admit::MemoryLedger;
pub(crate) use callwright::internal::visible as printable;
use callwright::repair::RepairPolicy;
use callwright::{Gate, Policy, ToolSpec, tool};

use crate::say;

/// The largest tool file that is read. A gateway with 10,000 tools has one of 20 MB.
const LARGEST_TOOL_FILE: u64 = 256 * 1024 * 1024;

/// How many quarantined or missing tools are listed one by one.
const NAMED_TOOLS: usize = 10;

/// The input of `check`.
pub(crate) struct Source {
    /// Its name in messages.
    pub(crate) name: String,
    pub(crate) reader: Box<dyn Read + Send>,
    /// In bytes, if known.
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
        name: shown(path),
        reader: Box::new(file),
        size: Some(size),
    })
}

/// A path, safe to print.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// The full path of a program that was given by its path; a name stays a name, for the search path to find.
pub(crate) fn absolute_program(program: &str) -> Result<String> {
    if Path::new(program).components().count() < 2 {
        return Ok(program.to_owned());
    }
    absolute(program)
}

/// A path as it can be used from any directory.
pub(crate) fn absolute(path: &str) -> Result<String> {
    let whole = std::path::absolute(path).with_context(|| shown(Path::new(path)))?;
    Ok(whole.to_string_lossy().into_owned())
}

/// Compiles tools under a policy. Warns about tools that cannot be compiled, and tools that only the policy file
/// names.
pub(crate) fn load_gate(
    tools: &Path,
    policy: Option<&Path>,
    repair: Option<RepairPolicy>,
    ledger: Arc<MemoryLedger>,
) -> Result<Gate> {
    let text = policy.map(read_policy_text).transpose()?;
    let settings = policy_of(policy.zip(text.as_deref()), repair)?;
    let specs = read_tools(tools, &read_tools_text(tools)?, "every call is refused")?;
    let gate = Gate::builder()
        .tools(specs)
        .policy(settings.clone())
        .ledger(ledger)
        .build()
        .with_context(|| format!("in the tool file {}", shown(tools)))?;
    warn(gate.schema_warnings().into_iter(), |more| {
        format!("{more} more problems with schemas")
    });
    if let Some(policy) = policy {
        let warnings = settings.warnings(gate.tools().map(tool::Tool::name));
        let file = format!("in the policy file {}", shown(policy));
        let warnings = warnings.iter().map(|warning| format!("{file}: {warning}"));
        warn(warnings, |more| {
            format!("{file}: {more} more names match no tool")
        });
    }
    Ok(gate)
}

/// The text of a tool file, unchanged.
pub(crate) fn read_tool_file(path: &Path) -> Result<String> {
    read_text(path, "tool file", LARGEST_TOOL_FILE)
}

/// The text of a tool file, without its byte order mark.
pub(crate) fn read_tools_text(path: &Path) -> Result<String> {
    let text = read_tool_file(path)?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Parses the tools in a file's text. If there are none, warns with the consequence (`without`).
pub(crate) fn read_tools(path: &Path, text: &str, without: &str) -> Result<Vec<ToolSpec>> {
    let mut tools = Vec::new();
    read_each_tool(path, text, without, |tool| tools.push(tool))?;
    Ok(tools)
}

/// The same, one by one.
pub(crate) fn read_each_tool(
    path: &Path,
    text: &str,
    without: &str,
    mut each: impl FnMut(ToolSpec),
) -> Result<()> {
    let place = || format!("in the tool file {}", shown(path));
    let mut is_empty = true;
    callwright::wire::read_each_tool(text, |tool| {
        is_empty = false;
        each(tool);
    })
    .with_context(place)?;
    if is_empty {
        let text = format!(
            "the tool file {} contains no tools, so {without}",
            shown(path)
        );
        say("warning", &text);
    }
    Ok(())
}

pub(crate) fn read_policy(path: &Path) -> Result<Policy> {
    policy_of(Some((path, &read_policy_text(path)?)), None)
}

pub(crate) fn read_policy_text(path: &Path) -> Result<String> {
    read_text(path, "policy file", Policy::LONGEST_FILE as u64)
}

/// The policy in a file's text, or the default one; `repair` overrides its repair setting.
pub(crate) fn policy_of(
    file: Option<(&Path, &str)>,
    repair: Option<RepairPolicy>,
) -> Result<Policy> {
    let policy = match file {
        Some((path, text)) => Policy::from_toml(text)
            .with_context(|| format!("in the policy file {}", shown(path)))?,
        None => Policy::default(),
    };
    Ok(match repair {
        Some(repair) => policy.with_repair(repair),
        None => policy,
    })
}

/// Reads a settings file; `kind` names it in errors.
pub(crate) fn read_text(path: &Path, kind: &str, largest: u64) -> Result<String> {
    String::from_utf8(read_bytes(path, kind, largest)?).map_err(|error| {
        anyhow::anyhow!(
            "the {kind} {} is not UTF-8: invalid byte at offset {}; save it as UTF-8",
            shown(path),
            error.utf8_error().valid_up_to()
        )
    })
}

/// Reads such a file, which may be compressed.
pub(crate) fn read_bytes(path: &Path, kind: &str, largest: u64) -> Result<Vec<u8>> {
    let (file, size) = open_file(path, kind)?;
    let mut bytes = Vec::new();
    if size <= largest {
        file.take(largest + 1)
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read the {kind} {}", shown(path)))?;
    }
    if size.max(bytes.len() as u64) > largest {
        bail!(
            "the {kind} {} is larger than the limit of {largest} bytes; shorten it",
            shown(path)
        );
    }
    Ok(bytes)
}

fn open_file(path: &Path, what: &str) -> Result<(File, u64)> {
    let cannot = || {
        let path = shown(path);
        format!("cannot open the {what} {path}; check the path and its permissions")
    };
    if path == Path::new("-") {
        bail!("the {what} cannot be standard input; give a file");
    }
    let file = File::open(path).with_context(cannot)?;
    let metadata = file.metadata().with_context(cannot)?;
    if metadata.is_dir() {
        bail!("the {what} {} is a directory; give a file", shown(path));
    }
    Ok((file, metadata.len()))
}

/// Prints the first few warnings, and how many more there are.
fn warn(warnings: impl ExactSizeIterator<Item = String>, others: impl Fn(usize) -> String) {
    let more = warnings.len().saturating_sub(NAMED_TOOLS);
    for warning in warnings.take(NAMED_TOOLS) {
        say("warning", &warning);
    }
    if more > 0 {
        say("warning", &others(more));
    }
}
