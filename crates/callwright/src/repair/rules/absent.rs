//! Rules for a value that is missing, or that means the same as none.

use serde_json::Value as Schema;

use super::{ObjectionSite, ProposedEdit};
use crate::json::{Value, keyword};
use crate::nearest::{CLOSE, Wanted};
use crate::validate::Properties;
use crate::vocabulary::{Expected, IssueCode, Work};

/// Generated schemas often list a key as required although it has a default. The default is the only value that is ever filled
/// in, and only if no value for that key is anywhere in the call: in `{"params": {"env": "staging"}}` it would displace what
/// was sent. If something may be destroyed, the model has to send the value.
pub(super) fn default_for_missing(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    // A key that is only required under a condition may be absent because the condition is.
    let is_condition = |part: &str| matches!(part, "then" | "else" | "if" | "dependentSchemas");
    let is_conditional = || {
        site.located
            .owner
            .segments()
            .any(|part| is_condition(&part))
    };
    if site.code() != IssueCode::Required || is_conditional() {
        return None;
    }
    let (key, properties) = (site.key()?, site.properties());
    // An unknown key may be the missing one under another name.
    let is_misnamed = site.unknown_keys()?.next().is_some();
    if is_misnamed || was_sent_elsewhere(site, &key, &properties) {
        return None;
    }
    let default = keyword(site.schema.follow(properties.get(&key)?), "default")?;
    let default = Value::from(default).into_owned();
    Some(ProposedEdit::Insert(site.path().clone(), default))
}

/// Whether a value for this key may have been sent elsewhere: under a similar key that the schema does not list next to it, or
/// in a text that names it. Also true if there is not enough work left to find out.
fn was_sent_elsewhere(
    site: &ObjectionSite<'_, '_>,
    key: &str,
    properties: &Properties<'_>,
) -> bool {
    let siblings = site.siblings().unwrap_or_default().iter();
    let mut siblings = siblings.filter(|(name, _)| name != key);
    let (wanted, work) = (Wanted::new(key), site.scope.work);
    let is_close = |name: &str| !properties.has(name) && wanted.similarity(name, work) >= CLOSE;
    siblings.any(|(name, inner)| is_close(name) || names(inner, &wanted, work))
        || (!site.path().parent().is_root() && names(site.root, &wanted, work))
        || work.left() == 0
}

/// Whether a key or a text inside a value names this key.
fn names(value: &Value<'_>, key: &Wanted<'_>, work: &Work) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, inner)| key.similarity(name, work) >= CLOSE || names(inner, key, work)),
        Value::Array(items) => items.iter().any(|item| names(item, key, work)),
        Value::String(text) => !work.take(text.len()) || key.is_in(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => !work.take(1),
    }
}

/// Generated schemas declare defaults that their own types do not allow: `true` for a string, `"all"` next to allowed values
/// without it. A model that sends it follows the schema. A guess, for read-only tools: only the schema says that absent means
/// that value, and a schema that contradicts itself may be wrong twice. A required argument stays, and is refused.
pub(super) fn default_left_out(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    site.siblings()?;
    let (key, parent) = (site.key()?, site.located.owner.parent().parent());
    if site.code() == IssueCode::UnknownKey || site.requires(&parent, &key) {
        return None;
    }
    let properties = site.scope.properties(&parent);
    let default = keyword(site.schema.follow(properties.get(&key)?), "default")?;
    (Value::from(default) == *site.value()?).then(|| ProposedEdit::Remove(site.path().clone()))
}

/// Many models fill in every key they know. Lossless: null and absent mean the same, except where something may be destroyed:
/// there the argument may be a filter that was lost; and where something is edited: there null may clear it. A required key
/// stays, and is refused, unless the schema has a default for it.
pub(super) fn null_left_out(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let is_null = matches!(site.value()?, Value::Null);
    (is_null && !site.scope.null_may_clear).then_some(())?;
    leave_out(site)
}

/// Leaves out an optional member, or inserts the default of a required one.
fn leave_out(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    site.siblings()?;
    let (key, parent) = (site.key()?, site.located.owner.parent().parent());
    let properties = site.scope.properties(&parent);
    // In a map every key is data, and null may mean to delete it.
    if !properties.has(&key) || site.code() == IssueCode::UnknownKey {
        return None;
    }
    let default = properties
        .get(&key)
        .and_then(|property| keyword(site.schema.follow(property), "default"))
        .filter(|default| !default.is_null());
    match default.filter(|_| site.requires(&parent, &key)) {
        Some(_) if was_sent_elsewhere(site, &key, &properties) => None,
        Some(default) => Some(site.replace(Value::from(default).into_owned())),
        None => Some(ProposedEdit::Remove(site.path().clone())),
    }
}

/// Everything in quotes, null too. Lossless: the schema accepts null, no such text, and no allowed value that is spelt like it.
/// If something may be destroyed, the text may be all that is left of a filter, and where something is edited, null may clear it.
pub(super) fn null_from_string(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let refuses_text = matches!(
        site.code(),
        IssueCode::Type
            | IssueCode::Enum
            | IssueCode::Const
            | IssueCode::Format
            | IssueCode::Pattern
    );
    let text = site.value()?.as_str()?.trim();
    if !refuses_text || !matches!(text, "null" | "None") {
        return None;
    }
    let is_allowed = |value: &Schema| {
        let allowed = value.as_str().map(str::trim);
        allowed.is_some_and(|allowed| allowed.eq_ignore_ascii_case(text))
    };
    let has_word = match &site.located.issue.expected {
        Expected::OneOf(allowed) => allowed.as_array()?.iter().any(is_allowed),
        Expected::Constant(allowed) => is_allowed(allowed),
        _ => false,
    };
    let is_certain = !has_word && !site.scope.null_may_clear;
    (is_certain && takes_null(site)).then(|| site.replace(Value::Null))
}

/// Whether null is accepted where the objection is, by the same part of the schema or by another branch of its union.
fn takes_null(site: &ObjectionSite<'_, '_>) -> bool {
    let is_null = |node: &Schema| {
        let types = keyword(node, "type");
        let among = |values: Option<&Schema>, null: &Schema| {
            let listed = values.and_then(Schema::as_array);
            values.is_none_or(|it| it == null || listed.is_some_and(|all| all.contains(null)))
        };
        let values = keyword(node, "enum").or_else(|| keyword(node, "const"));
        types.or(values).is_some() && among(types, &"null".into()) && among(values, &Schema::Null)
    };
    let unions = ["anyOf", "oneOf"]
        .iter()
        .filter_map(|union| keyword(site.node()?, union));
    let around = site.located.issue.branch.iter();
    let around = around.filter_map(|branch| site.schema.node(&branch.union));
    let mut branches = unions.chain(around).filter_map(Schema::as_array).flatten();
    site.node().is_some_and(is_null) || branches.any(|branch| is_null(site.schema.follow(branch)))
}

/// A guess, and only for read-only tools: the text may be all that is left of a value. It applies where no text is accepted, or
/// only a few listed ones; where any text of a certain form is accepted, an empty one may be meant to clear a value.
/// `"undefined"` and `"NaN"` are variables that were never filled in, and are always refused.
pub(super) fn null_text_left_out(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let listed = || {
        let text = site.value()?.as_str()?;
        (site.code() == IssueCode::Enum).then_some(text)
    };
    let text = site.misplaced_text().or_else(listed)?;
    matches!(text.trim(), "" | "null" | "None").then_some(())?;
    leave_out(site)
}
