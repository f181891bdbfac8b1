//! A policy file → a [`Policy`], or every mistake in it with its place.
//!
//! Takes TOML text and returns settings; an unknown key is a mistake, never ignored. `keys` is the table of keys and the
//! settings they fill, `values` reads numbers, steps and names, `checks` reads the conditions of `[[check]]`, and `fault`
//! reports mistakes.

#[cfg(feature = "cel")]
mod checks;
mod fault;
mod keys;
mod values;

use toml::de::DeTable;

pub use self::keys::known_keys;

use self::fault::FileFault;
use self::values::PolicyReader;
use super::Policy;
use crate::error::{Error, ErrorKind};

impl Policy {
    /// The longest policy file that is read, in bytes: about the size of one with a table for each of 10,000 tools.
    pub const LONGEST_FILE: usize = 1024 * 1024;

    /// Reads a policy file.
    ///
    /// ```
    /// use callwright::policy::Policy;
    ///
    /// let policy = Policy::from_toml("[tool.'get_*']\neffect = 'read'\n")?;
    /// let error = Policy::from_toml("[loops]\nask_afer = 3\n").unwrap_err();
    /// assert_eq!(error.to_string(), "\
    /// line 2, column 1: unknown key `ask_afer` in [loops], did you mean `ask_after`?
    ///   2 | ask_afer = 3
    ///     | ^^^^^^^^");
    /// # Ok::<(), callwright::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the text is too long, is not TOML, or contains an unknown key or an invalid value. The error names every such
    /// place with line and column, and suggests what may have been meant.
    pub fn from_toml(text: &str) -> Result<Policy, Error> {
        if text.len() > Policy::LONGEST_FILE {
            let longest = Policy::LONGEST_FILE;
            return Err(ErrorKind::LongPolicy { longest }.into());
        }
        // A byte order mark is not part of the first line.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let told = |faults| Error::from(ErrorKind::Policy(fault::tell(text, faults)));
        let table =
            DeTable::parse(text).map_err(|error| told(vec![FileFault::syntax(text, &error)]))?;
        let mut reader = PolicyReader::default();
        let mut policy = keys::read(&mut reader, table.get_ref());
        if !reader.faults.is_empty() {
            return Err(told(reader.faults));
        }
        policy.patterns.sort_by_key(|pattern| pattern.line);
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        for pattern in &mut policy.patterns {
            // Up to here `line` holds an offset.
            pattern.line = ends.partition_point(|end| *end < pattern.line) + 1;
        }
        Ok(policy)
    }
}
