//! What another judge says differently: the first thing to read where somebody compared.

use crate::summary::Side;

use super::super::comparison::{direction, objection, ranked};
use super::super::number::count;
use super::super::printable::cut;
use super::Page;
use super::style::left;

/// How many kinds are shown: stricter ones come first, and more than these are not read at once.
const KINDS: usize = 10;

/// The longest value in a line.
const VALUE: usize = 40;

impl Page<'_> {
    pub(super) fn comparison(&mut self) {
        let all = ranked(self.report);
        if all.is_empty() {
            return;
        }
        self.heading("What changes");
        for (key, change) in all.iter().take(KINDS) {
            let side = match key.side {
                Side::Input => "",
                Side::Output => " result",
            };
            // Two blanks, the longest word for a direction and two blanks.
            let start = format!("  {}  ", left(direction(key), 8));
            let room = self.width.saturating_sub(start.len());
            let first = format!(
                "{}{side}: {} → {}, {}",
                key.tool,
                key.from,
                key.to,
                count(change.calls, "call", "calls")
            );
            self.line(format!("{start}{}", cut(&first, room)));
            let value = change.examples.iter().next();
            let value = value.map_or_else(String::new, |example| {
                let value = match example.value.as_str() {
                    "" => String::new(),
                    value => format!(": {}", cut(value, VALUE)),
                };
                format!("{value} ({})", example.place)
            });
            let path = match key.path.as_str() {
                "" => String::new(),
                path => format!("{path} "),
            };
            let second = cut(&format!("{path}{}{value}", objection(key)), room);
            let second = self.styles.faint(&second);
            self.line(format!("{}{second}", " ".repeat(start.len())));
        }
        self.more(all.len(), KINDS, "kind", "kinds");
    }
}
