//! Why a tool failed: what the model may know, and what only the operator should know.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use super::code::Next;
use super::json::Path;
use super::output::Output;
use super::output_policy::OutputPolicy;

/// How many causes of an error are followed. Real chains have a handful; a circular chain has no end.
const MOST_CAUSES: usize = 32;

/// A tool's failure. A tool returns one with its own code, detail and hint; `?` turns any other error into one, which is then
/// shown to the model as a short safe line and to the operator in full.
///
/// ```
/// use callwright::check::ToolFailure;
///
/// fn find(id: &str) -> Result<String, ToolFailure> {
///     if !id.starts_with("C-") {
///         return Err(ToolFailure::new("unknown_customer", format!("There is no customer {id}."))
///             .with_hint("Customer ids look like C-1042; look one up with `find_customer`."));
///     }
///     Ok(std::fs::read_to_string(id)?) // the model does not hear about our files
/// }
/// # assert!(find("7").is_err());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ToolFailure(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: FailureKind,
    code: Option<Cow<'static, str>>,
    detail: Option<Cow<'static, str>>,
    hint: Option<Cow<'static, str>>,
    recommendations: Vec<String>,
    next: Option<Next>,
    for_operator: Option<String>,
    retry_after: Option<Duration>,
    objection: Option<(Path, String)>,
    output: Option<Output<'static>>,
}

/// The kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The tool worked and reports that it cannot do this: its own message goes to the model.
    Reported,
    /// The tool broke; the details go to the operator only.
    Internal,
    /// It failed for a transient reason.
    Transient,
    /// It exceeded its time limit.
    TimedOut(Duration),
    /// It panicked.
    Panicked,
    /// Its caller went away.
    Cancelled,
    /// Its caller went away before it started.
    NotStarted,
    /// The tool contradicts its own declaration.
    Defect,
}

impl ToolFailure {
    /// A failure in the tool's own words: a stable code for programs, and a sentence for the model.
    pub fn new(code: impl Into<Cow<'static, str>>, detail: impl Into<Cow<'static, str>>) -> Self {
        let (code, detail) = (Some(code.into()), Some(detail.into()));
        ToolFailure::of(FailureKind::Reported, |inner| {
            (inner.code, inner.detail) = (code, detail);
        })
    }

    /// A transient failure: a rate limit, an overload. The sentence is for the model.
    pub fn transient(detail: impl Into<Cow<'static, str>>) -> Self {
        ToolFailure::of(FailureKind::Transient, |inner| {
            inner.detail = Some(detail.into());
        })
    }

    /// A result that the tool itself marked as an error, as MCP servers do. It is passed on unchanged.
    pub fn said(output: impl Into<Output<'static>>) -> Self {
        ToolFailure::of(FailureKind::Reported, |inner| {
            inner.output = Some(output.into());
        })
    }

    /// The tool broke. The text is for the operator; the model gets a short safe line.
    pub fn internal(for_operator: impl Into<String>) -> Self {
        ToolFailure::with_operator_detail(FailureKind::Internal, for_operator)
    }

    /// The tool exceeded its time limit.
    pub fn timed_out(after: Duration) -> Self {
        ToolFailure::of(FailureKind::TimedOut(after), |_| {})
    }

    /// The tool panicked. The text is for the operator.
    pub fn panicked(message: impl Into<String>) -> Self {
        ToolFailure::with_operator_detail(FailureKind::Panicked, message)
    }

    /// The caller went away.
    pub fn cancelled() -> Self {
        ToolFailure::of(FailureKind::Cancelled, |_| {})
    }

    /// The caller went away before the tool started.
    pub fn not_started() -> Self {
        ToolFailure::of(FailureKind::NotStarted, |_| {})
    }

    /// The tool contradicts its own declaration: a mistake of its author, never of the model. The text is for the operator.
    pub fn defect(for_operator: impl Into<String>) -> Self {
        ToolFailure::with_operator_detail(FailureKind::Defect, for_operator)
    }

    /// The tool broke with an error that has no type of its own: a boxed one, one of `anyhow`, or a text. For `map_err`; `?`
    /// turns any [`std::error::Error`] into a failure.
    ///
    /// ```
    /// use callwright::check::ToolFailure;
    ///
    /// fn load() -> Result<u8, ToolFailure> {
    ///     let boxed: Box<dyn std::error::Error + Send + Sync> = "disk on fire".into();
    ///     Err(boxed).map_err(ToolFailure::from_boxed)
    /// }
    /// # assert_eq!(load().unwrap_err().for_operator(), Some("disk on fire"));
    /// ```
    pub fn from_boxed(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        ToolFailure::internal(chain(&*error.into()))
    }

