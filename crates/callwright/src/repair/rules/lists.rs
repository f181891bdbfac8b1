//! Rules for a list where a single value belongs, and a single value or a text where a list belongs.

use ahash::AHashSet;
use serde_json::Value as Schema;

use super::super::tolerant::is_number;
use super::types::may_be_thousands;
use super::{ObjectionSite, ProposedEdit, only, says_something};
use crate::json::{Number, Path, Value, keyword};

/// Lossless: the one value is kept. A list of two is never cut to one, and a list of nothing stays one: `[null]` for a filter
/// must not become no filter. Nor does an object become a map, which takes any key: `[{"name": "Accept", "value": "text/html"}]`
/// is a map in another form.
pub(super) fn scalar_from_array(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    if site.path().is_root() {
        return None;
    }
    if is_value_of_union(site) {
        return Some(ProposedEdit::Unwrap(site.path().parent()));
    }
    match site.wrong_type()?.as_array()? {
        [Value::Object(_)] if is_map(site) => None,
        [only] if says_something(only) => Some(site.replace(only.clone())),
        _ => None,
    }
}

/// Whether the value is the only item of a list, and an allowed value where that list is: `["all"]`, where `"all"` or a list of
/// numbers is accepted.
fn is_value_of_union(site: &ObjectionSite<'_, '_>) -> bool {
    let is_only = || {
        let list = site.places.at(&site.path().parent())?.as_array()?;
        (list.len() == 1).then(|| site.value()?.as_str()).flatten()
    };
    let union = site
        .located
        .issue
        .branch
        .as_ref()
        .map(|branch| &branch.union);
    let branches = union.and_then(|union| site.schema.node(union)?.as_array());
    let (Some(branches), Some(text)) = (branches, is_only()) else {
        return false;
    };
    let mut branches = branches.iter().map(|branch| site.schema.follow(branch));
    branches.any(|branch| {
        let listed = keyword(branch, "enum").and_then(Schema::as_array);
        let is_constant = keyword(branch, "const").is_some_and(|value| value == text);
        is_constant || listed.is_some_and(|all| all.iter().any(|value| value == text))
    })
}

/// Whether the object that is wanted here takes keys that the schema does not list.
fn is_map(site: &ObjectionSite<'_, '_>) -> bool {
    let others = site
        .node()
        .and_then(|node| keyword(node, "additionalProperties"));
    site.properties().len() == 0 || others.is_some_and(Schema::is_object)
}

/// A guess: a model that sends one value where a list belongs may have lost the others. So it takes evidence that the value is
/// an item: a number or a boolean that fits, an object whose keys the schema lists, or a string that is listed among the
/// allowed items. Any other string fits every list of strings (it may be a list in some notation, or a word for nothing) and is
/// left alone; so is an item of a list: there a list is missing, not its brackets.
pub(super) fn array_from_scalar(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    site.siblings()?;
    let single = site.wrong_type()?;
    let is_item = match single {
        Value::Null | Value::Array(_) => false,
        Value::String(text) => site
            .items()
            .and_then(|items| keyword(items, "enum")?.as_array())
            .is_some_and(|allowed| allowed.iter().filter_map(Schema::as_str).any(|a| a == text)),
        Value::Object(members) => {
            let listed = site.items().and_then(|items| keyword(items, "properties"));
            let is_listed = |key: &str| listed.is_some_and(|keys| keyword(keys, key).is_some());
            !members.is_empty() && members.iter().all(|(key, _)| is_listed(key))
        }
        Value::Bool(_) | Value::Number(_) => true,
    };
    is_item.then(|| site.replace(Value::Array(vec![single.clone()])))
}

/// Models add a level of brackets to nested lists. Lossless if the outer list contains nothing else and the content is a list
/// of lists or of objects that fits: each stays as it was. A list of plain values is left alone: `[["ls", "-l"]]` for a list of
/// commands may be one command with its option, and `[[1, 5]]` a range.
pub(super) fn list_layer(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let too_deep = site.wrong_type()?;
    if !matches!(too_deep, Value::Array(_)) || site.path().is_root() {
        return None;
    }
    // The surplus list is the one around the objection, or the one around that.
    let around = site.path().parent();
    let candidates = [around.clone(), around.parent()];
    let layers = candidates.into_iter();
    only(layers.filter(|path| is_layer(site.root, path))).map(ProposedEdit::Unwrap)
}

