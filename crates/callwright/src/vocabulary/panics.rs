//! Contains panics in foreign code.
//!
//! Takes work that is not ours: a tool, a check, a sink. Returns its result, or the message of its panic. The panic payload is
//! dropped here as well, since that may panic again.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs something that may panic; returns the message of the panic, if it did.
///
/// # Errors
/// Fails with the message of the panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(words_of)
}

/// The message of a panic, whose payload is then dropped.
#[cold]
pub(crate) fn words_of(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // A payload that panics when dropped could do so for ever; a few bytes are leaked instead.
        std::mem::forget(another);
    }
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;

    use super::*;

    #[test]
    fn a_panic_payload_may_panic_again() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic_any(Bomb);
            }
        }
        let words = caught(|| panic_any(Bomb)).err();
        assert_eq!(words.as_deref(), Some("a panic without a message"));
        assert_eq!(caught(|| panic!("boom")).err().as_deref(), Some("boom"));
        let written = caught(|| panic!("{}", 1 + 1)).err();
        assert_eq!(written.as_deref(), Some("2"));
        assert_eq!(caught(|| 5), Ok(5));
    }
}
