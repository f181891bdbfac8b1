//! What to do next, as commands that run.

use super::super::next::{self, Step};
use super::super::printable::width;
use super::Page;

/// What to do where no call was found.
const NO_CALLS: &str = "give it files with calls: records of callwright, requests and answers of OpenAI or Anthropic, \
                        MCP messages, OpenTelemetry spans, or one call a line";

impl Page<'_> {
    pub(super) fn next(&mut self) {
        self.heading("Next");
        if self.report.summary.calls.calls == 0 {
            self.hanging("  ", NO_CALLS);
            return;
        }
        let steps = next::steps(self.report);
        for Step { what, commands } in &steps {
            self.hanging("  ", what);
            for command in commands {
                self.command(command);
            }
        }
    }

    /// A command in as many lines as it needs; a shell reads them as one. An option stays with its value.
    fn command(&mut self, command: &str) {
        // Six blanks before it, and two columns for the sign that it goes on.
        let room = self.width.saturating_sub(6 + 2);
        let mut lines: Vec<String> = Vec::new();
        for part in command.split(" --") {
            match lines.last_mut() {
                None => lines.push(part.to_owned()),
                Some(line) if width(line) + 3 + width(part) <= room => {
                    line.push_str(" --");
                    line.push_str(part);
                }
                Some(_) => lines.push(format!("--{part}")),
            }
        }
        let last = lines.len().saturating_sub(1);
        for (index, line) in lines.iter().enumerate() {
            let start = if index == 0 { "    " } else { "      " };
            let end = if index == last { "" } else { " \\" };
            self.line(format!("{start}{line}{end}"));
        }
    }
}
