//! A tool's name as it was sent, and what templates, clients and servers add to it.
//!
//! Takes a name apart: marks of a template, quotes, namespaces, the number of the call, the name of a server. Never leaves out
//! anything that may say something; [`super::lookup`] decides which tool the rest means.

use crate::vocabulary::template::{self, without_namespace};

/// A name without marks and quotes around it, without the empty parentheses of a call and without its addressee; and whether
/// nothing but that was left out. After the token of a chat template there may be more.
pub(super) fn undecorated(sent: &str) -> Option<(&str, bool)> {
    let mut name = sent.trim_start();
    while let Some(length) = template::plain_mark(name) {
        name = name[length..].trim_start();
    }
    let (name, marks) = name.split_at(name.find(['<', '[']).unwrap_or(name.len()));
    let is_certain = are_marks(marks);
    if !is_certain && !marks.starts_with("<|") {
        return None;
    }
    let name = name.trim();
    let quoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
    let name = ['"', '\'', '`']
        .into_iter()
        .find_map(quoted)
        .unwrap_or(name);
    let name = name.strip_suffix("()").unwrap_or(name);
    Some((name.strip_prefix("to=").unwrap_or(name), is_certain))
}

/// Whether a text consists of the marks of a template and the words that it puts between them.
fn are_marks(mut text: &str) -> bool {
    const CHANNELS: [&str; 6] = ["", "commentary", "analysis", "final", "json", "code"];
    while !text.is_empty() {
        let Some(length) = template::plain_mark(text) else {
            return false;
        };
        let rest = &text[length..];
        let (word, next) = rest.split_at(rest.find(['<', '[']).unwrap_or(rest.len()));
        if !CHANNELS.contains(&word.trim()) {
            return false;
        }
        text = next;
    }
    true
}

/// Whether this is the exact name of a tool several times in a row. Two letters may be half of a word.
pub(super) fn is_repeated(tool: &str, name: &str) -> bool {
    const SHORTEST: usize = 3;
    tool.len() >= SHORTEST && name.len() > tool.len() && name.len().is_multiple_of(tool.len()) && {
        name.as_bytes().chunks(tool.len())
    }
    .all(|part| part == tool.as_bytes())
}

/// A name with `_` for each dot and for several `_`: where names may not have dots, providers and servers write them so, and
/// some join parts by `__`. Dots between digits are those of a version.
pub(super) fn with_plain_separators(name: &str) -> String {
    let bytes = name.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut plain = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let is_dot = c == '.' && at > 0 && !(is_digit(at - 1) && is_digit(at + 1));
        let c = if is_dot { '_' } else { c };
        // At the start, `_` may be a part of the name.
        if c != '_' || plain.is_empty() || !plain.ends_with('_') {
            plain.push(c);
        }
    }
    plain
}

/// The name of a tool that is offered under a namespace or as that of an MCP server.
pub(crate) fn own_name(tool: &str) -> Option<&str> {
    without_namespace(tool).or_else(|| mcp_parts(tool).map(|(_, own)| own))
}

/// The server that a name belongs to, and the tool's name there: `mcp__files__read_file`, `files:read_file`,
/// `files/read_file`, `files-read_file`. A hyphen only if the words of the tool are separated otherwise: `image-search` is a
/// name. In front of it, fewer letters are a syllable as often as a server: `un-read_file`, `pre-read_file`.
pub(super) fn after_server(name: &str) -> Option<(&str, &str)> {
    const SHORTEST: usize = 4;
    let is_word = |c: char| c.is_alphanumeric();
    let by_hyphen = || {
        let (server, tool) = name.split_once('-')?;
        let is_joined = tool.contains('_') && tool.chars().all(|c| is_word(c) || c == '_');
        let is_server = server.len() >= SHORTEST && server.chars().all(is_word);
        (is_joined && is_server).then_some((server, tool))
    };
    let by_sign = || {
        let (server, tool) = name.split_once([':', '/'])?;
        let is_name = server.chars().all(|c| is_word(c) || matches!(c, '_' | '-'));
        is_name.then_some((server, tool))
    };
    let parts = mcp_parts(name).or_else(by_sign).or_else(by_hyphen);
    parts.filter(|(server, _)| !server.is_empty())
}

/// What the name of a tool of an MCP server begins with.
pub(crate) const MCP: &str = "mcp__";

fn mcp_parts(name: &str) -> Option<(&str, &str)> {
    let parts = name.strip_prefix(MCP)?.split_once("__");
    parts.filter(|(server, _)| !server.is_empty())
}
