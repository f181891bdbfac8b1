//! Places in a schema: which parts of it speak about a value, and what a part accepts by itself.
//!
//! Works on schemas as they were declared. Changes nothing and decides nothing about calls.

mod children;
mod closed;
mod judge;
mod locate;
mod position;
mod size_limit;

pub(crate) use children::children;
pub(crate) use closed::closed;
pub(crate) use judge::PartValidator;
pub(crate) use locate::{SchemaPart, fragments, nodes, places};
pub(crate) use position::{Positions, follow};
pub(crate) use size_limit::SizeLimit;