    /// The same, with an objection by the type of an argument, in its own words. The model gets it like any other issue,
    /// because it can act on it.
    #[must_use]
    pub fn with_objection(mut self, path: Path, message: impl Into<String>) -> Self {
        self.0.objection = Some((path, message.into()));
        self
    }

    /// Removes the objection by the type of an argument.
    pub(crate) fn forget_objection(&mut self) {
        self.0.objection = None;
    }

    /// The objection by the type of an argument.
    pub(crate) fn objection(&self) -> Option<&(Path, String)> {
        self.0.objection.as_ref()
    }

    fn of(kind: FailureKind, set: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = Inner {
            kind,
            code: None,
            detail: None,
            hint: None,
            recommendations: Vec::new(),
            next: None,
            for_operator: None,
            retry_after: None,
            objection: None,
            output: None,
        };
        set(&mut inner);
        ToolFailure(Box::new(inner))
    }

    fn with_operator_detail(kind: FailureKind, for_operator: impl Into<String>) -> Self {
        ToolFailure::of(kind, |inner| inner.for_operator = Some(for_operator.into()))
    }

    /// The same, with a hint for the model.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The same, with one more thing for the model to try.
    #[must_use]
    pub fn with_recommendation(mut self, recommendation: impl Into<String>) -> Self {
        self.0.recommendations.push(recommendation.into());
        self
    }

    /// The same, with another next step for the model.
    #[must_use]
    pub fn with_next(mut self, next: Next) -> Self {
        self.0.next = Some(next);
        self
    }

    /// The same, with a wait before the next try, as requested by a server.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// The same, with the tool's own code.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// The same, with the error that caused it, for the operator only.
    #[must_use]
    pub fn caused_by(mut self, error: &(dyn StdError + 'static)) -> Self {
        self.0.for_operator = Some(chain(error));
        self
    }

    /// Whether it is transient: the tool says so, or its message implies it.
    pub(crate) fn passes(&self, policy: &OutputPolicy) -> bool {
        match self.0.kind {
            FailureKind::Transient => true,
            FailureKind::Reported | FailureKind::Internal => {
                let said = self.0.output.as_ref().map(Output::text);
                [
                    self.code(),
                    said.as_deref(),
                    self.detail(),
                    self.for_operator(),
                ]
                .into_iter()
                .flatten()
                .any(|words| policy.passes(words))
            }
            _ => false,
        }
    }

    /// The kind of failure.
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// The tool's own code.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// What is wrong, for the model.
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// What to do about it, for the model.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// What else the model might try.
    pub fn recommendations(&self) -> &[String] {
        &self.0.recommendations
    }

    /// The next step that the tool asks for.
    pub fn next(&self) -> Option<Next> {
        self.0.next
    }

    /// Everything known about the failure that is not for the model.
    pub fn for_operator(&self) -> Option<&str> {
        self.0.for_operator.as_deref()
    }

    /// How long to wait before the next try, if the tool says so.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The tool's own result that reports the failure, if there is one.
    pub fn output(&self) -> Option<&Output<'static>> {
        self.0.output.as_ref()
    }

    /// Rewrites every text in it.
    pub(crate) fn rewrite(&mut self, shown: &dyn Fn(&str) -> String) {
        let inner = &mut *self.0;
        let own = [&mut inner.code, &mut inner.detail, &mut inner.hint];
        for text in own.into_iter().flatten() {
            *text = Cow::Owned(shown(text));
        }
        for text in inner
            .recommendations
            .iter_mut()
            .chain(&mut inner.for_operator)
        {
            *text = shown(text);
        }
        if let Some((_, objection)) = &mut inner.objection {
            *objection = shown(objection);
        }
    }

    pub(crate) fn take_output(&mut self) -> Option<Output<'static>> {
        self.0.output.take()
    }
}

impl fmt::Debug for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolFailure")
            .field("kind", &self.0.kind)
            .field("code", &self.0.code)
            .field("detail", &self.0.detail)
            .field("for_operator", &self.0.for_operator)
            .finish_non_exhaustive()
    }
}

/// Any Rust error: the tool broke, and only the operator gets the details. (For this to work, a `ToolFailure` is not a
/// [`std::error::Error`] itself.)
impl<E: StdError + 'static> From<E> for ToolFailure {
    fn from(error: E) -> Self {
        ToolFailure::internal(chain(&error))
    }
}

/// An error and its causes: `cannot load: file not found: no such file`.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut texts = Vec::new();
    let mut cause = Some(error);
    while let Some(error) = cause.filter(|_| texts.len() < MOST_CAUSES) {
        texts.push(error.to_string());
        cause = error.source();
    }
    texts.join(": ")
}
