//! What `callwright` prints without arguments: what to do first.

use std::io::Write as _;

const TEXT: &str = "\
callwright guards the tools of a language model: it judges every call against the tool's own schema, repairs what is
safe to repair, and tells the model what is wrong with the rest.

Start with one of these:

  in front of the MCP servers of a client (Claude, Cursor, VS Code, Windsurf, Zed)
    callwright doctor                        shows which clients were found
    callwright init --client claude-code     guards their servers, after showing the difference

  in front of an LLM API, for an agent that you cannot change
    callwright serve --upstream https://api.openai.com

  on recorded calls or a log
    callwright check --tools tools.json calls.jsonl
    callwright replay log.jsonl --report report.html

`callwright help COMMAND` explains each of them, `callwright explain` every code.
";

pub(crate) fn print() -> u8 {
    let mut stdout = std::io::stdout().lock();
    // A reader that is gone has read enough.
    let _ = stdout.write_all(TEXT.as_bytes());
    0
}
