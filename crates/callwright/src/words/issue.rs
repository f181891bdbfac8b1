//! One fact about a call's arguments, as data. Sentences are made of it in [`crate::feedback`].

use serde::Serialize;

use crate::json::Path;

/// What is wrong at one place of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Issue {
    /// Where: a JSON Pointer into the arguments. For a missing or an unknown key, the key's own place.
    pub path: Path,
    /// Which kind of thing is wrong.
    pub code: IssueCode,
    /// What would be right, as a noun phrase (`integer`, `at most 10 items`).
    pub expected: String,
    /// What came, as a noun phrase with a short preview (`string "abc"`); empty for a key that is
    /// missing and of which nothing is known.
    pub received: String,
    /// What was probably meant: the right key, the right value.
    pub suggestion: Option<String>,
    /// Why this issue and not those of the other branches, where the schema offers alternatives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchChoice>,
}

/// Which branch of a union was taken to be meant, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BranchChoice {
    /// The union: a JSON Pointer to the `anyOf` or `oneOf` in the schema.
    pub union: Path,
    /// The index of the branch.
    pub index: usize,
    /// Why this one.
    pub reason: BranchReason,
}

/// Why a branch of a union was taken to be meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BranchReason {
    /// It is the only branch that takes a value of this type.
    Type,
    /// A property that tells the branches apart has this branch's value.
    Discriminator {
        /// The property.
        property: String,
    },
    /// It objects to fewest things, and knows most of the keys that came.
    Nearest,
}

/// The kinds of issue. Stable names: programs match on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IssueCode {
    // In the order in which the model gets them: what keeps the call from being understood
    // at all comes before what is merely out of range.
    /// A required key is missing.
    Required,
    /// A key is missing that another key requires.
    DependentRequired,
    /// A key that the schema does not allow.
    UnknownKey,
    /// A key occurs twice.
    DuplicateKey,
    /// Another type.
    Type,
    /// None of the alternatives, and none is near.
    Union,
    /// Not one of the allowed values.
    Enum,
    /// Not the one allowed value.
    Const,
    /// Not in the format.
    Format,
    /// Does not match the pattern.
    Pattern,
    /// Too small a number.
    Minimum,
    /// Too large a number.
    Maximum,
    /// Not a multiple.
    MultipleOf,
    /// Too short a string.
    MinLength,
    /// Too long a string.
    MaxLength,
    /// Too few items.
    MinItems,
    /// Too many items.
    MaxItems,
    /// An item occurs twice.
    UniqueItems,
    /// No item is as one must be.
    Contains,
    /// Too few keys.
    MinProperties,
    /// Too many keys.
    MaxProperties,
    /// A key whose name is not allowed.
    PropertyName,
    /// Fits several alternatives of which exactly one is allowed.
    SeveralBranches,
    /// Fits what is ruled out.
    Not,
    /// Nothing is allowed here.
    NotAllowed,
    /// Anything else.
    Other,
}

impl IssueCode {
    /// All kinds, in that order.
    pub const ALL: [IssueCode; 26] = [
        IssueCode::Required,
        IssueCode::DependentRequired,
        IssueCode::UnknownKey,
        IssueCode::DuplicateKey,
        IssueCode::Type,
        IssueCode::Union,
        IssueCode::Enum,
        IssueCode::Const,
        IssueCode::Format,
        IssueCode::Pattern,
        IssueCode::Minimum,
        IssueCode::Maximum,
        IssueCode::MultipleOf,
        IssueCode::MinLength,
        IssueCode::MaxLength,
        IssueCode::MinItems,
        IssueCode::MaxItems,
        IssueCode::UniqueItems,
        IssueCode::Contains,
        IssueCode::MinProperties,
        IssueCode::MaxProperties,
        IssueCode::PropertyName,
        IssueCode::SeveralBranches,
        IssueCode::Not,
        IssueCode::NotAllowed,
        IssueCode::Other,
    ];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            IssueCode::Required => "required",
            IssueCode::DependentRequired => "dependent_required",
            IssueCode::UnknownKey => "unknown_key",
            IssueCode::DuplicateKey => "duplicate_key",
            IssueCode::Type => "type",
            IssueCode::Union => "union",
            IssueCode::Enum => "enum",
            IssueCode::Const => "const",
            IssueCode::Format => "format",
            IssueCode::Pattern => "pattern",
            IssueCode::Minimum => "minimum",
            IssueCode::Maximum => "maximum",
            IssueCode::MultipleOf => "multiple_of",
            IssueCode::MinLength => "min_length",
            IssueCode::MaxLength => "max_length",
            IssueCode::MinItems => "min_items",
            IssueCode::MaxItems => "max_items",
            IssueCode::UniqueItems => "unique_items",
            IssueCode::Contains => "contains",
            IssueCode::MinProperties => "min_properties",
            IssueCode::MaxProperties => "max_properties",
            IssueCode::PropertyName => "property_name",
            IssueCode::SeveralBranches => "several_branches",
            IssueCode::Not => "not",
            IssueCode::NotAllowed => "not_allowed",
            IssueCode::Other => "other",
        }
    }
}
