//! The messages that actions send to each side.

use callwright_mcp::guard::{Action, Guard, Now};

/// Compiles tool lists at once; a driver does it on another thread.
pub(crate) fn compile<'m>(guard: &Guard, actions: Vec<Action<'m>>, now: Now) -> Vec<Action<'m>> {
    let mut done = Vec::new();
    for action in actions {
        match action {
            Action::CompileTools(compilation) => {
                let mut actions = Vec::new();
                guard.tools_compiled(compilation.run(), now, &mut actions);
                done.extend(compile(guard, actions, now));
            }
            other => done.push(other),
        }
    }
    done
}

#[derive(Debug, Default)]
pub(crate) struct Sides {
    pub(crate) to_server: Vec<Vec<u8>>,
    pub(crate) to_client: Vec<Vec<u8>>,
    pub(crate) asks: Vec<Vec<u8>>,
    pub(crate) warnings: Vec<String>,
}

impl Sides {
    pub(crate) fn of(actions: &[Action<'_>]) -> Self {
        let mut sides = Sides::default();
        for action in actions {
            sides
                .to_server
                .extend(action.for_server().map(<[u8]>::to_vec));
            sides
                .to_client
                .extend(action.for_client().map(<[u8]>::to_vec));
            match action {
                Action::AskUser(question) => sides.asks.push(question.message.clone()),
                Action::Warn(warning) => sides.warnings.push(warning.clone()),
                _ => {}
            }
        }
        sides
    }
}

/// Messages as text.
pub(crate) fn texts(messages: Vec<Vec<u8>>) -> Vec<String> {
    let text = |message| String::from_utf8(message).unwrap();
    messages.into_iter().map(text).collect()
}
