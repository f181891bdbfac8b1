//! Rules for a key under another name, or one that says nothing.

use std::borrow::Cow;

use serde_json::Value as Schema;

use super::super::search::weight;
use super::{ObjectionSite, ProposedEdit, only};
use crate::json::{Value, keyword};
use crate::nearest::{
    CLOSE, Wanted, alike_but_accents, has_same_letters, is_slip, same_but_accents, same_key,
    single_nearest, words,
};
use crate::validate::free_names;
use crate::vocabulary::{IssueCode, word_list};

/// Models mix the conventions of the languages they know. Lossless if exactly one key is equal except for case and separators
/// ([`same_key`]), and no other key of the schema has the same letters; for a missing key also if it is equal except for
/// surrounding punctuation (`_class`, where a language reserves the word). Quotes around a key, a colon after it and the name of
/// the tool before it belong to the notation.
pub(super) fn key_spelling(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    same_spelled(site, same_key, has_same_letters)
}

/// The same for accents that one of the two keys has none of. A guess, for tools that read: they may be all that distinguishes
/// two words (`ou`, `où`).
pub(super) fn key_accents(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    same_spelled(
        site,
        |name, other| same_but_accents(name, other, same_key),
        |name, other| alike_but_accents(name, other, has_same_letters),
    )
}

/// Renames a key to the one that is the same, if no other is like it.
fn same_spelled(
    site: &ObjectionSite<'_, '_>,
    same: fn(&str, &str) -> bool,
    like: fn(&str, &str) -> bool,
) -> Option<ProposedEdit> {
    if !matches!(site.code(), IssueCode::Required | IssueCode::UnknownKey) {
        return None;
    }
    let (key, properties) = (site.key()?, site.properties());
    if site.code() == IssueCode::UnknownKey {
        site.look_at(properties.len())?;
        let names = properties.names().iter().copied();
        let sent = written(&key, site);
        let meant = only(names.filter(|name| like(name, sent)))?;
        return same(meant, sent).then(|| site.rename(&key, meant));
    }
    let is_same = |name: &&str| {
        let name = written(name, site);
        same(name, &key) || same_bare(name, &key)
    };
    let sent = only(site.unknown_keys()?.filter(is_same))?;
    site.compare_with(properties.len())?;
    let bare = written(sent, site);
    let is_other = |name: &&str| {
        let is_like = like(name, bare) || same_bare(name, bare);
        **name != *key && is_like
    };
    let has_other = properties.names().iter().any(is_other);
    (!has_other).then(|| site.rename(sent, &key))
}

/// A key without what belongs to the notation: quotes around it, a colon after it, and the tool's name and a point before it.
fn written<'k>(key: &'k str, site: &ObjectionSite<'_, '_>) -> &'k str {
    let inside = |quote| key.strip_prefix(quote)?.strip_suffix(quote);
    let quoted = ['"', '\'', '`'].into_iter().find_map(inside);
    let own = |key: &'k str| key.strip_prefix(site.scope.tool)?.strip_prefix('.');
    let bare = quoted.or_else(|| key.strip_suffix(':')).unwrap_or(key);
    // A parameter that has the name of the tool may be meant by it.
    let is_own = site.path().parent().is_root() && !site.properties().has(site.scope.tool);
    let qualified = own(bare).filter(|_| is_own);
    qualified.unwrap_or(bare)
}

/// Whether two names are equal except for surrounding punctuation.
fn same_bare(left: &str, right: &str) -> bool {
    fn bare(name: &str) -> &str {
        name.trim_matches(['_', '.', ' '])
    }
    !bare(left).is_empty() && bare(left) == bare(right)
}

