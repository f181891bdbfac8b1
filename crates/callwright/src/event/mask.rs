//! The values of an event in a form that may be shown.
//!
//! Takes an event; returns its values without those that a schema marks with `writeOnly` or `format: password`, as decided by
//! [`Secrecy`]. This runs on the sink's thread and costs next to nothing for tools without secrets.

use std::borrow::Cow;

use serde_json::Value as Told;

use super::Event;
use crate::call::Arguments;
use crate::feedback::Feedback;
use crate::json::{Path, Value, read_value};
use crate::secrecy::{MASKED, Secrecy};
use crate::vocabulary::{Edit, Failure, named};
use crate::wire::ToldFailure;

named! {
    /// Which values of arguments, edits and results are shown.
    #[derive(Default)]
    pub enum Values {
        /// All of them, secrets too.
        All = "all",
        /// All except those that a schema marks as secret, and anything that looks like a password, a key or a token.
        #[default]
        Masked = "masked",
        /// None: each is replaced by the name of its type, so that the shape stays. Keys are shown.
        None = "none",
    }
}

/// What to hide in an event.
pub(super) enum Mask {
    Nothing,
    Secrets(Box<Secrecy>),
    AllValues,
}

impl Mask {
    pub(super) fn of(event: &Event, values: Values) -> Self {
        let secrets = &event.masks;
        match values {
            Values::Masked if secrets.input.is_some() || secrets.output.is_some() => {}
            Values::All | Values::Masked => return Mask::Nothing,
            Values::None => return Mask::AllValues,
        }
        let mut secrecy = Secrecy::new(secrets.input.clone());
        secrecy.sent(&event.sent);
        if let Some(repaired) = &event.repaired {
            secrecy.arguments(repaired);
        }
        if let Some(output) = &event.output {
            secrecy.result(secrets.output.as_ref(), output);
        }
        Mask::Secrets(Box::new(secrecy))
    }

    pub(super) fn name<'e>(&self, name: &'e str) -> Cow<'e, str> {
        match self {
            Mask::Secrets(secrecy) => secrecy.name(name),
            Mask::Nothing | Mask::AllValues => Cow::Borrowed(name),
        }
    }

    pub(super) fn text<'e>(&self, text: &'e str) -> Cow<'e, str> {
        match self {
            Mask::Nothing => Cow::Borrowed(text),
            Mask::Secrets(secrecy) => secrecy.text(text),
            Mask::AllValues => Cow::Borrowed(MASKED),
        }
    }

    pub(super) fn argument<'e>(&self, value: Cow<'e, Value<'e>>) -> Cow<'e, Value<'e>> {
        match self {
            Mask::Nothing => value,
            Mask::Secrets(secrecy) => {
                let shown = secrecy.value(&value, &Path::root());
                Cow::Owned(shown.into_owned().into_owned())
            }
            Mask::AllValues => Cow::Owned(shape(&value)),
        }
    }

    pub(super) fn output<'e>(&self, output: &'e Value<'e>) -> Cow<'e, Value<'e>> {
        match self {
            Mask::Nothing => Cow::Borrowed(output),
            Mask::Secrets(secrecy) => secrecy.result_value(output, &Path::root()),
            Mask::AllValues => Cow::Owned(shape(output)),
        }
    }

    pub(super) fn edit<'e>(&self, edit: &'e Edit) -> Cow<'e, Edit> {
        match self {
            Mask::Nothing => Cow::Borrowed(edit),
            Mask::Secrets(secrecy) => Cow::Owned(secrecy.edit(edit)),
            Mask::AllValues => Cow::Owned(Edit {
                before: shape(&edit.before),
                after: shape(&edit.after),
                ..edit.clone()
            }),
        }
    }

    pub(super) fn sent<'e>(&self, sent: &'e Arguments<'e>) -> Cow<'e, Arguments<'e>> {
        let text = match (self, sent) {
            (Mask::Nothing, _) | (_, Arguments::Absent) => return Cow::Borrowed(sent),
            (_, Arguments::Value(value)) => {
                let shown = self.argument(Cow::Borrowed(value));
                return Cow::Owned(Arguments::Value(shown.into_owned()));
            }
            (_, Arguments::Text(text)) => text.as_ref(),
        };
        let shown = match (self, read_value(text)) {
            (Mask::AllValues, Err(_)) => Cow::Borrowed("string"),
            (Mask::Secrets(secrecy), Err(_)) if secrecy.is_unreadable() => Cow::Borrowed(MASKED),
            (_, Err(_)) => Cow::Borrowed(text),
            (mask, Ok(value)) => {
                let shown = mask.argument(Cow::Borrowed(&value));
                match mask {
                    // As it was written, if there is nothing to hide.
                    Mask::Secrets(_) if *shown == value => Cow::Borrowed(text),
                    _ => Cow::Owned(shown.to_string()),
                }
            }
        };
        Cow::Owned(Arguments::Text(shown))
    }

    /// A failure as JSON, with its text masked.
    pub(super) fn failure(&self, failure: &Failure, feedback: &Feedback) -> String {
        let json = match self {
            Mask::Nothing => serde_json::to_string(&ToldFailure::new(failure, feedback)),
            Mask::Secrets(secrecy) => {
                let mut failure = failure.clone();
                secrecy.failure(&mut failure);
                serde_json::to_string(&ToldFailure::new(&failure, feedback))
            }
            Mask::AllValues => {
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

/// Hides those parts of a failure's text that are made from values.
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

/// The value with each leaf replaced by the name of its type.
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
