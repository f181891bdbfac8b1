//! Detects an error that looks like a success.
//!
//! Tools catch their own errors and return the message as if it were the result; gateways and proxies return an HTML page. A
//! model takes both for data. Detected: HTML pages, texts that start like an error, and objects that are nothing but an error:
//! `{"error": "…"}`, `{"success": false, "message": "…"}`, `{"statusCode": 503}`. Ignored: tools whose job is to return such
//! texts (pages, files, logs, shells), lists, records that mention an error among other things, partial results, and members
//! that the tool's output schema declares and accepts.

mod object;
mod text;

use super::names::unwrapped;
use crate::json::Value;
use crate::text::{first_bytes, snippet};
use crate::tool::Tool;
use crate::vocabulary::transient::is_transient;
use crate::vocabulary::{ErrorSign, OutputFault, word_list};

/// How much of an error is quoted, in characters: a useful error fits in two lines.
const QUOTED: usize = 200;

/// How much of an error is searched for signs of a transient failure, in bytes. They are at the beginning.
const SEARCHED: usize = 2_048;

/// Words in the name of a tool whose results may be pages.
const PAGES: &[&str] = word_list![
    fetch browse browser html page pages webpage web scrape scraper crawl crawler curl http
    https url site website download read file files document doc docs source view snapshot
    render template email mail message content contents code diff cat open navigate request
    export preview markup
];

/// Words in the name of a tool whose results may be any text that a program prints.
const PROGRAMS: &[&str] = word_list![
    bash shell sh zsh powershell exec execute run command commands cmd terminal console python
    javascript script eval repl test tests build compile lint log logs process notebook
];

/// Words in the name of a tool whose results may report another server's status.
const CLIENTS: &[&str] = word_list![
    http https request requests fetch curl api url webhook ping probe health monitor uptime
];

/// What was recognised: the kind of sign, and the error's text.
struct FoundError<'v> {
    sign: ErrorSign,
    words: &'v str,
}

pub(in crate::check) fn error_in_disguise(tool: &Tool, output: &Value<'_>) -> Option<OutputFault> {
    let inner = unwrapped(output);
    let found = match inner {
        Value::String(text) => text::look(tool, text, std::ptr::eq(inner, output)),
        Value::Object(_) => object::look(tool, output, inner),
        _ => None,
    }?;
    let said = (!tool.returns_secrets()).then(|| snippet(found.words.trim(), QUOTED));
    let status = match found.sign {
        ErrorSign::Status(status) => format!("HTTP {status} "),
        _ => String::new(),
    };
    let transient = is_transient(&format!("{status}{}", first_bytes(found.words, SEARCHED)));
    Some(OutputFault::ErrorInDisguise {
        sign: found.sign,
        said,
        transient,
    })
}

/// An HTTP status that means failure.
fn as_status(value: &Value<'_>) -> Option<u16> {
    let number = value.as_number()?.as_u64()?;
    u16::try_from(number)
        .ok()
        .filter(|status| is_failure(*status))
}

fn is_failure(status: u16) -> bool {
    (400..600).contains(&status)
}
