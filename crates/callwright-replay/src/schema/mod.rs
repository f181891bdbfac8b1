//! Places in a schema: which parts of it are about a value, and what a part alone accepts.
//!
//! Works on schemas as declared. Changes nothing and decides nothing about calls.

mod children;
mod closed;
mod locate;
mod part_validator;
mod position;
mod size_limit;

pub(crate) use children::children;
pub(crate) use closed::closed;
pub(crate) use locate::{SchemaPart, fragments, nodes, places};
pub(crate) use part_validator::PartValidator;
pub(crate) use position::{Positions, follow};
pub(crate) use size_limit::SizeLimit;
