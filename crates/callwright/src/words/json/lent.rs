//! A value that is borrowed or owned.

use std::ops::Deref;

use super::Value;

/// A value that is borrowed or owned. `Cow` would do if it were covariant: what is kept for long could then be closed
/// with what lives shortly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lent<'v> {
    /// Borrowed from its owner.
    Borrowed(&'v Value<'v>),
    /// Owned.
    Owned(Value<'v>),
}

impl<'v> Lent<'v> {
    /// The value itself.
    pub fn into_owned(self) -> Value<'v> {
        match self {
            Lent::Borrowed(value) => value.clone(),
            Lent::Owned(value) => value,
        }
    }
}

impl<'v> Deref for Lent<'v> {
    type Target = Value<'v>;

    fn deref(&self) -> &Value<'v> {
        match self {
            Lent::Borrowed(value) => value,
            Lent::Owned(value) => value,
        }
    }
}
