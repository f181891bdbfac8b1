//! An error that pretends to be a success.
//!
//! Tools catch their own errors and answer with the message as if it were the result; gateways and proxies answer with
//! a page of HTML. A model takes both for data. Seen are pages of HTML, texts that start like an error, and objects
//! that are nothing but an error: `{"error": "…"}`, `{"success": false, "message": "…"}`, `{"statusCode": 503}`.
//! Left alone are tools whose business such texts are (pages, files, logs, shells), lists, records that tell of an error
//! among other things, partial results, and members that the tool's output schema declares and accepts.

mod object;
mod text;

use super::names::{unwrapped, words};
use crate::json::Value;
use crate::text::{first_bytes, snippet};
use crate::tool::Tool;
use crate::words::transient::is_transient;
use crate::words::{ErrorSign, OutputFault, word_list};

/// How much of an error is quoted, in characters: an error that is worth anything says it in two lines.
const QUOTED: usize = 200;

/// How much of an error is searched for signs of a passing trouble, in bytes. They are at the beginning.
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

/// What was recognised: how, and the words of it.
struct Found<'v> {
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

/// Whether the name of a tool has one of these words.
fn is_called(tool: &Tool, list: &[&str]) -> bool {
    let words = words(tool.name());
    words.iter().any(|word| list.contains(&word.as_str()))
}

/// Whether a number is a status of HTTP that says that something failed.
fn as_status(value: &Value<'_>) -> Option<u16> {
    let number = value.as_number()?.as_u64()?;
    u16::try_from(number)
        .ok()
        .filter(|status| is_failure(*status))
}

fn is_failure(status: u16) -> bool {
    (400..600).contains(&status)
}
