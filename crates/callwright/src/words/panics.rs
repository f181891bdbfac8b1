//! Keeps a panic in the code of others where it is.
//!
//! Takes something to do that is not ours: a tool, a check, a sink. Returns what it returned, or what its panic
//! said. What was thrown is let go of here, too, for that may panic once more.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does something that may panic; the words of the panic, if it did.
///
/// # Errors
/// Fails with what the panic said.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(words_of)
}

/// The words of a panic, which is then over.
#[cold]
pub(crate) fn words_of(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // Who panics when let go of would do so for ever; a few bytes are lost instead.
        std::mem::forget(another);
    }
    text.unwrap_or_else(|| "a panic without words".to_owned())
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;

    use super::*;

    #[test]
    fn what_was_thrown_may_panic_again() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic_any(Bomb);
            }
        }
        let words = caught(|| panic_any(Bomb)).err();
        assert_eq!(words.as_deref(), Some("a panic without words"));
        assert_eq!(caught(|| panic!("boom")).err().as_deref(), Some("boom"));
        let written = caught(|| panic!("{}", 1 + 1)).err();
        assert_eq!(written.as_deref(), Some("2"));
        assert_eq!(caught(|| 5), Ok(5));
    }
}
