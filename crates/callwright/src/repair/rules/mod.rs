//! The rules on values: one table, in the order in which they are tried.
//!
//! A rule takes one objection and proposes at most one change there. It never decides: the validator is asked whether the
//! change helps. The row of a rule says what it does, its function why and when. Adding a rule takes a function, a row here and
//! cases in the corpus.

mod absent;
mod keys;
mod layers;
mod lists;
mod types;
mod values;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use serde_json::Value as Schema;

use super::rule_list::RuleRow;
use super::search::{Allowed, weight};
use super::{Grade, Stakes};
use crate::json::{Indexed, Member, Path, Value, keyword};
use crate::validate::{CompiledSchema, LocatedIssue, Properties, PropertiesByOwner};
use crate::vocabulary::{IssueCode, Work};

/// A rule of repair.
pub(super) struct RepairRule {
    /// Its description for people.
    pub(super) row: RuleRow,
    /// Its position among all rules.
    number: u32,
    /// Which of two rules of one grade is tried first. Rules of equal cost that propose different values for one place make the
    /// call ambiguous.
    pub(super) cost: u8,
    /// The change it proposes for an objection.
    pub(super) propose: fn(&ObjectionSite<'_, '_>) -> Option<ProposedEdit>,
}

macro_rules! rules {
    ($(#[doc = $about:literal] $file:ident::$name:ident = $grade:ident, $cost:literal, $up_to:ident;)*) => {
        #[expect(non_camel_case_types, reason = "the names of the rules")]
        enum RuleNumber { $($name),* }

        /// All rules, by grade and cost.
        pub(super) const RULES: &[RepairRule] = &[$(RepairRule {
            number: RuleNumber::$name as u32,
            row: RuleRow {
                name: stringify!($name),
                grade: Grade::$grade,
                up_to: Stakes::$up_to,
                about: $about.trim_ascii(),
            },
            cost: $cost,
            propose: $file::$name,
        }),*];
    };
}

/// The rule after which a number is a text.
pub(super) const STRING_FROM_SCALAR: &str = stringify!(string_from_scalar);

rules! {
    /// A wrapper around the arguments with a meaningless name, `{"arguments": {…}}`, is removed, also if there are several.
    layers::layer_unwrapped = Lossless, 0, Destroys;
    /// An empty list or text, or an empty object in a wrapper, becomes `{}` for a tool without parameters.
    layers::nothing_for_no_arguments = Lossless, 0, Changes;
    /// A list or an object sent as a string, `"[1, 2]"`, is parsed, also in Python's notation, and if it was encoded twice.
    types::json_from_string = Lossless, 1, Destroys;
    /// A number sent as a string, `"10"`, becomes a number, digit for digit.
    types::number_from_string = Lossless, 1, Destroys;
    /// A number with three decimals sent as a string, `"1.234"`, becomes a number. For a tool that may destroy or spend something, the point may be a thousands separator.
    types::three_decimals_from_string = Lossless, 1, Changes;
    /// A boolean sent as a string, `"true"` or `"False"`, becomes a boolean.
    types::boolean_from_string = Lossless, 1, Destroys;
    /// A string sent without quotes, `5`, becomes a string.
    types::string_from_scalar = Lossless, 1, Destroys;
    /// An allowed value in another spelling, `"In Progress"` for `"in_progress"`, or in quotes or blanks, is written as the schema does.
    values::enum_spelling = Lossless, 1, Destroys;
    /// A key in another spelling, `file_path` or `filepath` for `filePath`, is written as the schema does.
    keys::key_spelling = Lossless, 1, Destroys;
    /// A date or a time with other separators, `2026/01/31`, is written as its format requires.
    values::date_separators = Lossless, 1, Destroys;
    /// A missing required argument gets the schema's default, if no value for it is anywhere in the call.
    absent::default_for_missing = Lossless, 2, Changes;
    /// An optional argument sent as null is left out; a required one gets the schema's default. Not if the tool's name says that it edits (`update`, `set`): null may clear something.
    absent::null_left_out = Lossless, 2, Changes;
    /// The text `"null"` or `"None"` becomes null, where null is accepted and the text is not. Not if the tool's name says that it edits.
    absent::null_from_string = Lossless, 2, Changes;
    /// A member without a name and without a value, `"": ""`, is left out.
    keys::empty_member_left_out = Lossless, 2, Changes;
    /// A list of one, `["a"]`, where a single value belongs becomes that value.
    lists::scalar_from_array = Lossless, 2, Destroys;
    /// An extra list around a list of lists or of objects is removed.
    lists::list_layer = Lossless, 2, Destroys;
    /// An object that only repeats its key, `{"city": {"city": "Berlin"}}`, becomes the value inside.
    layers::key_repeated = Lossless, 2, Destroys;
    /// The only unknown key replaces the only missing one, if it has the same words: `grades` for `gradeDict`.
    keys::key_words = Lossless, 2, Destroys;
    /// A key with a point, `filters.kind`, becomes the key `kind` of the object `filters`, if the schema lists both and not the one with the point.
    keys::key_of_path = Lossless, 3, Changes;
    /// A list of numbers or of allowed strings sent as one string, `"3, 4, 5"`, is split, if its commas only separate.
    lists::list_from_text = Lossless, 3, Changes;
    /// A boolean for a string that the schema lists, `true` for `"True"`, becomes that string.
    types::string_from_boolean = Lossless, 3, Changes;
    /// A key that the schema forbids is left out if its value is null or empty.
    keys::unknown_key_dropped = Lossy, 1, Reads;
    /// A date with a time of midnight, `2026-01-31T00:00:00`, becomes the date.
    values::midnight_left_out = Lossy, 1, Changes;
    /// An optional argument whose value is the schema's default, which the schema itself refuses, is left out.
    absent::default_left_out = Guess, 1, Reads;
    /// `1`, `0`, `"yes"` or `"no"` for a boolean becomes that boolean.
    types::boolean_from_word = Guess, 1, Reads;
    /// A key with accents where the schema has none, or without the ones that it has, `départ` for `depart`, is written as the schema does.
    keys::key_accents = Guess, 1, Reads;
    /// The same for an allowed value: `Première` for `premiere`.
    values::enum_accents = Guess, 1, Reads;
    /// An allowed value with one typo, `"shiped"`, becomes the only one that is near, unless it is itself a word.
    values::enum_near = Guess, 1, Reads;
    /// A key with one typo, `qurey`, becomes the only one that is near, unless it is itself a word.
    keys::key_near = Guess, 1, Reads;
    /// The only unknown key replaces the only missing one, if its name says nothing: `data`, `the_list`.
    keys::only_key_left = Guess, 2, Changes;
    /// The only unknown key replaces the only missing one, if it holds an allowed value and all its words are in the missing key's name or description: `unit` for `scale`.
    keys::key_of_allowed_value = Guess, 2, Reads;
    /// An optional argument sent as `"null"`, `"None"` or an empty string is left out.
    absent::null_text_left_out = Guess, 2, Reads;
    /// A single value where a list belongs becomes a list of one, if it is a number, an allowed string or an object with known keys.
    lists::array_from_scalar = Guess, 3, Changes;
    /// A list of numbers sent as one string with bare commas, `"3,4,5"`, is split, if they can be neither decimal nor thousands separators.
    lists::list_from_commas = Guess, 3, Changes;
    /// An unknown key replaces a missing one with which it shares a word, if the other words are in the description: `file_path` for `path`.
    keys::key_of_same_words = Guess, 3, Reads;
    /// A string that names one allowed value among words that say nothing, `"the last six months"`, becomes that value.
    values::enum_named = Guess, 3, Reads;
    /// An unknown wrapper around arguments that fit as they are, `{"request": {…}}`, is removed, if its name says only what it is or what the call is about.
    layers::named_layer_unwrapped = Guess, 3, Reads;
    /// A bare value or word, `"Berlin"`, becomes the only required parameter.
    layers::sole_parameter = Guess, 4, Reads;
}

// A site keeps one bit per rule, set if the rule proposes nothing.
const _: () = assert!(RULES.len() <= u64::BITS as usize);

/// What all objections to a call share.
pub(super) struct Scope<'c> {
    pub(super) schema: &'c CompiledSchema,
    /// The remaining work for this call. A rule that runs out of it proposes nothing.
    pub(super) work: &'c Work,
    /// The name of the tool.
    tool: &'c str,
    /// Whether a null may be meant to clear what the tool edits.
    null_may_clear: bool,
    properties: PropertiesByOwner<'c>,
}

