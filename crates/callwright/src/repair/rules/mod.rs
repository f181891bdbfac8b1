//! The rules, one file each, in the order in which they are tried.
//!
//! A rule looks at one objection and proposes at most one change there. It never decides: the validator
//! is asked whether the change helps. Adding a rule is a file, a line here and cases in the corpus.

mod array_from_scalar;
mod boolean_from_string;
mod date_separators;
mod default_for_missing;
mod default_left_out;
mod enum_near;
mod enum_spelling;
mod json_from_string;
mod key_near;
mod key_repeated;
mod key_spelling;
mod key_words;
mod layer_unwrapped;
mod list_from_commas;
mod list_from_text;
mod list_layer;
mod midnight_left_out;
mod null_left_out;
mod null_text_left_out;
mod number_from_string;
mod only_key_left;
mod scalar_from_array;
mod sole_parameter;
mod string_from_boolean;
mod string_from_scalar;
mod unknown_key_dropped;

use std::cell::OnceCell;

use serde_json::Value as Schema;

use super::{Grade, Stakes};
use crate::json::{Path, Value};
use crate::validate::{CompiledSchema, LocatedIssue};
use crate::words::IssueCode;

/// A rule of repair.
pub(super) struct Rule {
    /// The stable name.
    pub(super) name: &'static str,
    /// How far its edits depart from what was sent.
    pub(super) grade: Grade,
    /// Which of two rules of one grade is tried first. Rules of the same cost that propose different
    /// values for one place make the call ambiguous.
    pub(super) cost: u8,
    /// The highest stakes at which it is tried, whatever grade the operator allows.
    pub(super) up_to: Stakes,
    /// What it does, for people.
    pub(super) about: &'static str,
    /// What it would change about an objection.
    pub(super) propose: fn(&Site<'_>) -> Option<Change>,
}

/// An objection and what is known about it.
pub(super) struct Site<'s> {
    finding: &'s LocatedIssue,
    root: &'s Value<'static>,
    schema: &'s CompiledSchema,
    /// The part of the schema that objects. Most rules ask for it, and finding it takes longer than they do.
    node: OnceCell<Option<&'s Schema>>,
}

/// What a rule would change.
#[derive(Debug)]
pub(super) enum Change {
    Replace(Path, Value<'static>),
    Insert(Path, Value<'static>),
    Remove(Path),
    /// The list at this path becomes its only item. (A proposal that copies no list, however long.)
    Unwrap(Path),
    /// The member at this path gets another key.
    Rename(Path, String),
}

/// All rules, by grade and cost.
pub(super) const RULES: &[Rule] = &[
    layer_unwrapped::RULE,
    json_from_string::RULE,
    number_from_string::RULE,
    boolean_from_string::RULE,
    string_from_scalar::RULE,
    enum_spelling::RULE,
    key_spelling::RULE,
    date_separators::RULE,
    default_for_missing::RULE,
    null_left_out::RULE,
    scalar_from_array::RULE,
    list_layer::RULE,
    key_repeated::RULE,
    key_words::RULE,
    list_from_text::RULE,
    string_from_boolean::RULE,
    unknown_key_dropped::RULE,
    midnight_left_out::RULE,
    default_left_out::RULE,
    enum_near::RULE,
    key_near::RULE,
    only_key_left::RULE,
    null_text_left_out::RULE,
    array_from_scalar::RULE,
    list_from_commas::RULE,
    sole_parameter::RULE,
];

impl<'s> Site<'s> {
    pub(super) fn new(
        finding: &'s LocatedIssue,
        root: &'s Value<'static>,
        schema: &'s CompiledSchema,
    ) -> Self {
        Site {
            finding,
            root,
            schema,
            node: OnceCell::new(),
        }
    }

    /// The part of the schema that objects.
    fn node(&self) -> Option<&'s Schema> {
        let find = || self.schema.node(&self.finding.owner);
        *self.node.get_or_init(find)
    }

    fn path(&self) -> &'s Path {
        &self.finding.issue.path
    }

    fn code(&self) -> IssueCode {
        self.finding.issue.code
    }

    /// The value that is objected to.
    fn value(&self) -> Option<&'s Value<'static>> {
        self.root.at(self.path())
    }

    /// The value, if its type is what is objected to: only then may it become another type.
    fn wrong_type(&self) -> Option<&'s Value<'static>> {
        let only_other_types = |node: &Schema| {
            let values = node.get("enum").and_then(Schema::as_array);
            values.is_some_and(|values| !values.iter().any(Schema::is_string))
        };
        match self.code() {
            IssueCode::Type => self.value(),
            IssueCode::Enum if self.node().is_some_and(only_other_types) => self.value(),
            _ => None,
        }
    }

    /// The text of a value that should not be text.
    fn misplaced_text(&self) -> Option<&'s str> {
        self.wrong_type().and_then(Value::as_str)
    }

    /// What the schema says about the items of the list that it wants here.
    fn items(&self) -> Option<&'s Schema> {
        let node = self.node()?;
        Some(self.schema.follow(node.get("items")?))
    }

    /// Whether the schema node at a path requires a key.
    fn requires(&self, node: &Path, key: &str) -> bool {
        self.schema
            .node(node)
            .and_then(|node| node.get("required")?.as_array())
            .is_some_and(|required| required.iter().any(|name| name == key))
    }

    fn replace(&self, new: Value<'static>) -> Change {
        Change::Replace(self.path().clone(), new)
    }
}
