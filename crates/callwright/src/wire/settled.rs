//! Answers for the model: what became of calls, in a provider's shape.
//!
//! Every call gets exactly one answer: also one that was refused, cancelled, or run beside one that failed. Providers
//! reject a history in which a call has none.

use super::Provider;
use crate::call::Call;
use crate::feedback::{Content, Feedback};
use crate::json::Value;
use crate::verdict::Settled;
use crate::words::Output;

/// What became of a call, as the provider's tool result.
pub fn render_settled<'v>(
    provider: Provider,
    call: &'v Call<'_>,
    settled: &'v Settled<'_>,
    feedback: &Feedback,
) -> Value<'v> {
    let shape = provider.shape();
    let presented = feedback.present(settled);
    let is_error = presented.is_error;
    let structure = match presented.content {
        Content::Kept(Output::Value(value @ Value::Object(_))) if !is_error => Some(value.clone()),
        _ => None,
    };
    let told = presented.into_text().into_owned();
    shape.with_structure(shape.render_result(call, told, is_error), structure)
}

/// What became of the calls of one answer of the model, as what follows it in the history: a message each, or one
/// message with all of them where the provider wants that.
pub fn render_round<'v, 'a: 'v, 'b: 'v>(
    provider: Provider,
    round: impl IntoIterator<Item = (&'v Call<'a>, &'v Settled<'b>)>,
    feedback: &Feedback,
) -> Vec<Value<'v>> {
    let results = round.into_iter();
    let results = results.map(|(call, settled)| render_settled(provider, call, settled, feedback));
    provider.shape().round(results.collect())
}