impl<'c> Scope<'c> {
    pub(super) fn new(schema: &'c CompiledSchema, work: &'c Work, allowed: Allowed<'c>) -> Self {
        Scope {
            schema,
            work,
            tool: allowed.tool,
            null_may_clear: allowed.null_may_clear,
            properties: PropertiesByOwner::new(schema),
        }
    }

    fn properties(&self, owner: &Path) -> Rc<Properties<'c>> {
        self.properties.found(owner).unwrap_or_else(|| {
            let properties = self.properties.of(owner);
            // Every part was examined.
            self.work.take(properties.parts() * LOOKED_AT);
            properties
        })
    }
}

/// The cost, in steps, of looking up one key, and of comparing the spelling of a name with an allowed one.
const LOOKED_AT: usize = 60;
const COMPARED_WITH: usize = 15;

/// An objection, and what is known about it.
pub(super) struct ObjectionSite<'s, 'c> {
    pub(super) located: &'s LocatedIssue,
    root: &'s Value<'s>,
    places: &'s Indexed<'s, 's>,
    scope: &'s Scope<'c>,
    schema: &'c CompiledSchema,
    /// The part of the schema that objects. Most rules need it, and finding it takes longer than they do.
    node: OnceCell<Option<&'c Schema>>,
    /// The value with the objection, and the object around it; cached for the same reason.
    value: OnceCell<Option<&'s Value<'s>>>,
    wrong_type: OnceCell<Option<&'s Value<'s>>>,
    siblings: OnceCell<Option<&'s [Member<'s>]>>,
    /// The first edit that a rule proposed, and the rule's number: it is needed again when the edit is tried.
    proposed: OnceCell<(u32, Rc<ProposedEdit>)>,
    /// The rules that propose nothing, one bit each: most are asked twice.
    silent: Cell<u64>,
}

