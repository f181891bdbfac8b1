//! How much a call may hold.

/// How much a call may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseLimits {
    /// The longest text of arguments that is read, in bytes.
    pub max_bytes: usize,
    /// How deeply containers may be nested.
    pub max_depth: usize,
}

impl Default for ParseLimits {
    fn default() -> Self {
        ParseLimits {
            // Models answer with at most a few hundred kilobytes; a tool that takes whole files
            // through a call gets some megabytes. Beyond that it is a runaway.
            max_bytes: 8 * 1024 * 1024,
            // The deepest real calls have a dozen levels. Readers such as `serde_json` stop at 127,
            // and arguments travel inside lines and requests that add a few.
            max_depth: 100,
        }
    }
}

impl ParseLimits {
    /// The same limits with another size.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// The same limits with another depth. More than 120 is cut to 120: common JSON readers stop at
    /// 127, and what passes here must still be readable after us, inside a request.
    #[must_use]
    pub fn with_max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth.min(120);
        self
    }
}
