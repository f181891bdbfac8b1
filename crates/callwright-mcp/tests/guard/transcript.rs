//! Plays transcripts: what comes in from either side, and byte for byte what goes out.
//!
//! ```text
//! C> text   the client sends it          S> text   the server sends it
//! C= text   … and it passes as it is     S= text   … and it passes as it is
//! c< text   the client gets it           s< text   the server gets it
//! r< 7 text the client gets a refusal of its request 7, with this text
//! w  text   the operator is warned, with these words among others
//! t  11     seconds pass
//! #         a comment
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use callwright_mcp::guard::{Guard, Now, Settings};

use crate::sides::{Sides, compile, texts};

pub(crate) struct Play {
    guard: Guard,
    now: Now,
    /// All warnings to the operator.
    pub(crate) warned: Vec<String>,
}

#[derive(Debug, Default, PartialEq)]
struct Went {
    to_server: Vec<String>,
    to_client: Vec<String>,
}

/// A guard with custom settings.
pub(crate) fn with(settings: impl FnOnce(&mut Settings)) -> Play {
    let mut all = Settings::default();
    settings(&mut all);
    Play {
        guard: Guard::new(Arc::new(all), "s"),
        now: Now {
            instant: Instant::now(),
            time: SystemTime::UNIX_EPOCH,
        },
        warned: Vec::new(),
    }
}

/// Plays a transcript with default settings.
#[track_caller]
pub(crate) fn play(transcript: &str) -> Play {
    with(|_| {}).then(transcript)
}

/// `7 text` as the result of request 7.
fn refusal(line: &str) -> String {
    let (id, text) = line.split_once(' ').unwrap();
    let text = serde_json::json!(text);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}],"isError":true}}}}"#
    )
}

impl Play {
    /// Plays a transcript, or the next part of one.
    #[track_caller]
    pub(crate) fn then(mut self, transcript: &str) -> Self {
        let mut lines = transcript
            .lines()
            .map(str::trim_start)
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .peekable();
        while let Some(line) = lines.next() {
            let (what, text) = line.split_at(2);
            let text = text.strip_prefix(' ').unwrap_or(text);
            let mut expected = Went::default();
            let mut warnings = Vec::new();
            match what {
                "C=" => expected.to_server.push(text.to_owned()),
                "S=" => expected.to_client.push(text.to_owned()),
                _ => {}
            }
            while let Some(next) = lines.peek() {
                let (what, text) = next.split_at(2);
                let text = text.strip_prefix(' ').unwrap_or(text);
                match what {
                    "c<" => expected.to_client.push(text.to_owned()),
                    "s<" => expected.to_server.push(text.to_owned()),
                    "r<" => expected.to_client.push(refusal(text)),
                    "w " => warnings.push(text.trim_start().to_owned()),
                    _ => break,
                }
                lines.next();
            }
            // The guard's own request goes before the message that passes.
            if what == "C=" {
                expected.to_server.rotate_left(1);
            }
            let mut out = Vec::new();
            match what {
                "C>" | "C=" => self.guard.from_client(text.as_bytes(), self.now, &mut out),
                "S>" | "S=" => self.guard.from_server(text.as_bytes(), self.now, &mut out),
                "t " => {
                    self.now.instant += Duration::from_secs(text.trim().parse().unwrap());
                    self.guard.tick(self.now, &mut out);
                }
                _ => panic!("no such line: {line}"),
            }
            let sides = Sides::of(&compile(&self.guard, out, self.now));
            let went = Went {
                to_server: texts(sides.to_server),
                to_client: texts(sides.to_client),
            };
            assert_eq!(went, expected, "after {line}");
            let mut warned = sides.warnings;
            assert_eq!(warned.len(), warnings.len(), "{warned:?}");
            for (told, words) in warned.iter().zip(&warnings) {
                assert!(told.contains(words), "{told:?} should say {words:?}");
            }
            self.warned.append(&mut warned);
        }
        self
    }

    /// What the client gets when the server ends.
    pub(crate) fn server_gone(&self, why: &str) -> Vec<String> {
        let mut out = Vec::new();
        self.guard.server_gone(why, &mut out);
        let sides = Sides::of(&out);
        assert!(sides.to_server.is_empty());
        texts(sides.to_client)
    }

    /// Whether the guard has a deadline.
    pub(crate) fn waits(&self) -> bool {
        self.guard.deadline().is_some()
    }
}
