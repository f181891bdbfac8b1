//! The text that `callwright` prints without arguments: where to start.

use std::io::Write as _;

const TEXT: &str = "\
callwright guards the tools of a language model: it checks every call against the tool's own schema, repairs what is
safe to repair, and tells the model what is wrong with the rest.

Start with one of these:

  in front of the MCP servers of a client (Claude, Cursor, VS Code, Windsurf, Zed)
    callwright doctor                        shows which clients were found
    callwright init --client claude-code     guards their servers, after showing the difference

  in front of an LLM API, for an agent you cannot change
    callwright serve --upstream https://api.openai.com

  on recorded calls or a log
    callwright check --tools tools.json calls.jsonl
    callwright replay log.jsonl --report report.html

`callwright help COMMAND` explains each command, `callwright explain` each code.
";

pub(crate) fn print() -> u8 {
    let mut stdout = std::io::stdout().lock();
    // A closed pipe is not a failure.
    let _ = stdout.write_all(TEXT.as_bytes());
    0
}