/// What a rule would change.
#[derive(Debug)]
pub(super) enum ProposedEdit {
    Replace(Path, Value<'static>),
    Insert(Path, Value<'static>),
    Remove(Path),
    /// The list at this path becomes its only item. (A proposal that copies no list, however long.)
    Unwrap(Path),
    /// The member at this path gets another key.
    Rename(Path, String),
}

impl ProposedEdit {
    /// The path that it changes.
    pub(super) fn path(&self) -> &Path {
        match self {
            ProposedEdit::Replace(path, _)
            | ProposedEdit::Insert(path, _)
            | ProposedEdit::Remove(path)
            | ProposedEdit::Unwrap(path)
            | ProposedEdit::Rename(path, _) => path,
        }
    }
}

impl<'s, 'c> ObjectionSite<'s, 'c> {
    pub(super) fn new(
        located: &'s LocatedIssue,
        root: &'s Value<'s>,
        places: &'s Indexed<'s, 's>,
        scope: &'s Scope<'c>,
    ) -> Self {
        ObjectionSite {
            located,
            root,
            places,
            scope,
            schema: scope.schema,
            node: OnceCell::new(),
            value: OnceCell::new(),
            wrong_type: OnceCell::new(),
            siblings: OnceCell::new(),
            proposed: OnceCell::new(),
            silent: Cell::new(0),
        }
    }

    /// The change that a rule proposes here.
    pub(super) fn propose(&self, rule: &RepairRule) -> Option<Rc<ProposedEdit>> {
        let (silent, bit) = (self.silent.get(), 1 << rule.number);
        if silent & bit != 0 {
            return None;
        }
        if let Some((number, edit)) = self.proposed.get()
            && *number == rule.number
        {
            return Some(Rc::clone(edit));
        }
        let Some(edit) = (rule.propose)(self) else {
            self.silent.set(silent | bit);
            return None;
        };
        let edit = Rc::new(edit);
        self.proposed
            .get_or_init(|| (rule.number, Rc::clone(&edit)));
        Some(edit)
    }

    /// The part of the schema that objects.
    fn node(&self) -> Option<&'c Schema> {
        let find = || self.schema.node(&self.located.owner);
        *self.node.get_or_init(find)
    }

    fn path(&self) -> &'s Path {
        &self.located.issue.path
    }

    fn code(&self) -> IssueCode {
        self.located.issue.code
    }

    /// The value with the objection.
    fn value(&self) -> Option<&'s Value<'s>> {
        *self.value.get_or_init(|| self.places.at(self.path()))
    }

    /// The value, if the objection is to its type: only then may it become another type.
    fn wrong_type(&self) -> Option<&'s Value<'s>> {
        *self.wrong_type.get_or_init(|| self.find_wrong_type())
    }

