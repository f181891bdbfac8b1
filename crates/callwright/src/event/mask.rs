//! The values of an event as they may be shown.
//!
//! In comes an event, out go its values without those that a schema marks with `writeOnly` or `format: password`:
//! [`Secrecy`] decides. This happens on the thread of the sink, and costs next to nothing for tools that mark nothing.

use std::borrow::Cow;

use serde_json::Value as Told;

use super::Event;
use crate::call::Arguments;
use crate::classify::Failure;
use crate::feedback::Feedback;
use crate::json::{Path, Value};
use crate::parse::read_value;
use crate::repair::Edit;
use crate::secrecy::{MASKED, Secrecy};
use crate::wire::ToldFailure;

/// Which values of arguments, edits and results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Values {
    /// All of them, secrets too.
    All,
    /// All but those that a schema marks as secrets.
    #[default]
    Masked,
    /// None: each is replaced by the name of its type, so that the shape stays. Keys are shown.
    None,
}

/// The values of an event as they may be shown.
pub(super) struct Shown<'e> {
    pub(super) tool: Cow<'e, str>,
    pub(super) tool_sent: Option<Cow<'e, str>>,
    pub(super) sent: Cow<'e, Arguments<'e>>,
    pub(super) arguments: Option<Cow<'e, Value<'e>>>,
    pub(super) edits: Vec<Cow<'e, Edit>>,
    pub(super) output: Option<Cow<'e, Value<'e>>>,
    pub(super) operator_detail: Option<Cow<'e, str>>,
    words: Words,
}

/// What may be said in words.
enum Words {
    All,
    Masked(Box<Secrecy>),
    None,
}

impl<'e> Shown<'e> {
    pub(super) fn new(event: &'e Event, values: Values) -> Self {
        let masks = &event.masks;
        match values {
            Values::Masked if masks.input.is_some() || masks.output.is_some() => masked(event),
            Values::All | Values::Masked => Shown {
                tool: Cow::Borrowed(&event.tool),
                tool_sent: event.tool_sent.as_deref().map(Cow::Borrowed),
                sent: Cow::Borrowed(&event.sent),
                arguments: event.arguments(),
                edits: event.edits.iter().map(Cow::Borrowed).collect(),
                output: event.output.as_ref().map(Cow::Borrowed),
                operator_detail: event.operator_detail.as_deref().map(Cow::Borrowed),
                words: Words::All,
            },
            Values::None => shapes(event),
        }
    }

    /// A failure as JSON, with nothing in its words that must not be seen.
    pub(super) fn failure(&self, failure: &Failure, feedback: &Feedback) -> String {
        let json = match &self.words {
            Words::All => serde_json::to_string(&ToldFailure::new(failure, feedback)),
            Words::Masked(secrecy) => {
                let mut failure = failure.clone();
                secrecy.failure(&mut failure);
                serde_json::to_string(&ToldFailure::new(&failure, feedback))
            }
            Words::None => {
                let told = serde_json::to_value(ToldFailure::new(failure, feedback));
                told.and_then(|mut told| {
                    hide_words(&mut told);
                    serde_json::to_string(&told)
                })
            }
        };
        // Texts and lists of texts always serialise.
        json.unwrap_or_else(|_| "null".to_owned())
    }
}

/// Hides words of a failure: those that are made out of values.
fn hide_words(told: &mut Told) {
    let hide = |node: Option<&mut Told>| {
        if let Some(Told::String(text)) = node {
            MASKED.clone_into(text);
        }
    };
    hide(told.get_mut("detail"));
    let issues = told.get_mut("issues").and_then(Told::as_array_mut);
    for issue in issues.into_iter().flatten() {
        for key in ["received", "message", "suggestion"] {
            hide(issue.get_mut(key));
        }
    }
}

/// The values of an event of a tool that marks secrets.
fn masked(event: &Event) -> Shown<'_> {
    let mut secrecy = Secrecy::new(event.masks.input.clone());
    secrecy.sent(&event.sent);
    if let Some(repaired) = &event.repaired {
        secrecy.arguments(repaired);
    }
    if let Some(output) = &event.output {
        secrecy.result(event.masks.output.as_ref(), output);
    }
    let root = Path::root();
    let shown = |value: &Value<'_>| secrecy.value(value, &root).into_owned().into_owned();
    let sent = match &event.sent {
        Arguments::Absent => Arguments::Absent,
        Arguments::Value(value) => Arguments::Value(shown(value)),
        Arguments::Text(text) => Arguments::Text(match read_value(text) {
            Ok(value) => match shown(&value) {
                shown if shown == value => Cow::Borrowed(text.as_ref()),
                shown => Cow::Owned(shown.to_string()),
            },
            Err(_) if secrecy.is_unreadable() => Cow::Borrowed(MASKED),
            Err(_) => Cow::Borrowed(text.as_ref()),
        }),
    };
    let is_unknown = event.failure.as_ref().is_some_and(Failure::is_of_no_tool);
    Shown {
        tool: if is_unknown {
            secrecy.name(&event.tool)
        } else {
            Cow::Borrowed(&event.tool)
        },
        tool_sent: event.tool_sent.as_deref().map(|name| secrecy.name(name)),
        sent: Cow::Owned(sent),
        arguments: event.arguments().map(|value| Cow::Owned(shown(&value))),
        edits: event
            .edits
            .iter()
            .map(|edit| Cow::Owned(secrecy.edit(edit)))
            .collect(),
        output: event
            .output
            .as_ref()
            .map(|output| secrecy.result_value(output, &root)),
        operator_detail: event
            .operator_detail
            .as_deref()
            .map(|detail| secrecy.text(detail).into_owned().into()),
        words: Words::Masked(Box::new(secrecy)),
    }
}

/// The values of an event by the names of their types.
fn shapes(event: &Event) -> Shown<'_> {
    Shown {
        tool: Cow::Borrowed(&event.tool),
        tool_sent: event.tool_sent.as_deref().map(Cow::Borrowed),
        sent: Cow::Owned(match &event.sent {
            Arguments::Absent => Arguments::Absent,
            Arguments::Value(value) => Arguments::Value(shape(value)),
            Arguments::Text(text) => Arguments::Text(match read_value(text) {
                Ok(value) => shape(&value).to_string().into(),
                Err(_) => "string".into(),
            }),
        }),
        arguments: event.arguments().map(|value| Cow::Owned(shape(&value))),
        edits: event
            .edits
            .iter()
            .map(|edit| {
                Cow::Owned(Edit {
                    before: shape(&edit.before),
                    after: shape(&edit.after),
                    ..edit.clone()
                })
            })
            .collect(),
        output: event
            .output
            .as_ref()
            .map(|output| Cow::Owned(shape(output))),
        operator_detail: event
            .operator_detail
            .as_ref()
            .map(|_| Cow::Borrowed(MASKED)),
        words: Words::None,
    }
}

/// The value with the name of its type instead of each leaf.
fn shape(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(shape).collect()),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(key, member)| (Cow::Owned(key.clone().into_owned()), shape(member)))
                .collect(),
        ),
        leaf => Value::String(Cow::Borrowed(leaf.kind().name())),
    }
}
