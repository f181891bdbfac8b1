//! Texts that are errors: HTML pages, and texts that start like an error.

use std::sync::LazyLock;

use regex::Regex;

use super::{FoundError, PAGES, PROGRAMS, is_failure};
use crate::json::Value;
use crate::nearest::has_word;
use crate::text::first_bytes;
use crate::tool::Tool;
use crate::vocabulary::ErrorSign;

/// The longest error text, in bytes. Messages are a few lines; longer texts have a subject of their own.
const LONGEST: usize = 2_000;

/// How much of a page is searched for its title, in bytes. It is at the beginning.
const HEAD: usize = 4_096;

/// A text that starts with an HTTP status.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let reason = r"bad request|unauthorized|payment required|forbidden|not found|method not allowed|not acceptable|request timeout|conflict|gone|payload too large|unprocessable|too many requests|internal server error|not implemented|bad gateway|service (?:temporarily )?unavailable|gateway time-?out";
    let named = r"(?:http(?:/[\d.]+)?(?: ?error)?|httperror|error|error code|status|status code|request failed with status(?: code)?)";
    Regex::new(&format!(
        r"(?i)^\W?(?:{named}\s?[:=]?\s?(?<a>[45]\d\d)(?:$|\s*[:.,;)\n-]|\s+(?:{reason}))|(?<b>[45]\d\d)(?: [-–])?:? (?:{reason})(?:$|\W))"
    ))
    .ok()
});

/// A text that starts like an error: `Error: …`, `ValueError: …`, `java.io.IOException: …`, `MCP error -32602: …`.
static ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let bare = r"(?i:(?:an? )?(?:unexpected |internal |fatal |api |tool |server |runtime )?error(?: occurred| (?:executing|calling|running) (?:tool |function )?['\x22`]?[\w.-]+['\x22`]?)?)\s?(?:[:!]|-\s)\s*(?<rest>\S.*)";
    let class = r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?: \S";
    let trace = r"Traceback \(most recent call last\)";
    let mcp = r"MCP error -?\d+: \S";
    Regex::new(&format!(r"^(?:{bare}|{class}|{trace}|{mcp}|Exception: \S)")).ok()
});

/// The levels at the start of log lines.
const LEVELS: [&str; 7] = ["error", "warn", "info", "debug", "trace", "[", "fatal"];

/// Examines a text; `is_whole` if it is the result itself, and not a member of an object around it.
pub(super) fn look<'v>(tool: &Tool, text: &'v str, is_whole: bool) -> Option<FoundError<'v>> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if is_html(text) {
        return (!is_data(tool, text, is_whole)).then(|| FoundError {
            sign: ErrorSign::Html,
            words: title(text).unwrap_or_default(),
        });
    }
    let is_trace = text.starts_with("Traceback (most recent call last)");
    if text.len() > LONGEST && !is_trace {
        return None;
    }
    message(text, is_trace).filter(|_| !has_word(tool.name(), PROGRAMS))
}

/// The message in a short text that starts like an error.
fn message(text: &str, is_trace: bool) -> Option<FoundError<'_>> {
    if let Some(found) = STATUS.as_ref()?.captures(text) {
        let digits = found.name("a").or(found.name("b"))?;
        let status = digits.as_str().parse().ok();
        let status = status.filter(|status| is_failure(*status))?;
        let words = first_line(text);
        return Some(FoundError {
            sign: ErrorSign::Status(status),
            words,
        });
    }
    let found = ERROR.as_ref()?.captures(text)?;
    let is_none = |rest: &str| {
        let rest = rest.trim_matches(|letter: char| !letter.is_alphanumeric());
        matches!(
            rest.to_ascii_lowercase().as_str(),
            "" | "0" | "none" | "null" | "no" | "false" | "nil" | "n/a" | "no error" | "no errors"
        )
    };
    let rest = found.name("rest").map(|rest| rest.as_str());
    if rest.is_some_and(is_none) || is_log(text) {
        return None;
    }
    let words = match rest {
        _ if is_trace => last_line(text),
        Some(rest) => rest,
        None => first_line(text),
    };
    Some(FoundError {
        sign: ErrorSign::Text,
        words,
    })
}

