//! Permission to run one call, once; or the refusal.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use callwright::check::{Output, Ran, ToolFailure};
use callwright::json::Value;
use callwright::wire;
use callwright_bindings::{FailedOutcome, FindingOutcome, OpenCall, read};
use pyo3::exceptions::{PyBaseException, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

use crate::convert::{from_python, text_to_python, to_python};
use crate::fault;
use crate::guards::GuardHandle;
use crate::settled::Settled;

/// Permission to run one call, once. Falsy if the call is refused.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Ticket {
    handle: Arc<GuardHandle>,
    open: Mutex<Option<OpenCall>>,
    tool: Py<PyString>,
    admitted: bool,
    verdict: &'static str,
    arguments: Option<Py<PyAny>>,
    edits: Option<String>,
    fingerprint: Option<String>,
    opened: Instant,
    settled: PyOnceLock<Py<Settled>>,
}

impl Ticket {
    /// `sent` is the dictionary to pass on unchanged, if the arguments came in one.
    pub(crate) fn new(
        py: Python<'_>,
        handle: Arc<GuardHandle>,
        open: OpenCall,
        sent: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let ticket = open.ticket();
        let arguments = match (ticket, sent) {
            (None, _) => None,
            (Some(_), Some(sent)) => Some(sent),
            (Some(ticket), None) => Some(to_python(py, ticket.arguments(), &handle.keys)?.unbind()),
        };
        let name = ticket.map_or(open.call().tool.as_ref(), |ticket| ticket.tool().name());
        let edited = ticket.is_some_and(|ticket| !ticket.edits().is_empty());
        let verdict = match (ticket, open.refusal()) {
            (Some(ticket), _) if ticket.tool().quarantined().is_some() => "unjudged",
            (Some(_), _) if edited => "repaired",
            (Some(_), _) => "valid",
            (None, _) => "refused",
        };
        Ok(Ticket {
            tool: PyString::new(py, name).unbind(),
            admitted: ticket.is_some(),
            verdict,
            arguments,
            edits: edited.then(|| open.verdict_line(&handle.guard)),
            fingerprint: open.fingerprint().map(|it| it.to_string()),
            opened: Instant::now(),
            settled: PyOnceLock::new(),
            open: Mutex::new(Some(open)),
            handle,
        })
    }

    fn take(&self) -> Option<OpenCall> {
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Ends the call with the interpreter lock released, since the ledger may be on a server.
    fn end<'py>(
        &self,
        py: Python<'py>,
        ran: Option<Ran<'static>>,
        attempts: u32,
        latency: Duration,
    ) -> PyResult<Bound<'py, Settled>> {
        let Some(open) = self.take() else {
            return Err(PyRuntimeError::new_err("the ticket is already closed"));
        };
        let guard = &self.handle.guard;
        let settled = py.detach(|| match ran {
            Some(ran) => open.close(guard, ran, attempts, latency),
            None => open.close_unknown(guard),
        });
        let settled = Bound::new(py, Settled::new(Arc::clone(&self.handle), settled))?;
        let _ = self.settled.set(py, settled.clone().unbind());
        Ok(settled)
    }
}

