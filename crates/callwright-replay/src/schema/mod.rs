//! Places in a schema: which parts of it speak about a value, and what a part accepts by itself.
//!
//! Works on schemas as they were declared. Changes nothing and decides nothing about calls.

mod children;
mod closed;
mod judge;
mod locate;
mod position;

pub(crate) use children::children;
pub(crate) use closed::closed;
pub(crate) use judge::Judge;
pub(crate) use locate::{Place, fragments, nodes, places};
pub(crate) use position::{Positions, follow};
