//! Reads OpenTelemetry: generative AI spans, in OTLP JSON as a collector's file exporter writes it, or one span per
//! record.
//!
//! Tool spans are calls with their results; model spans show the input and output messages. Both often show the same
//! call, under the same id.

mod attributes;
mod openinference;
mod span;

use callwright::json::Value;

use super::context::Context;
use super::pick::{has, has_list, list};
use super::{Format, RecordReader};

/// Whether this is a list of spans, or a span.
pub(super) fn is_spans(value: &Value<'_>) -> bool {
    let mut lists = ["resourceSpans", "resource_spans", "scopeSpans", "spans"].iter();
    lists.any(|key| has_list(value, key)) || is_span(value)
}

fn is_span(value: &Value<'_>) -> bool {
    let mut marks = "traceId trace_id spanId span_id context startTimeUnixNano".split(' ');
    has(value, "attributes") && marks.any(|key| has(value, key))
}

/// All spans.
pub(super) fn read<'a>(
    record: &mut RecordReader<'a, '_>,
    mut value: Value<'a>,
    context: &Context<'a>,
) {
    record.reading.set_format(Format::OpenTelemetry);
    if is_span(&value) {
        span::read(record, value, context);
        return;
    }
    for key in ["resourceSpans", "resource_spans"] {
        for mut resource in list(&mut value, key) {
            read_scopes(record, &mut resource, context);
        }
    }
    read_scopes(record, &mut value, context);
}

fn read_scopes<'a>(
    record: &mut RecordReader<'a, '_>,
    resource: &mut Value<'a>,
    context: &Context<'a>,
) {
    for key in ["scopeSpans", "scope_spans", "instrumentationLibrarySpans"] {
        for mut scope in list(resource, key) {
            for span in list(&mut scope, "spans") {
                span::read(record, span, context);
            }
        }
    }
    for span in list(resource, "spans") {
        span::read(record, span, context);
    }
}