/// How many items are examined here. Each of many may have an objection, and each objection leads here; the validator sees them
/// all.
const LOOKED_AT: usize = 64;

/// Whether the list at a path contains only a list of lists or of objects.
fn is_layer(root: &Value<'_>, path: &Path) -> bool {
    let Some([Value::Array(items)]) = root.at(path).and_then(Value::as_array) else {
        return false;
    };
    let mut first = items.iter().take(LOOKED_AT);
    let lists = first.clone().all(|item| matches!(item, Value::Array(_)));
    let objects = first.all(|item| matches!(item, Value::Object(_)));
    !items.is_empty() && (lists || objects)
}

/// Models write lists the way people do. Lossless, and only if the schema says what the pieces are (numbers, or listed strings)
/// and the commas can only separate them: each is followed by a blank, or each number has a decimal point. A list of arbitrary
/// strings may contain a comma (`"Paris, France"`). Commas of both kinds (`1,5, 2,5`) have two readings.
pub(super) fn list_from_text(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let text = site.misplaced_text()?;
    if let Some(allowed) = keyword(site.items()?, "enum") {
        let allowed = allowed.as_array()?;
        site.look_at(allowed.len())?;
        let allowed: AHashSet<&str> = allowed.iter().filter_map(Schema::as_str).collect();
        let text_of = |piece: &str| Value::String(piece.to_owned().into());
        let pieces: Vec<&str> = text.split(',').map(str::trim).collect();
        // `Paris, France` may be one of them.
        return (pieces.len() > 1
            && !allowed.contains(text.trim())
            && pieces.iter().all(|piece| allowed.contains(piece)))
        .then(|| site.replace(Value::Array(pieces.into_iter().map(text_of).collect())));
    }
    let pieces: Vec<&str> = text.split(',').collect();
    let after_commas = pieces.get(1..)?;
    let spaced = after_commas
        .iter()
        .all(|piece| piece.starts_with(char::is_whitespace));
    let pointed = pieces.iter().all(|piece| piece.contains('.'));
    if spaced || pointed {
        numbers(site, &pieces)
    } else {
        None
    }
}

/// The pieces as a list of numbers, if the schema wants one and they all are numbers.
fn numbers(site: &ObjectionSite<'_, '_>, pieces: &[&str]) -> Option<ProposedEdit> {
    let kind = keyword(site.items()?, "type").and_then(Schema::as_str);
    let pieces = pieces.iter().map(|piece| piece.trim());
    if !matches!(kind, Some("integer" | "number"))
        || pieces.len() < 2
        || !pieces.clone().all(is_number)
        || { pieces.clone() }.any(|piece| may_be_thousands(piece, kind == Some("integer")))
    {
        return None;
    }
    let number = |piece: &str| Value::Number(Number::from_literal(piece.to_owned()));
    Some(site.replace(Value::Array(pieces.map(number).collect())))
}

/// Fewer may be a few decimal numbers among whole ones.
const SHORTEST_ODD: usize = 5;

/// A guess: a comma between digits may also be a decimal comma (`3,5`) or a thousands separator (`1,234`). It separates items
/// if they are whole numbers or the list is odd (decimal commas come in pairs), and no piece could be a group of three digits.
pub(super) fn list_from_commas(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let pieces: Vec<&str> = site.misplaced_text()?.split(',').collect();
    let after_commas = pieces.get(1..)?;
    let is_whole = keyword(site.items()?, "type").and_then(Schema::as_str) == Some("integer");
    let is_odd = pieces.len() % 2 == 1 && pieces.len() >= SHORTEST_ODD;
    let group = |piece: &&str| piece.len() == 3 && piece.bytes().all(|byte| byte.is_ascii_digit());
    let spaced = |piece: &&str| piece.starts_with(char::is_whitespace);
    let unclear = after_commas
        .iter()
        .any(|piece| group(piece) || spaced(piece));
    if unclear || !(is_whole || is_odd) {
        return None;
    }
    numbers(site, &pieces)
}
