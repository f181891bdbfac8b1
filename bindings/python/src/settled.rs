//! A call with its outcome, and what the model gets.

use std::sync::Arc;

use callwright_bindings::{SettledCall, provider};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{text_to_python, to_python};
use crate::fault;
use crate::guards::GuardHandle;

/// A call with its outcome.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Settled {
    handle: Arc<GuardHandle>,
    settled: SettledCall,
}

impl Settled {
    pub(crate) fn new(handle: Arc<GuardHandle>, settled: SettledCall) -> Self {
        Settled { handle, settled }
    }

    fn member<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.to_dict(py)?.cast_into::<PyDict>()?.get_item(key)
    }
}

#[pymethods]
impl Settled {
    /// What the model gets.
    #[getter]
    fn text(&self) -> String {
        self.settled.text(self.handle.guard.feedback())
    }

    /// Whether the model gets it as an error.
    #[getter]
    fn is_error(&self) -> bool {
        self.settled.settled().is_error()
    }

    /// `valid`, `repaired`, `refused` or `unjudged`: what the gate said about the call.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.settled.settled().verdict.name()
    }

    /// What it said about the result, if there is one: `ok` if the model gets it unchanged, else `refused`.
    #[getter]
    fn output_verdict(&self) -> Option<&'static str> {
        let result = self.settled.settled().result.as_ref();
        result.map(|result| result.verdict.name())
    }

    /// What is wrong with the call or its result: `class`, `code`, `next`, `detail`, `hint` and `issues`.
    #[getter]
    fn failure<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self.member(py, "failure")? {
            Some(failure) => Some(failure),
            None => self.member(py, "output_failure")?,
        })
    }

    /// The fingerprint that identifies the call, if it was refused as a repetition; the user's answer `allow_once`
    /// refers to it.
    #[getter]
    fn fingerprint(&self) -> Option<String> {
        let fingerprint = self.settled.objected_fingerprint();
        fingerprint.map(|fingerprint| fingerprint.to_string())
    }

    /// A notice for the model next to the result: a warning before a refusal.
    #[getter]
    fn notice<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.member(py, "notice")
    }

    /// The tool result in a provider's format.
    fn message<'py>(&self, py: Python<'py>, shape: &str) -> PyResult<Bound<'py, PyAny>> {
        let shape = provider(shape).map_err(fault)?;
        let message = self.settled.message(shape, self.handle.guard.feedback());
        to_python(py, &message, &self.handle.keys)
    }

    /// The contract's line.
    fn to_json(&self) -> String {
        self.settled.line(self.handle.guard.feedback())
    }

    /// The same as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text_to_python(py, &self.to_json(), &self.handle.keys)
    }

    fn __repr__(&self) -> String {
        let kind = if self.is_error() { "error" } else { "result" };
        format!(
            "<Settled {kind} of {}: {}>",
            self.settled.call().tool,
            self.text()
        )
    }
}