/// A guess, for read-only tools: exactly one key is close, one typing error away, and the value fits. A similar name (`name` for
/// `filePath`) is only proposed to the model: it is too rarely the right one.
pub(super) fn key_near(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    if !matches!(site.code(), IssueCode::Required | IssueCode::UnknownKey) {
        return None;
    }
    let key = site.key()?;
    let slip = |sent: &str, meant: &str| is_slip(sent, meant).then(|| site.rename(sent, meant));
    let nearest = |name: &str, among: &[&'_ str]| {
        let found = single_nearest(name, among.iter().copied(), site.scope.work)?;
        Some(found.to_owned())
    };
    match site.code() {
        IssueCode::Required => {
            let unknown: Vec<&str> = site.unknown_keys()?.collect();
            slip(&nearest(&key, &unknown)?, &key)
        }
        IssueCode::UnknownKey => {
            let (properties, siblings) = (site.properties(), site.siblings()?);
            site.look_at(properties.len() + siblings.len())?;
            let free = free_names(properties.names(), siblings);
            slip(&key, &nearest(&key, &free)?)
        }
        _ => None,
    }
}

/// Lossless: nothing else is missing, nothing else is left over, the value is a list or an object that fits, and the words are
/// equal except for plurals and words that only name the kind of value. Any other word may reverse the meaning
/// (`exclude_grades`, `old_grades`).
pub(super) fn key_words(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let (sent, missing) = only_pair(site)?;
    let words = full_words(sent);
    (!words.is_empty() && words == full_words(&missing)).then(|| site.rename(sent, &missing))
}

/// Query strings and forms write an object as its members. Lossless: the schema forbids the key as it is, and lists both parts.
pub(super) fn key_of_path(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let key = site.key()?;
    let (outer, inner) = key.split_once('.')?;
    if site.code() != IssueCode::UnknownKey {
        return None;
    }
    let object = site.schema.follow(site.properties().get(outer)?);
    keyword(keyword(object, "properties")?, inner)?;
    let around = site.path().parent();
    let members = site.places.at(&around)?;
    site.scope.work.take(weight(members)).then_some(())?;
    let mut members = members.clone().into_owned();
    let Value::Object(all) = &mut members else {
        return None;
    };
    let at = all.iter().position(|(name, _)| *name == key)?;
    let (_, value) = all.remove(at);
    let member = (inner.to_owned().into(), value);
    match all.iter_mut().find(|(name, _)| name == outer) {
        None => all.push((outer.to_owned().into(), Value::Object(vec![member]))),
        Some((_, Value::Object(inside))) if inside.iter().all(|(name, _)| name != inner) => {
            inside.push(member);
        }
        Some(_) => return None,
    }
    Some(ProposedEdit::Replace(around, members))
}

/// The only unknown key of an object and the only key that it lacks, if the value is a list or an object: a string fits
/// anywhere.
fn only_pair<'s>(site: &ObjectionSite<'s, '_>) -> Option<(&'s str, Cow<'s, str>)> {
    let (sent, value, missing) = only_left(site)?;
    matches!(value, Value::Array(_) | Value::Object(_)).then_some((sent, missing))
}

/// The only unknown key of an object with its value, and the only key that it lacks.
fn only_left<'s>(site: &ObjectionSite<'s, '_>) -> Option<(&'s str, &'s Value<'s>, Cow<'s, str>)> {
    if site.code() != IssueCode::Required {
        return None;
    }
    let members = site.siblings()?;
    let around = site.places.at(&site.path().parent())?;
    let required = keyword(site.node()?, "required")?.as_array()?.iter();
    let is_missing = |key: &&str| site.places.child(around, key).is_none();
    only(required.filter_map(Schema::as_str).filter(is_missing))?;
    let properties = site.properties();
    let (name, value) = only(members.iter().filter(|(name, _)| !properties.has(name)))?;
    is_plain(name).then_some((name.as_ref(), value, site.key()?))
}

/// Whether a name has no punctuation that may reverse its meaning: `!scopes`, `-scopes`.
pub(super) fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    name.starts_with(|c: char| c.is_alphanumeric() || c == '_') && name.chars().all(plain)
}

/// Words that say nothing at the start of a key.
const LEADING_WORDS: &[&str] = word_list![a an the my input inputs];

/// Words that only name the kind of value at the end of a key. In front they say what it is about: `list_ids`, `field_names`.
const TRAILING_WORDS: &[&str] = word_list![
    data value values list array items input inputs param params parameter parameters arg args argument arguments field object
    dict json
];