#[pymethods]
impl Ticket {
    /// The tool to run.
    #[getter]
    fn tool<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.tool.bind(py).clone()
    }

    /// The arguments to run it with; `None` if the call is refused.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let arguments = self.arguments.as_ref();
        arguments.map(|arguments| arguments.bind(py).clone())
    }

    /// `valid`, `repaired`, `refused` or `unjudged`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.verdict
    }

    /// The edits to the arguments.
    #[getter]
    fn edits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.edits {
            Some(line) => text_to_python(py, line, &self.handle.keys)?.get_item("edits"),
            None => Ok(pyo3::types::PyList::empty(py).into_any()),
        }
    }

    /// The fingerprint that identifies the call; the user's answer `allow_once` refers to it.
    #[getter]
    fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// The call with its outcome; for a refused call, the refusal. `None` while it runs.
    #[getter]
    fn settled<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Settled>>> {
        if !self.admitted && self.settled.get(py).is_none() {
            return self.end(py, None, 0, Duration::ZERO).map(Some);
        }
        Ok(self.settled.get(py).map(|settled| settled.bind(py).clone()))
    }

    /// Ends the call with the tool's answer: JSON, text or bytes. A refused call stays refused.
    ///
    /// `is_error` says that the answer is the tool's own error. `failed` says why there is no answer, `finding` what
    /// your own check found in it, as in the corpus.
    #[pyo3(signature = (output=None, *, is_error=false, failed=None, finding=None, notes=None, attempts=1, seconds=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn close<'py>(
        &self,
        py: Python<'py>,
        output: Option<&Bound<'py, PyAny>>,
        is_error: bool,
        failed: Option<&Bound<'py, PyAny>>,
        finding: Option<&Bound<'py, PyAny>>,
        notes: Option<Vec<String>>,
        attempts: u32,
        seconds: Option<f64>,
    ) -> PyResult<Bound<'py, Settled>> {
        if let Some(settled) = self.settled.get(py)
            && !self.admitted
        {
            return Ok(settled.bind(py).clone());
        }
        let mut ran = match (failed, is_error) {
            (Some(failed), _) => Ran::failed(
                plain::<FailedOutcome>("failed", failed)?
                    .into_core()
                    .map_err(fault)?,
            ),
            (None, is_error) => outcome_of(py, output, is_error),
        };
        if let Some(finding) = finding {
            let finding = plain::<FindingOutcome>("finding", finding)?
                .into_core()
                .map_err(fault)?;
            ran = ran.with_finding(Some(finding));
        }
        if let Some(notes) = notes {
            ran = ran.with_notes(notes);
        }
        let elapsed = self.opened.elapsed();
        let latency = seconds.map(Duration::try_from_secs_f64);
        let latency = latency.and_then(Result::ok).unwrap_or(elapsed);
        self.end(py, Some(ran), attempts, latency)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Closes a ticket that is still open: with the exception, or as a call with an unknown outcome.
    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        exception: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let is_open = self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some();
        if is_open {
            let ran = match exception.cast::<PyBaseException>() {
                Ok(exception) => {
                    let told = format!("{}: {exception}", exception.get_type().name()?);
                    Some(Ran::failed(ToolFailure::internal(told)))
                }
                Err(_) => None,
            };
            self.end(py, ran, 1, self.opened.elapsed())?;
        }
        Ok(false)
    }

    fn __bool__(&self) -> bool {
        self.admitted
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let tool = self.tool.bind(py).to_string_lossy();
        match (self.admitted, self.settled.get(py).is_some()) {
            (true, false) => format!("<Ticket to run {tool} ({})>", self.verdict),
            (true, true) => format!("<Ticket of {tool}, closed>"),
            (false, _) => format!("<Ticket of {tool}, refused>"),
        }
    }
}

/// What a tool returned, which may be an MCP result. The gate judges values that JSON cannot represent.
fn outcome_of(py: Python<'_>, output: Option<&Bound<'_, PyAny>>, is_error: bool) -> Ran<'static> {
    let none = py.None().into_bound(py);
    let output = output.unwrap_or(&none);
    if let Ok(text) = output.cast::<PyString>() {
        let text = Value::String(text.to_string_lossy().into_owned().into());
        return wire::recorded_outcome(Cow::Owned(text), is_error);
    }
    let output = if let Ok(bytes) = output.cast::<PyBytes>() {
        Output::from_bytes(bytes.as_bytes().to_vec())
    } else {
        match from_python(output) {
            Ok(value) => return wire::recorded_outcome(Cow::Owned(value), is_error),
            Err(fault) => Output::Unwritable {
                path: fault.path(),
                why: fault.why().to_owned(),
            },
        }
    };
    if is_error {
        Ran::failed(ToolFailure::said(output))
    } else {
        Ran::ok(output)
    }
}

/// Plain Python data, given as an argument of this name, as a struct of the bindings.
pub(crate) fn plain<T: serde::de::DeserializeOwned>(
    argument: &str,
    object: &Bound<'_, PyAny>,
) -> PyResult<T> {
    let text = from_python(object)?.to_string();
    read(&text).map_err(|misfit| {
        let dot = if misfit.member.is_empty() { ": " } else { "." };
        PyTypeError::new_err(format!("{argument}{dot}{misfit}"))
    })
}