/// Whether returning a page is the tool's job: by its name, or because its schema accepts it.
fn is_data(tool: &Tool, text: &str, is_whole: bool) -> bool {
    match tool.output_schema() {
        Some(schema) if is_whole => schema.accepts(&Value::String(text.into())),
        Some(_) => has_word(tool.name(), PAGES),
        None => has_word(tool.name(), PAGES) || has_word(tool.name(), PROGRAMS),
    }
}

fn is_html(text: &str) -> bool {
    let start = |prefix: &str| {
        text.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    start("<!doctype html") || start("<html>") || start("<html ")
}

/// The title of a page, or else its first heading.
fn title(page: &str) -> Option<&str> {
    let head = first_bytes(page, HEAD);
    // Lower-casing ASCII keeps the length, so positions agree.
    let lower = head.to_ascii_lowercase();
    let between = |open: &str, close: &str| {
        let open = lower.find(open)?;
        let start = open + lower.get(open..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find(close)?;
        head.get(start..end).map(str::trim)
    };
    let plain = |text: &&str| !text.is_empty() && !text.contains('<');
    between("<title", "</title")
        .filter(plain)
        .or_else(|| between("<h1", "</h1").filter(plain))
}

/// Whether a text is a log: more than one of its lines starts with a level.
fn is_log(text: &str) -> bool {
    let starts = |line: &&str| {
        LEVELS.iter().any(|level| {
            line.get(..level.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(level))
        })
    };
    text.lines().filter(starts).count() > 1
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The last line, which names the error in a Python traceback.
fn last_line(text: &str) -> &str {
    text.trim_end().lines().last().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> crate::Gate {
        let spec = crate::ToolSpec::without_schema(name);
        crate::Gate::builder().tool(spec).build().expect("one tool")
    }

    #[test]
    fn the_patterns_are_patterns() {
        assert!(STATUS.is_some() && ERROR.is_some());
    }

    #[test]
    fn errors_start_like_errors() {
        let gate = tool("get_order");
        let tool = gate.tool("get_order").expect("there");
        for text in [
            "HTTP 429",
            "HTTP/1.1 503 Service Unavailable",
            "HTTP Error 404: Not Found",
            "HttpError 429: slow down",
            "429 Too Many Requests",
            "404 Not Found",
            "Error 500: boom",
            "Request failed with status code 401",
            "Error: order not found",
            "ERROR: boom",
            "An error occurred: boom",
            "Error executing tool get_order: boom",
            "ValueError: no such order",
            "java.io.IOException: broken pipe",
            "MCP error -32602: Invalid arguments",
            "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'a'",
            "\u{feff} Error: a",
            "<!DOCTYPE html><html><head><title>502 Bad Gateway</title>",
            "<html>",
        ] {
            assert!(look(tool, text, true).is_some(), "{text}");
        }
        for text in [
            "",
            "429",
            "404 orders",
            "500 Internal Street, Springfield",
            "HTTP 429 means that the client sends too much",
            "HTTP 200 OK",
            "Error: none",
            "error: 0",
            "Error: ",
            "Errors: 0",
            "Error rate: 5%",
            "Errors are listed below",
            "error_count: 3",
            "ERROR: a\nINFO: b\nERROR: c",
            "The error: none of us saw it",
            "TypeError",
            "<p>Error</p>",
            "status: shipped",
            "Error-free since 1999",
        ] {
            assert!(look(tool, text, true).is_none(), "{text}");
        }
    }

    #[test]
    fn some_tools_are_about_pages_and_programs() {
        let page = "<!doctype html><title>a</title>";
        for name in ["fetch_page", "readFile", "web-fetch", "bash"] {
            let gate = tool(name);
            let tool = gate.tool(name).expect("there");
            assert!(look(tool, page, true).is_none(), "{name}");
        }
        let gate = tool("run_command");
        let tool = gate.tool("run_command").expect("there");
        assert!(look(tool, "Error: cannot find module", true).is_none());
    }
}