/// The meaningful words of a key, in the singular.
fn full_words(name: &str) -> Vec<String> {
    let words = words(name);
    let is_in = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let end = words.iter().rposition(|word| !is_in(word, TRAILING_WORDS));
    let words = &words[..end.map_or(0, |end| end + 1)];
    let start = words.iter().position(|word| !is_in(word, LEADING_WORDS));
    let words = &words[start.unwrap_or(words.len())..];
    words.iter().map(|word| singular(word).to_owned()).collect()
}

fn singular(word: &str) -> &str {
    let one = word.strip_suffix('s').filter(|one| !one.ends_with('s'));
    one.unwrap_or(word)
}

/// A guess, on strong evidence: nothing else is missing, nothing else is left over, and the value is a list or an object that
/// fits.
pub(super) fn only_key_left(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let (sent, missing) = only_pair(site)?;
    full_words(sent)
        .is_empty()
        .then(|| site.rename(sent, &missing))
}

/// A guess, for read-only tools: only the missing key allows the value, nothing else is missing, nothing else is left over. The
/// name must not add any meaning: each of its words belongs to the missing key or its description. `old_status` and
/// `exclude_status` have one that does not.
pub(super) fn key_of_allowed_value(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let (sent, value, missing) = only_left(site)?;
    let property = site.schema.follow(site.properties().get(&missing)?);
    let allowed = keyword(property, "enum")?.as_array()?;
    site.look_at(allowed.len())?;
    let text = value.as_str()?;
    let is_allowed = allowed.len() > 1 && allowed.iter().any(|allowed| allowed == text);
    let own = full_words(sent);
    let says_nothing_else = !own.is_empty() && says_only(&own, &missing, property, site)?;
    (is_allowed && says_nothing_else).then(|| site.rename(sent, &missing))
}

/// Whether each of these words belongs to a key or its description, and none changes the meaning.
fn says_only(
    own: &[String],
    key: &str,
    property: &Schema,
    site: &ObjectionSite<'_, '_>,
) -> Option<bool> {
    let described = keyword(property, "description").and_then(Schema::as_str);
    let described = described.unwrap_or_default();
    site.scope.work.take(described.len()).then_some(())?;
    // After such a word the description may say what the key is not: "Arrival date, before the departure date".
    let is_about_key = |word: &String| word == "to" || !turns(word);
    let mut known: Vec<String> = words(described)
        .into_iter()
        .take_while(is_about_key)
        .collect();
    known.extend(words(key));
    let is_known = |word: &String| {
        known
            .iter()
            .any(|known| written_out(known) == written_out(word))
    };
    Some(own.iter().all(|word| !turns(word) && is_known(word)))
}

/// A guess, for read-only tools: `file_path` for `path`, `number` for `issue_number`, `latitude` for `lat`. The names share a
/// word, and no other missing, absent or unknown key does. What only one of the two says must not add any meaning: the words of
/// the unknown key belong to the missing one or its description, and none of either changes it.
pub(super) fn key_of_same_words(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    if site.code() != IssueCode::Required {
        return None;
    }
    let (missing, properties) = (site.key()?, site.properties());
    let property = site.schema.follow(properties.get(&missing)?);
    let wanted = words(&missing);
    let share = |left: &[String], right: &[String]| {
        let mut pairs = left
            .iter()
            .flat_map(|left| right.iter().map(move |right| (left, right)));
        pairs.any(|(left, right)| {
            left.len() >= SHORTEST_SHARED && written_out(left) == written_out(right)
        })
    };
    let unknown: Vec<&str> = site.unknown_keys()?.collect();
    site.scope
        .work
        .take(unknown.len() * INTO_WORDS)
        .then_some(())?;
    let related = unknown
        .into_iter()
        .filter(|sent| share(&words(sent), &wanted));
    let sent = only(related)?;
    if !is_plain(sent) || has_same_letters(sent, &missing) || NAMES_OF_TOOLS.contains(&sent) {
        return None;
    }
    let own = full_words(sent);
    site.scope
        .work
        .take(properties.len() * INTO_WORDS)
        .then_some(())?;
    let absent = free_names(properties.names(), site.siblings()?);
    let mut others = absent.into_iter().filter(|name| *name != missing);
    let is_clear = !own.is_empty()
        && !wanted.iter().any(|word| turns(word))
        && !others.any(|name| share(&own, &words(name)));
    (is_clear && says_only(&own, &missing, property, site)?).then(|| site.rename(sent, &missing))
}

