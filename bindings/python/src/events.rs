//! Events for Python: callback functions, and JSON Lines files.

use std::path::PathBuf;
use std::sync::Arc;

use callwright::event::{Event, Sink, SinkError, Sinks, Values};
use callwright_bindings::{JsonLinesFile, event_text};
use pyo3::prelude::*;

use crate::convert::text_to_python;
use crate::keys::Keys;

/// Where events go, kept so that the sinks can be restarted.
pub(crate) struct Recipe {
    sinks: Vec<Destination>,
    values: Values,
    with_output: bool,
}

enum Destination {
    File(PathBuf),
    Function(Arc<Py<PyAny>>),
}

impl Recipe {
    /// Takes functions and paths.
    pub(crate) fn new(
        events: Vec<Bound<'_, PyAny>>,
        values: Values,
        with_output: bool,
    ) -> PyResult<Self> {
        let sinks = events.into_iter().map(|event| {
            Ok(if event.is_callable() {
                Destination::Function(Arc::new(event.unbind()))
            } else {
                Destination::File(event.extract()?)
            })
        });
        Ok(Recipe {
            sinks: sinks.collect::<PyResult<_>>()?,
            values,
            with_output,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sinks.is_empty()
    }

    /// Opens the files and starts a thread for each sink.
    pub(crate) fn start(&self) -> PyResult<Sinks> {
        let mut builder = Sinks::builder();
        for (at, destination) in self.sinks.iter().enumerate() {
            builder = match destination {
                Destination::File(path) => {
                    let file = JsonLinesFile {
                        values: self.values,
                        with_output: self.with_output,
                    };
                    let name = path.display().to_string();
                    let opened = file.open(path);
                    let opened = opened.map_err(|error| {
                        std::io::Error::new(error.kind(), format!("events: {name}: {error}"))
                    })?;
                    builder.sink(name, opened)
                }
                Destination::Function(function) => builder.sink(
                    format!("callback {at}"),
                    FunctionSink {
                        function: Arc::clone(function),
                        values: self.values,
                        with_output: self.with_output,
                    },
                ),
            };
        }
        Ok(builder.start()?)
    }
}

/// Calls a function with each event as a dictionary.
struct FunctionSink {
    function: Arc<Py<PyAny>>,
    values: Values,
    with_output: bool,
}

impl Sink for FunctionSink {
    fn record(&mut self, event: &Arc<Event>) -> Result<(), SinkError> {
        let line = event_text(event, self.values, self.with_output);
        let called = Python::try_attach(|py| {
            let function = self.function.bind(py);
            let called = text_to_python(py, &line, &Keys::default())
                .and_then(|event| function.call1((event,)));
            called.map(drop).map_err(|error| {
                let told = error.to_string();
                // As for any callback: `sys.unraisablehook` is called, and the call continues.
                error.write_unraisable(py, Some(function));
                told
            })
        });
        match called {
            Some(Ok(())) => Ok(()),
            Some(Err(why)) => Err(SinkError::new(why)),
            None => Err(SinkError::new("the interpreter has ended")),
        }
    }
}