    fn find_wrong_type(&self) -> Option<&'s Value<'s>> {
        let only_other_types = |node: &Schema| {
            let values = keyword(node, "enum").and_then(Schema::as_array);
            values.is_some_and(|values| !values.iter().any(Schema::is_string))
        };
        // Another branch of a union may take another type: `"[1, 2]"` where `"all"` or a list is accepted.
        let has_branches = self.located.issue.branch.is_some();
        match self.code() {
            IssueCode::Type => self.value(),
            IssueCode::Enum if self.node().is_some_and(only_other_types) => self.value(),
            IssueCode::Enum | IssueCode::Const if has_branches => self.value(),
            _ => None,
        }
    }

    /// The text of a value that should not be a string.
    fn misplaced_text(&self) -> Option<&'s str> {
        self.wrong_type().and_then(Value::as_str)
    }

    /// The schema of the items of the list that is wanted here.
    fn items(&self) -> Option<&'c Schema> {
        let node = self.node()?;
        Some(self.schema.follow(keyword(node, "items")?))
    }

    /// The key with the objection.
    fn key(&self) -> Option<Cow<'s, str>> {
        self.path().last()
    }

    /// The members of the object around the objection.
    fn siblings(&self) -> Option<&'s [Member<'s>]> {
        *self.siblings.get_or_init(|| {
            let is_inside = !self.path().is_root();
            let around = self.places.at(&self.path().parent());
            around.filter(|_| is_inside)?.as_object()
        })
    }

    /// The properties that the schema lists for that object.
    fn properties(&self) -> Rc<Properties<'c>> {
        self.scope.properties(&self.located.owner)
    }

    /// The keys of that object that the schema does not list.
    fn unknown_keys(&self) -> Option<impl Iterator<Item = &'s str>> {
        let properties = self.properties();
        let siblings = self.siblings()?;
        self.look_at(siblings.len())?;
        let names = siblings.iter().map(|(name, _)| name.as_ref());
        Some(names.filter(move |name| !properties.has(name)))
    }

    /// Counts the keys or allowed values that a rule goes through; `None` if that exceeds the remaining work.
    fn look_at(&self, count: usize) -> Option<()> {
        self.scope.work.take(count * LOOKED_AT).then_some(())
    }

    /// The same if each is only compared with one name: most differ in their first letter.
    fn compare_with(&self, count: usize) -> Option<()> {
        let steps = count * COMPARED_WITH;
        self.scope.work.take(steps).then_some(())
    }

    /// Whether the whole schema accepts a value; `false` if there is no work left to ask it.
    fn accepts(&self, value: &Value<'_>) -> bool {
        self.scope.work.take(weight(value)) && self.schema.accepts(value)
    }

    /// Whether the schema node at a path requires a key.
    fn requires(&self, node: &Path, key: &str) -> bool {
        self.schema
            .node(node)
            .and_then(|node| keyword(node, "required")?.as_array())
            .is_some_and(|required| required.iter().any(|name| name == key))
    }

    /// Whether an edit depends only on the place with the objection, and changes nothing else: it replaces a single value,
    /// leaves out a null or renames a key. (A null is replaced by a default, which is only inserted if no other argument holds
    /// the value.)
    pub(super) fn is_independent(&self, edit: &ProposedEdit) -> bool {
        let is_single = |value: &Value<'_>| {
            matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
        };
        match edit {
            ProposedEdit::Replace(path, _) => {
                path == self.path() && self.value().is_some_and(is_single)
            }
            ProposedEdit::Remove(path) => path == self.path() && self.value() == Some(&Value::Null),
            ProposedEdit::Rename(..) => true,
            ProposedEdit::Insert(..) | ProposedEdit::Unwrap(_) => false,
        }
    }

    fn rename(&self, from: &str, to: &str) -> ProposedEdit {
        ProposedEdit::Rename(self.path().parent().key(from), to.to_owned())
    }

    fn replace(&self, new: Value<'_>) -> ProposedEdit {
        ProposedEdit::Replace(self.path().clone(), new.into_owned())
    }
}

/// The only item, if there is exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// Whether a value is more than a word or a bracket for nothing.
fn says_something(value: &Value<'_>) -> bool {
    const NOTHING: [&str; 7] = ["", "null", "none", "nil", "undefined", "nan", "n/a"];
    match value {
        Value::Null => false,
        Value::String(text) => !NOTHING.contains(&text.trim().to_lowercase().as_str()),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}
