//! What is required of a tool's results.

use std::fmt;
use std::sync::Arc;

use super::macros::named;
use super::output_fault::Finding;
use crate::json::Value;
use crate::panics::caught;
use crate::text::first_bytes;
use crate::vocabulary::Validation;
use crate::vocabulary::transient::is_transient;

/// How much of an error is searched for signs of a transient failure, in bytes. They are at the beginning.
const SEARCHED: usize = 2_048;

/// How the results of a tool are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputPolicy {
    /// What an objection leads to.
    pub mode: Validation,
    /// What to look for beyond the schema, in this order.
    pub detect: Vec<Detector>,
    /// The operator's own checks.
    pub checks: Vec<OutputCheck>,
    /// Words that mark an error as transient, besides well-known ones (`HTTP 429`, `connection reset`): a call that failed like
    /// this is not counted, and is retried if that is safe. Case does not matter.
    pub transient: Vec<String>,
    /// How many bytes of a result the model gets; the rest is cut, and the model is told so.
    pub max_bytes: usize,
}

impl Default for OutputPolicy {
    fn default() -> Self {
        OutputPolicy {
            mode: Validation::Strict,
            detect: Vec::new(),
            checks: Vec::new(),
            transient: Vec::new(),
            // About 64,000 tokens, half of a common context window: more than that drowns the conversation.
            max_bytes: 256 * 1024,
        }
    }
}

impl OutputPolicy {
    /// Whether an error is transient.
    pub(crate) fn passes(&self, error: &str) -> bool {
        let error = first_bytes(error, SEARCHED);
        is_transient(error)
            || (!self.transient.is_empty() && {
                let error = error.to_lowercase();
                let says =
                    |words: &String| !words.is_empty() && error.contains(&words.to_lowercase());
                self.transient.iter().any(says)
            })
    }
}

named! {
    /// What can be detected in a result without knowing its meaning.
    #[non_exhaustive]
    pub enum Detector {
        /// An error that looks like a success.
        ErrorInDisguise = "error_in_disguise",
        /// An empty result for a call that names an id.
        EmptyResult = "empty_result",
        /// There are more pages.
        MorePages = "more_pages",
        /// A text that ends in the middle, or says that something was left out.
        TruncatedText = "truncated_text",
    }
}

/// A check of a call's arguments and its result, by the operator or the program.
#[derive(Clone)]
pub struct OutputCheck {
    name: Arc<str>,
    look: Arc<CheckFunction>,
}

type CheckFunction =
    dyn Fn(&Value<'_>, &Value<'_>) -> Result<Option<Finding>, String> + Send + Sync;

impl OutputCheck {
    /// A check in Rust: gets the arguments and the result, a text as a JSON string.
    ///
    /// ```
    /// use callwright::check::{Finding, OutputCheck};
    ///
    /// let check = OutputCheck::new("one_currency", |arguments, output| {
    ///     (arguments.get("currency") != output.get("currency"))
    ///         .then(|| Finding::garbage("other_currency", "The amounts are in another currency."))
    /// });
    /// # drop(check);
    /// ```
    pub fn new(
        name: &str,
        look: impl Fn(&Value<'_>, &Value<'_>) -> Option<Finding> + Send + Sync + 'static,
    ) -> Self {
        OutputCheck::fallible(name, move |arguments, output| Ok(look(arguments, output)))
    }

    /// A check that may give no answer; the reason goes to the operator, and the result passes.
    pub fn fallible(
        name: &str,
        look: impl Fn(&Value<'_>, &Value<'_>) -> Result<Option<Finding>, String> + Send + Sync + 'static,
    ) -> Self {
        OutputCheck {
            name: Arc::from(name),
            look: Arc::new(look),
        }
    }

    /// Its name in messages to the operator.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs the check. If it panics, there is no answer.
    pub(crate) fn look(
        &self,
        arguments: &Value<'_>,
        output: &Value<'_>,
    ) -> Result<Option<Finding>, String> {
        caught(|| (self.look)(arguments, output))
            .unwrap_or_else(|words| Err(format!("it panicked: {words}")))
            .map_err(|why| format!("check {:?}: {why}", self.name))
    }
}

impl fmt::Debug for OutputCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutputCheck").field(&self.name).finish()
    }
}

/// Equal if they are copies of one check.
impl PartialEq for OutputCheck {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.look, &other.look)
    }
}

impl Eq for OutputCheck {}
