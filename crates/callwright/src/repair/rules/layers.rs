//! Rules for one layer too many around a value, or one too few.

use serde_json::Value as Schema;

use super::keys::{is_plain, turns};
use super::{ObjectionSite, ProposedEdit, says_something};
use crate::json::{Path, Value, keyword, parse_at};
use crate::nearest::words;
use crate::vocabulary::envelope::says_nothing;
use crate::vocabulary::word_list;

/// How deep an object in a string may be nested.
const DEEPEST: usize = 64;

/// Names that models give to a layer around the arguments. (`properties` is how a schema lists the arguments.)
const LAYERS: &[&str] = word_list![
    arguments parameters properties input args params kwargs tool_input
];

/// Models wrap the arguments as they see them wrapped in transcripts, and wrap them again. Lossless if each layer is the only
/// key, its name says nothing and the schema does not know it.
pub(super) fn layer_unwrapped(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let properties = site.scope.properties(&Path::root());
    let takes_any_key = properties.len() == 0
        || !properties.patterns().is_empty()
        || keyword(site.schema.source(), "additionalProperties").is_some_and(Schema::is_object);
    if takes_any_key {
        return None;
    }
    let layer = |value: &Value<'_>| {
        let [(key, inner)] = value.as_object()? else {
            return None;
        };
        let says_nothing = key.trim().is_empty() || LAYERS.contains(&key.as_ref());
        if !says_nothing || properties.has(key) {
            return None;
        }
        match inner {
            Value::Object(_) => Some(inner.clone().into_owned()),
            // The layer may contain its object as a string.
            Value::String(text) => match parse_at(text, 0, DEEPEST)? {
                (object @ Value::Object(_), end) if end == text.len() => Some(object),
                _ => None,
            },
            _ => None,
        }
    };
    let mut inner = layer(site.root)?;
    for _ in 1..MOST_LAYERS {
        inner = match layer(&inner) {
            Some(deeper) => deeper,
            None => break,
        };
    }
    Some(ProposedEdit::Replace(Path::root(), inner))
}

/// Programs print an empty object as an empty list, and models wrap it like any other arguments. Lossless: the schema takes no
/// arguments, so none can have been lost. A tool that may destroy something is not run on so little.
pub(super) fn nothing_for_no_arguments(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let is_nothing = |value: &Value<'_>| match value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    let says_nothing = match site.root {
        Value::Object(members) => {
            let [(key, inner)] = members.as_slice() else {
                return None;
            };
            LAYERS.contains(&key.as_ref()) && is_nothing(inner)
        }
        value => is_nothing(value),
    };
    let nothing = || ProposedEdit::Replace(Path::root(), Value::Object(Vec::new()));
    (says_nothing && site.schema.takes_nothing()).then(nothing)
}

/// Words of names that only say that arguments are inside.
const WORDS_OF_LAYERS: &[&str] = word_list![
    argument arguments arg args parameter parameters param params kwargs input inputs properties request body payload data
    query options config settings call calls tool tools use uses function functions action actions json object root result
];

/// How many layers are removed: `{"tool_calls": [{"function": {…}}]}`.
const MOST_LAYERS: usize = 3;

/// A guess, for read-only tools: a layer is the only meaningful key, or a list of one; the schema does not know it, and the
/// content fits as it is. Its name must not add any meaning: each word is a word for a layer, or belongs to the parameters and
/// the title of the schema and does not turn them. `dry_run`, `undo` and `not` have others.
pub(super) fn named_layer_unwrapped(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let properties = site.scope.properties(&Path::root());
    if properties.len() == 0 {
        return None;
    }
    site.look_at(properties.len())?;
    let title = keyword(site.schema.source(), "title").and_then(Schema::as_str);
    let names = properties.names().iter().copied().chain(title);
    let known: Vec<String> = names.flat_map(words).collect();
    let is_known = |word: &String| {
        WORDS_OF_LAYERS.contains(&word.as_str()) || (known.contains(word) && !turns(word))
    };
    let is_layer = |key: &str| {
        let own = words(key);
        !own.is_empty() && own.iter().all(is_known) && is_plain(key)
    };
    let mut inner = site.root;
    for _ in 0..MOST_LAYERS {
        inner = match inner {
            Value::Object(members) => {
                if members.iter().any(|(key, _)| properties.has(key)) {
                    return None;
                }
                let mut said = members
                    .iter()
                    .filter(|(key, value)| !says_nothing(key, value));
                let (_, value) = said.next().filter(|(key, _)| is_layer(key))?;
                said.next().is_none().then_some(value)?
            }
            Value::Array(items) if items.len() == 1 => items.first()?,
            _ => return None,
        };
        if matches!(inner, Value::Object(members) if !members.is_empty()) && site.accepts(inner) {
            let inner = inner.clone().into_owned();
            return Some(ProposedEdit::Replace(Path::root(), inner));
        }
    }
    None
}

/// Models write the key once for the argument and once more inside it. Lossless if the object contains nothing else and the
/// schema does not want an object there.
pub(super) fn key_repeated(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    site.siblings()?;
    let [(name, inner)] = site.wrong_type()?.as_object()? else {
        return None;
    };
    let is_repeated = *name == site.key()? && says_something(inner);
    is_repeated.then(|| site.replace(inner.clone()))
}

/// A guess: the tool has exactly one required parameter and the value fits it. Only a single word is accepted as text: a
/// sentence may say that the model does not want to call anything.
pub(super) fn sole_parameter(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let bare = match site.root {
        Value::Object(_) | Value::Null => false,
        Value::String(text) => is_word(text.trim()),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    if !site.path().is_root() || !bare {
        return None;
    }
    let required = keyword(site.schema.source(), "required")?.as_array()?;
    let [Schema::String(only)] = required.as_slice() else {
        return None;
    };
    let member = (only.clone().into(), site.root.clone().into_owned());
    Some(ProposedEdit::Replace(
        Path::root(),
        Value::Object(vec![member]),
    ))
}

/// Whether a text is one word or name. Text that looks like JSON is broken JSON, and is not evidence for one parameter.
fn is_word(text: &str) -> bool {
    let ends_like_a_sentence = text.ends_with(['.', '!', '?', ':', '…', '。']);
    !matches!(text, "" | "null" | "None" | "undefined" | "NaN")
        && !text.contains(char::is_whitespace)
        && !text.contains(['{', '[', '"'])
        && !ends_like_a_sentence
}
