//! Events for JavaScript: each as a line of JSON, delivered on the event loop from the sink's thread.

use std::path::Path;

use callwright::event::{Event, On, Sinks, SinksBuilder, Values};
use callwright_bindings::{JsonLinesFile, event_text, values};
use napi::Status;
use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use crate::thrown;

/// Calls JavaScript from any thread. It is weak: waiting for events does not keep the process alive. `lib/` only passes
/// functions that never throw.
type EventFunction = ThreadsafeFunction<String, (), String, Status, false, true>;

/// A function that listens to some events.
#[napi(object, object_to_js = false)]
pub struct Listener<'env> {
    /// Which ones, by name.
    pub wants: String,
    /// Takes the event as a line of JSON.
    pub function: Function<'env, String, ()>,
}

/// A file to which each event is written as a line of JSON.
#[napi(object, object_to_js = false)]
pub struct RecordFile {
    /// Where it is.
    pub path: String,
    /// Which values it shows.
    pub values: Option<String>,
}

/// Starts the sinks of a gate.
pub(crate) fn start(
    record: Option<RecordFile>,
    listeners: Vec<Listener<'_>>,
) -> napi::Result<Sinks> {
    let mut sinks = Sinks::builder();
    if let Some(RecordFile {
        path,
        values: shown,
    }) = record
    {
        let file = JsonLinesFile {
            values: shown
                .map_or(Ok(Values::default()), |name| values(&name))
                .map_err(thrown)?,
            with_output: true,
        };
        let opened = file.open(Path::new(&path));
        let opened = opened
            .map_err(|error| thrown(format_args!("cannot write events to {path}: {error}")))?;
        sinks = sinks.sink("record", opened);
    }
    for listener in listeners {
        sinks = listen(sinks, listener)?;
    }
    sinks.start().map_err(thrown)
}

fn listen(sinks: SinksBuilder, listener: Listener<'_>) -> napi::Result<SinksBuilder> {
    let wants = match listener.wants.as_str() {
        "any" => On::Any,
        "error" => On::Error,
        "refused" => On::Refused,
        "repaired" => On::Repaired,
        "tool_executed" => On::ToolExecuted,
        "tool_failed" => On::ToolFailed,
        "output_refused" => On::OutputRefused,
        "output_partial" => On::OutputPartial,
        "warning" => On::Warning,
        "notice" => On::Notice,
        other => return Err(thrown(format_args!("unknown event `{other}`"))),
    };
    let function: EventFunction = listener
        .function
        .build_threadsafe_function()
        .weak::<true>()
        .build_callback(|context| Ok(context.value))?;
    Ok(sinks.on(wants, move |event: &Event| {
        let line = event_text(event, Values::Masked, true);
        // An environment that is shutting down gets no more events.
        let _ = function.call(line, ThreadsafeFunctionCallMode::NonBlocking);
    }))
}
