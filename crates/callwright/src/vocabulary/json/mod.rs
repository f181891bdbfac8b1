//! JSON as this crate holds it: a tree that borrows from the text it was parsed from.
//!
//! Data only: the parser builds [`Value`]s, the validator judges them in place, the caller serialises them. A string without
//! escapes is a slice of the text and a number is its digits, so parsing a call takes few allocations and a 23-digit id stays a
//! 23-digit id. Members keep their order, and a repeated key is kept.
//!
//! This module never judges: [`crate::validate`] decides whether a value is valid.

mod canonical;
mod duplicates;
mod from_type;
mod indexed;
mod into_type;
mod keyword;
mod mismatch;
mod number;
mod object_writer;
mod path;
mod read;
mod scan;
mod serialize;
mod strict;
mod syntax_error;
mod value;

pub(crate) use canonical::{
    FEW, with_buffer, write_object, write_string as write_canonical_string,
};
pub(crate) use duplicates::{duplicate_keys, has_duplicate};
pub use from_type::from_type;
pub(crate) use indexed::Indexed;
#[cfg(feature = "toolbox")]
pub(crate) use into_type::to_arguments;
pub use into_type::to_type;
pub(crate) use keyword::{keyword, member};
pub use mismatch::Mismatch;
#[cfg(feature = "toolbox")]
pub(crate) use mismatch::MismatchCause;
pub(crate) use number::overflows;
pub use number::{NotANumber, Number};
pub(crate) use object_writer::{ObjectWriter, write_list};
pub use path::{Path, Segment};
pub(crate) use read::{LINE_DEPTH, inspect, is_deeper, parse_at, read_value_within};
pub use read::{read_value, size};
pub(crate) use scan::{plain_bytes, plain_until};
pub(crate) use serialize::write_json_string;
pub(crate) use strict::{parse as read_document, parse_prefix as read_prefix, unicode_escape};
pub use syntax_error::{Problem, SyntaxError};
pub use value::{Kind, Lent, Member, Value};
