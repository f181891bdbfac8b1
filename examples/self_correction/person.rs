//! The user, as far as answering questions is concerned.

use std::io::{self, IsTerminal as _, Write as _};

use callwright::admit::{Escalation, Reply};
use callwright::failure::Objection;

/// Who answers a question.
pub(crate) enum Person {
    /// Always gives the same answer.
    Scripted,
    /// The user at the terminal.
    AtTerminal,
    /// Absent.
    Away,
}

impl Person {
    /// The user at the terminal, if there is one.
    pub(crate) fn at_terminal() -> Self {
        if io::stdin().is_terminal() {
            Person::AtTerminal
        } else {
            Person::Away
        }
    }

    /// Without a user, no question is asked.
    pub(crate) fn escalation(&self) -> Escalation {
        match self {
            Person::Scripted | Person::AtTerminal => Escalation::Ask,
            Person::Away => Escalation::Stop,
        }
    }

    /// What the user says to the model, and what to the ledger.
    pub(crate) fn answer(&self, objection: &Objection) -> io::Result<(String, Option<Reply>)> {
        let once = || Some(Reply::AllowOnce(objection.fingerprint));
        match self {
            Person::Scripted => Ok((
                "Try it once more, the carrier has picked it up by now.".to_owned(),
                once(),
            )),
            Person::AtTerminal => {
                print!("[once, always, stop, or what to do instead] ");
                io::stdout().flush()?;
                let mut line = String::new();
                io::stdin().read_line(&mut line)?;
                Ok(match line.trim() {
                    "once" => ("You may try it once more.".to_owned(), once()),
                    "always" => (
                        format!("You may call {} as often as you like.", objection.tool),
                        Some(Reply::AllowTool(objection.tool.clone())),
                    ),
                    // The terminal was closed.
                    "stop" | "" => ("Stop, and say what you know.".to_owned(), Some(Reply::Stop)),
                    words => (words.to_owned(), None),
                })
            }
            Person::Away => Ok(("Stop, and say what you know.".to_owned(), Some(Reply::Stop))),
        }
    }
}
