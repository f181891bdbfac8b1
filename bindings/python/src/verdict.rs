//! The gate's verdict on a call.

use std::sync::Arc;

use callwright::call::Completeness;
use callwright::json::Value;
use callwright_bindings::provider;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::convert::{from_python, text_to_python, to_python};
use crate::fault;
use crate::guards::GuardHandle;

/// The gate's verdict on a call: `valid`, `repaired`, `refused` or `unjudged`. Truthy if the call may run.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Verdict {
    handle: Arc<GuardHandle>,
    judged: Judged,
    arguments: PyOnceLock<Py<PyAny>>,
}

enum Judged {
    /// Simply valid, as most calls are: what was judged is kept as received.
    Plain {
        name: &'static str,
        tool: Py<PyString>,
        sent: Py<PyAny>,
        /// The id and the finish reason, if any.
        more: Option<Box<(Option<Value<'static>>, Completeness)>>,
    },
    Full(Box<(callwright::Call<'static>, callwright::Verdict<'static>)>),
}

impl Verdict {
    /// A call that is valid as it is.
    pub(crate) fn plain(
        py: Python<'_>,
        handle: Arc<GuardHandle>,
        name: &'static str,
        tool: Py<PyString>,
        sent: Py<PyAny>,
        more: Option<Box<(Option<Value<'static>>, Completeness)>>,
        arguments: Py<PyAny>,
    ) -> Self {
        let slot = PyOnceLock::new();
        let _ = slot.set(py, arguments);
        Verdict {
            handle,
            judged: Judged::Plain {
                name,
                tool,
                sent,
                more,
            },
            arguments: slot,
        }
    }

    /// Any other call. `arguments` is the dictionary to pass on unchanged.
    pub(crate) fn full(
        py: Python<'_>,
        handle: Arc<GuardHandle>,
        call: callwright::Call<'static>,
        verdict: callwright::Verdict<'static>,
        arguments: Option<Py<PyAny>>,
    ) -> Self {
        let slot = PyOnceLock::new();
        if let Some(arguments) = arguments {
            let _ = slot.set(py, arguments);
        }
        Verdict {
            handle,
            judged: Judged::Full(Box::new((call, verdict))),
            arguments: slot,
        }
    }

    /// Calls a function with the call and the core's verdict.
    fn with<R>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&callwright::Call<'_>, &callwright::Verdict<'_>) -> R,
    ) -> PyResult<R> {
        match &self.judged {
            Judged::Full(judged) => Ok(ask(&judged.0, &judged.1)),
            Judged::Plain {
                tool, sent, more, ..
            } => {
                let tool = tool.to_str(py)?;
                let mut call = match sent.bind(py).cast::<PyString>() {
                    Ok(text) => callwright::Call::from_text(tool, text.to_str()?.to_owned()),
                    Err(_) => callwright::Call::from_value(tool, from_python(sent.bind(py))?),
                };
                if let Some(more) = more {
                    call.id.clone_from(&more.0);
                    call.completeness = more.1;
                }
                let verdict = self.handle.guard.gate().judge(&call);
                Ok(ask(&call, &verdict))
            }
        }
    }

    fn line(&self, py: Python<'_>) -> PyResult<String> {
        let feedback = self.handle.guard.feedback();
        self.with(py, |call, verdict| verdict.line(call, feedback).to_string())
    }

    fn member<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Judged::Plain { .. } = &self.judged {
            return Ok(None);
        }
        self.to_dict(py)?.cast_into::<PyDict>()?.get_item(key)
    }
}

#[pymethods]
impl Verdict {
    /// `valid`, `repaired`, `refused` or `unjudged`.
    #[getter]
    fn verdict(&self) -> &'static str {
        match &self.judged {
            Judged::Plain { name, .. } => name,
            Judged::Full(judged) => judged.1.name(),
        }
    }

    /// The tool that was called; for a repaired call, the one that was meant.
    #[getter]
    fn tool<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        match &self.judged {
            Judged::Plain { tool, .. } => tool.bind(py).clone(),
            Judged::Full(judged) => match &judged.1 {
                callwright::Verdict::Repaired(repaired) => {
                    PyString::new(py, repaired.tool().name())
                }
                _ => PyString::new(py, &judged.0.tool),
            },
        }
    }

    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id = match &self.judged {
            Judged::Plain { more, .. } => more.as_ref().and_then(|more| more.0.as_ref()),
            Judged::Full(judged) => judged.0.id.as_ref(),
        };
        id.map(|id| to_python(py, id, &self.handle.keys))
            .transpose()
    }

    /// The arguments to run the tool with; for a refused call, what the model sent, if it could be read.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(arguments) = self.arguments.get(py) {
            return Ok(Some(arguments.bind(py).clone()));
        }
        let Judged::Full(judged) = &self.judged else {
            return Ok(None);
        };
        let Some(arguments) = judged.1.arguments() else {
            return Ok(None);
        };
        let convert = || to_python(py, arguments, &self.handle.keys).map(Bound::unbind);
        let made = self.arguments.get_or_try_init(py, convert)?;
        Ok(Some(made.bind(py).clone()))
    }

    /// The edits that were made, each with `path`, `rule`, `grade`, `before` and `after`.
    #[getter]
    fn edits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.member(py, "edits")? {
            Some(edits) => Ok(edits),
            None => Ok(pyo3::types::PyList::empty(py).into_any()),
        }
    }

    /// Why the call was refused: `class`, `code`, `next`, `detail`, `hint` and `issues`.
    #[getter]
    fn failure<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.member(py, "failure")
    }

    /// What the schema objects to in a call that the policy lets through anyway.
    #[getter]
    fn warning<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.member(py, "warning")
    }

    /// The text for the model instead of a result, if the call was refused.
    #[getter]
    fn feedback(&self) -> Option<String> {
        let Judged::Full(judged) = &self.judged else {
            return None;
        };
        let callwright::Verdict::Refused(refused) = &judged.1 else {
            return None;
        };
        let feedback = self.handle.guard.feedback();
        Some(feedback.render_with(&refused.failure, refused.notice.as_ref()))
    }

    /// The verdict in a provider's format: a call that may run as a call, a refused one as the tool result for the
    /// model.
    fn render<'py>(&self, py: Python<'py>, shape: &str) -> PyResult<Bound<'py, PyAny>> {
        let shape = provider(shape).map_err(fault)?;
        let guard = &self.handle.guard;
        let text = self.with(py, |call, verdict| guard.render(shape, call, verdict))?;
        text_to_python(py, &text, &self.handle.keys)
    }

    /// The verdict line of the contract, as `callwright check --format json` prints it.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.line(py)
    }

    /// The same as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text_to_python(py, &self.line(py)?, &self.handle.keys)
    }

    fn __bool__(&self) -> bool {
        self.verdict() != "refused"
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let tool = self.tool(py);
        let tool = tool.to_string_lossy();
        match self.feedback() {
            Some(feedback) => format!("<Verdict refused {tool}: {feedback}>"),
            None => format!("<Verdict {} {tool}>", self.verdict()),
        }
    }
}
