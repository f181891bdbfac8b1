//! What must not be seen: values that a schema marks with `writeOnly` or `format: password`.
//!
//! In comes an event, out go its values as they may be shown. A marked value is replaced by `"[masked]"`, with all that
//! is in it. So is a text that nobody could read if a secret may be in it, a result that repeats a secret, and whatever
//! was said to the operator with a secret in it. This happens on the thread of the sink, and costs next to nothing for
//! tools that mark nothing.

use std::borrow::Cow;

use serde_json::Value as Schema;

use super::Event;
use super::hide::{Mask, shape, stands_in};
use crate::call::Arguments;
use crate::classify::{Cause, Failure};
use crate::feedback::Feedback;
use crate::json::{Path, Value};
use crate::parse::read_value;
use crate::verdict::ToldFailure;

/// What stands for a value that must not be seen.
pub(super) const MASKED: &str = "[masked]";

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
    pub(super) sent: Cow<'e, Arguments<'e>>,
    pub(super) arguments: Option<Cow<'e, Value<'e>>>,
    /// Before and after each edit.
    pub(super) edits: Vec<(Cow<'e, Value<'e>>, Cow<'e, Value<'e>>)>,
    pub(super) output: Option<Cow<'e, Value<'e>>>,
    pub(super) operator_detail: Option<&'e str>,
    words: Words,
    event: &'e Event,
}

/// What may be said in words.
enum Words {
    All,
    /// Nothing in which one of these stands.
    Without(Vec<String>),
    None,
}

impl<'e> Shown<'e> {
    pub(super) fn new(event: &'e Event, values: Values) -> Self {
        let masks = &event.masks;
        match values {
            Values::Masked if !masks.input.is_empty() || masks.output.is_some() => masked(event),
            Values::All | Values::Masked => Shown {
                sent: Cow::Borrowed(&event.sent),
                arguments: event.arguments(),
                edits: event
                    .edits
                    .iter()
                    .map(|edit| (Cow::Borrowed(&edit.before), Cow::Borrowed(&edit.after)))
                    .collect(),
                output: event.output.as_ref().map(Cow::Borrowed),
                operator_detail: event.operator_detail.as_deref(),
                words: Words::All,
                event,
            },
            Values::None => Shown {
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
                        (
                            Cow::Owned(shape(&edit.before)),
                            Cow::Owned(shape(&edit.after)),
                        )
                    })
                    .collect(),
                output: event
                    .output
                    .as_ref()
                    .map(|output| Cow::Owned(shape(output))),
                operator_detail: event.operator_detail.as_ref().map(|_| MASKED),
                words: Words::None,
                event,
            },
        }
    }

    /// A failure as JSON, with nothing in its words that must not be seen.
    pub(super) fn failure(&self, failure: &Failure, feedback: &Feedback) -> String {
        let json = match &self.words {
            Words::All => serde_json::to_string(&ToldFailure::new(failure, feedback)),
            words => {
                let failure = without_result(failure);
                let told = serde_json::to_value(ToldFailure::new(&failure, feedback));
                told.and_then(|mut told| {
                    let hidden = tells_secret(&failure, self.event);
                    hide_words(&mut told, hidden, &|text| words.hide(text));
                    serde_json::to_string(&told)
                })
            }
        };
        // Texts and lists of texts always serialise.
        json.unwrap_or_else(|_| "null".to_owned())
    }
}

impl Words {
    fn hide(&self, text: &str) -> bool {
        match self {
            Words::All => false,
            Words::Without(secrets) => secrets.iter().any(|secret| stands_in(secret, text)),
            Words::None => true,
        }
    }
}

/// The failure without the beginning of an earlier result, of which nobody knows what is in it.
fn without_result(failure: &Failure) -> Cow<'_, Failure> {
    match &failure.cause {
        Cause::Objection(objection) if !objection.last.is_empty() => {
            let mut objection = objection.clone();
            objection.last.clear();
            Cow::Owned(Failure {
                cause: Cause::Objection(objection),
                ..failure.clone()
            })
        }
        _ => Cow::Borrowed(failure),
    }
}

/// Whether the detail of a failure tells the values of a secret.
fn tells_secret(failure: &Failure, event: &Event) -> bool {
    match &failure.cause {
        Cause::Objection(objection) => {
            let original = objection.original.as_deref();
            original.is_some_and(|original| tells_secret(original, event))
        }
        Cause::TwoReadings { path, .. } => {
            let mut secrets = event.masks.input.iter();
            secrets.any(|secrets| path.is_root() || secrets.hide(path))
        }
        _ => false,
    }
}

/// Hides words of a failure: those that are made out of values.
fn hide_words(told: &mut Schema, all_of_detail: bool, hide: &dyn Fn(&str) -> bool) {
    let replace = |node: Option<&mut Schema>, always: bool| {
        if let Some(Schema::String(text)) = node
            && (always || hide(text))
        {
            MASKED.clone_into(text);
        }
    };
    replace(told.get_mut("detail"), all_of_detail);
    let issues = told.get_mut("issues").and_then(Schema::as_array_mut);
    for issue in issues.into_iter().flatten() {
        for key in ["received", "message", "suggestion"] {
            replace(issue.get_mut(key), false);
        }
    }
}

/// The values of an event of a tool that marks secrets.
fn masked(event: &Event) -> Shown<'_> {
    let input = Mask::new(&event.masks.input, &[]);
    let mut known = Vec::new();
    let root = Path::root();
    let arguments = event.arguments();
    let sent = match &event.sent {
        Arguments::Absent => Cow::Borrowed(&event.sent),
        Arguments::Value(value) => {
            Cow::Owned(Arguments::Value(input.value(value, &root, &mut known)))
        }
        Arguments::Text(text) => input.text(text, &mut known),
    };
    let arguments = arguments.map(|value| Cow::Owned(input.value(&value, &root, &mut known)));
    let edits = event
        .edits
        .iter()
        .map(|edit| {
            // The two names of a tool are no arguments.
            if edit.rule == "tool_name" {
                return (Cow::Borrowed(&edit.before), Cow::Borrowed(&edit.after));
            }
            (
                Cow::Owned(input.value(&edit.before, &edit.path, &mut known)),
                Cow::Owned(input.value(&edit.after, &edit.path, &mut known)),
            )
        })
        .collect();
    let output = event.output.as_ref().map(|output| {
        let secrets = event.masks.output.as_slice();
        Mask::new(secrets, &[]).value(output, &root, &mut known);
        // A second time: a result often says everything twice, as a value and in words.
        let repeated = known.clone();
        let mask = Mask::new(secrets, &repeated);
        Cow::Owned(mask.value(output, &root, &mut known))
    });
    // Of arguments that nobody could read nobody knows the secrets.
    let unread = arguments.is_none() && !event.masks.input.is_empty();
    let words = Words::Without(known);
    let detail = event.operator_detail.as_deref();
    Shown {
        sent,
        arguments,
        edits,
        output,
        operator_detail: detail.map(|detail| {
            if unread || words.hide(detail) {
                MASKED
            } else {
                detail
            }
        }),
        words,
        event,
    }
}