/// The cost, in steps, of splitting a key into words.
const INTO_WORDS: usize = 400;

/// Shorter words are symbols, or say too little by themselves: `id`.
const SHORTEST_SHARED: usize = 3;

/// Abbreviations with only one meaning. `temp` and `loc` have several.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("lat", "latitude"),
    ("lon", "longitude"),
    ("lng", "longitude"),
    ("num", "number"),
    ("dir", "directory"),
    ("lang", "language"),
    ("desc", "description"),
    ("msg", "message"),
    ("qty", "quantity"),
    ("repo", "repository"),
    ("env", "environment"),
    ("img", "image"),
    ("doc", "document"),
];

/// A word in the singular, and not abbreviated.
fn written_out(word: &str) -> &str {
    let word = singular(word);
    let known = ABBREVIATIONS.iter().find(|(short, _)| *short == word);
    known.map_or(word, |(_, long)| long)
}

/// Words that change the meaning of a name, although the schema uses them too: `not_status`, where a description says "not
/// empty"; `exclude`, where another parameter is `exclude_tags`.
const TURNING_WORDS: &[&str] = word_list![
    not no non un anti never without except exclude excluding excluded but minus less instead ignore ignored skip skipped omit
    omitted avoid hide hidden deny denied forbid forbidden block blocked ban disable disabled disallow reject drop remove delete
    cancel undo stop reverse reversed inverse invert inverted negate negated opposite dry test mock fake draft example sample
    preview old new previous prior next first second last from to min max before after until since if unless when other
    others else start end begin finish source target destination origin parent child upper lower left right
];

/// Whether a word of a name changes its meaning; it may have lost its last letter as plurals do (`minu`).
pub(super) fn turns(word: &str) -> bool {
    let mut turning = TURNING_WORDS.iter();
    turning.any(|turning| singular(turning) == singular(word))
}

/// A member with neither a name nor a value says nothing: some models write `{"": ""}` for no arguments. Lossless. If something
/// may be destroyed, it may be the rest of a filter.
pub(super) fn empty_member_left_out(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let is_unknown = site.code() == IssueCode::UnknownKey;
    let says_nothing = is_unknown && site.key()?.trim().is_empty() && is_empty(site.value()?);
    says_nothing.then(|| ProposedEdit::Remove(site.path().clone()))
}

/// Keys whose value may name a tool, which may be another one.
const NAMES_OF_TOOLS: [&str; 5] = ["name", "tool", "tool_name", "function", "method"];

/// Null and an empty value say nothing. A key with any other value is never dropped: it may forbid the call (`dry_run`), narrow
/// it (`exclude`, which naturally repeats a value) or give it a unit. Lossy, since the key itself is gone, and for read-only
/// tools, since its name may mean something. Only if the schema forbids other keys, and none that it lists is close.
pub(super) fn unknown_key_dropped(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let key = site.key()?;
    // An object with nothing left was meant to say something else.
    let leaves_something = site.siblings()?.len() > 1;
    if site.code() != IssueCode::UnknownKey
        || !leaves_something
        || NAMES_OF_TOOLS.contains(&key.as_ref())
        || !is_empty(site.value()?)
    {
        return None;
    }
    // A key that is close to an absent one is most likely that one.
    let (wanted, work) = (Wanted::new(&key), site.scope.work);
    let is_close = |name: &str| wanted.similarity(name, work) >= CLOSE;
    let absent = free_names(site.properties().names(), site.siblings()?);
    let is_misspelt = absent.into_iter().any(is_close);
    (!is_misspelt && work.left() > 0).then(|| ProposedEdit::Remove(site.path().clone()))
}

fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
