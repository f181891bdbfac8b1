//! The text that `--version` prints.

/// The version alone, for `-V`.
pub(crate) const SHORT: &str = env!("CARGO_PKG_VERSION");

#[cfg(feature = "tls")]
macro_rules! features {
    () => {
        "cel, policy, tls"
    };
}
#[cfg(not(feature = "tls"))]
macro_rules! features {
    () => {
        "cel, policy"
    };
}

/// The version and the enabled features.
pub(crate) const LONG: &str = concat!(env!("CARGO_PKG_VERSION"), "\nfeatures  ", features!());
