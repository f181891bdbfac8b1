//! Typed tools.
