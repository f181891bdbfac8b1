//! The outcomes of calls in a provider's shape, as answers to the model.
//!
//! Every call gets exactly one answer, including one that was refused, cancelled, or run next to one that failed. Providers
//! reject a history in which a call has no result.

use super::Provider;
use crate::call::Call;
use crate::feedback::{Content, Feedback};
use crate::json::Value;
use crate::verdict::Settled;
use crate::vocabulary::Output;

/// The outcome of a call, as the provider's tool result.
pub fn render_settled<'v>(
    provider: Provider,
    call: &'v Call<'_>,
    settled: &'v Settled<'_>,
    feedback: &Feedback,
) -> Value<'v> {
    let shape = provider.shape();
    let presented = feedback.present(settled);
    let structure = match presented.content {
        Content::Kept(Output::Value(value @ Value::Object(_))) if !presented.is_error => {
            Some(value.clone())
        }
        _ => None,
    };
    let tool = settled.verdict.tool().filter(|_| structure.is_none());
    let lacks_structure = tool.is_some_and(|tool| shape.requires_structure(tool.spec()));
    let is_error = presented.is_error || lacks_structure;
    let told = presented.into_text().into_owned();
    shape.with_structure(shape.render_result(call, told, is_error), structure)
}

/// The outcomes of the calls in one answer of the model, as what follows it in the history: one message each, or one message
/// for all where the provider requires that.
pub fn render_round<'v, 'a: 'v, 'b: 'v>(
    provider: Provider,
    round: impl IntoIterator<Item = (&'v Call<'a>, &'v Settled<'b>)>,
    feedback: &Feedback,
) -> Vec<Value<'v>> {
    let results = round.into_iter();
    let results = results.map(|(call, settled)| render_settled(provider, call, settled, feedback));
    provider.shape().round(results.collect())
}
