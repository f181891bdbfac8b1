//! A span for each call, named after OpenTelemetry's conventions for generative AI.
//!
//! Takes the names of a call and later its outcome; opens a span `execute_tool NAME` for the process's subscriber. It never
//! contains arguments or results: the conventions make them opt-in (`gen_ai.tool.call.arguments`, `gen_ai.tool.call.result`),
//! and traces go to places where secrets do not belong. Our own attributes start with `callwright.`. Without the feature
//! `tracing` none of this does anything.

use crate::json::Value;
use crate::verdict::Settled;

/// The span of one call. Without the feature `tracing` it does nothing.
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolSpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg_attr(
    not(feature = "tracing"),
    allow(unused_variables, clippy::unused_self, reason = "there is no span")
)]
impl ToolSpan {
    /// Opens the span of a call. `tool` is called only if a subscriber wants the span.
    pub fn new<'t>(
        tool: impl FnOnce() -> &'t str,
        id: Option<&Value<'_>>,
        session: Option<&str>,
    ) -> Self {
        ToolSpan {
            #[cfg(feature = "tracing")]
            span: open(tool, id, session),
        }
    }

    /// Records the outcome of the call and how many times the tool was run.
    pub fn record_settled(&self, settled: &Settled<'_>, attempts: u32) {
        #[cfg(feature = "tracing")]
        if !self.span.is_disabled() {
            let verdict = &settled.verdict;
            self.span.record("callwright.verdict", verdict.name());
            if let Some(result) = &settled.result {
                let name = result.verdict.name();
                self.span.record("callwright.output_verdict", name);
            }
            self.span.record("callwright.edits", verdict.edits().len());
            self.span.record("callwright.attempts", attempts);
            if let Some(failure) = settled.failure().filter(|_| settled.is_error()) {
                self.span.record("error.type", failure.code_name());
                self.span.record("otel.status_code", "ERROR");
            }
        }
    }

    /// Runs a future inside the span.
    pub fn instrument<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        #[cfg(feature = "tracing")]
        let future = tracing::Instrument::instrument(future, self.span.clone());
        future
    }

    /// Runs a function inside the span.
    pub fn in_scope<T>(&self, function: impl FnOnce() -> T) -> T {
        #[cfg(feature = "tracing")]
        let _entered = self.span.enter();
        function()
    }
}

#[cfg(feature = "tracing")]
fn open<'t>(
    tool: impl FnOnce() -> &'t str,
    id: Option<&Value<'_>>,
    session: Option<&str>,
) -> tracing::Span {
    use tracing::field::{Empty, display};

    let span = tracing::info_span!(
        "execute_tool",
        "otel.name" = Empty,
        "otel.kind" = "internal",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = Empty,
        "gen_ai.tool.type" = "function",
        "gen_ai.tool.call.id" = Empty,
        "gen_ai.conversation.id" = session,
        "error.type" = Empty,
        "callwright.verdict" = Empty,
        "callwright.output_verdict" = Empty,
        "callwright.edits" = Empty,
        "callwright.attempts" = Empty,
    );
    if !span.is_disabled() {
        let tool = tool();
        span.record("gen_ai.tool.name", tool);
        span.record("otel.name", display(format_args!("execute_tool {tool}")));
        match id {
            Some(Value::String(id)) => {
                span.record("gen_ai.tool.call.id", id.as_ref());
            }
            Some(other) => {
                span.record("gen_ai.tool.call.id", display(other));
            }
            None => {}
        }
    }
    span
}
