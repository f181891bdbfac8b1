//! Reads calls in any format from Python objects.

use callwright::call::{Arguments, Completeness};
use callwright::json::Value;
use callwright::{Gate, wire};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::convert::{from_python, sent_text, to_python, type_name};
use crate::fault;
use crate::keys::Keys;

/// Where calls in the known formats have their arguments.
const ARGUMENTS: [&[&str]; 7] = [
    &["arguments"],
    &["input"],
    &["args"],
    &["function", "arguments"],
    &["params", "arguments"],
    &["functionCall", "args"],
    &["function_call", "args"],
];

/// A call that a model wrote into a message as text.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Call {
    pub(crate) call: callwright::Call<'static>,
}

#[pymethods]
impl Call {
    /// The name of the tool as the model wrote it.
    #[getter]
    fn tool(&self) -> &str {
        &self.call.tool
    }

    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id = self.call.id.as_ref();
        id.map(|id| to_python(py, id, &Keys::default())).transpose()
    }

    /// The arguments as the model sent them: a text, a value, or nothing.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match &self.call.arguments {
            Arguments::Absent => None,
            Arguments::Text(text) => Some(PyString::new(py, text).into_any()),
            Arguments::Value(value) => Some(to_python(py, value, &Keys::default())?),
        })
    }

    /// How the model wrote it.
    #[getter]
    fn notation(&self) -> Option<&'static str> {
        self.call.rescued.map(callwright::rescue::Notation::name)
    }

    fn __repr__(&self) -> String {
        format!("<Call of {}>", self.call.tool)
    }
}

/// A call, and the dictionary that contained its arguments, if any.
pub(crate) struct Incoming<'py> {
    pub(crate) call: callwright::Call<'static>,
    pub(crate) sent: Option<Bound<'py, PyAny>>,
}

impl<'py> Incoming<'py> {
    /// Reads a call in any format, or the name of a tool and its arguments.
    pub(crate) fn read(
        gate: &Gate,
        call: &Bound<'py, PyAny>,
        arguments: Option<&Bound<'py, PyAny>>,
        id: Option<&Bound<'py, PyAny>>,
        finish_reason: Option<&str>,
    ) -> PyResult<Self> {
        let mut read = match arguments {
            Some(arguments) => named(call, arguments)?,
            None => shaped(gate, call)?,
        };
        if let Some(id) = id {
            read.call.id = Some(from_python(id)?);
        }
        if let Some(reason) = finish_reason {
            let completeness = Completeness::from_finish_reason(reason);
            read.call.completeness = read.call.completeness.max(completeness);
        }
        Ok(read)
    }

    /// The dictionary that was sent, if these are its members: it is passed on unchanged.
    pub(crate) fn same(&self, arguments: &Value<'_>) -> Option<Py<PyAny>> {
        let sent = self.sent.as_ref()?;
        let is_same = match &self.call.arguments {
            // Read from this object.
            Arguments::Value(value) => value == arguments,
            _ => false,
        };
        is_same.then(|| sent.clone().unbind())
    }
}

fn named<'py>(tool: &Bound<'py, PyAny>, arguments: &Bound<'py, PyAny>) -> PyResult<Incoming<'py>> {
    let Ok(name) = tool.cast::<PyString>() else {
        let kind = type_name(tool);
        let why = format!("with arguments, the first value is the name of a tool, found {kind}");
        return Err(PyTypeError::new_err(why));
    };
    let name = sent_text(name)?.into_owned();
    if let Ok(text) = arguments.cast::<PyString>() {
        return Ok(Incoming {
            call: callwright::Call::from_text(name, sent_text(text)?.into_owned()),
            sent: None,
        });
    }
    Ok(Incoming {
        call: callwright::Call::from_value(name, from_python(arguments)?),
        sent: arguments
            .is_instance_of::<PyDict>()
            .then(|| arguments.clone()),
    })
}

fn shaped<'py>(gate: &Gate, call: &Bound<'py, PyAny>) -> PyResult<Incoming<'py>> {
    // An unreadable line may contain a secret of any tool.
    let told = |error: callwright::Error| {
        fault(if gate.takes_secrets() {
            error.unquoted()
        } else {
            error.to_string()
        })
    };
    if let Ok(call) = call.cast::<Call>() {
        return Ok(Incoming {
            call: call.get().call.clone(),
            sent: None,
        });
    }
    if let Ok(line) = call.cast::<PyString>() {
        let line = sent_text(line)?;
        if gate.tool(&line).is_some() {
            let why = format!("the arguments of `{line}` are missing; without any, they are {{}}");
            return Err(PyTypeError::new_err(why));
        }
        let call = wire::read_line(&line).map_err(told)?.into_owned();
        return Ok(Incoming { call, sent: None });
    }
    if call.is_instance_of::<PyDict>() {
        let read = wire::read_call(from_python(call)?).map_err(told)?;
        let sent = match &read.arguments {
            Arguments::Value(value) => sent_in(call, value),
            _ => None,
        };
        return Ok(Incoming { call: read, sent });
    }
    // The objects of the official SDKs are Pydantic models.
    if let Ok(dump) = call.getattr("model_dump") {
        return shaped(gate, &dump.call0()?);
    }
    let kind = type_name(call);
    let why = format!("a call must be a dictionary, a line of JSON or an SDK object, found {kind}");
    Err(PyTypeError::new_err(why))
}

/// The dictionary in a call that contains these arguments.
fn sent_in<'py>(call: &Bound<'py, PyAny>, arguments: &Value<'_>) -> Option<Bound<'py, PyAny>> {
    ARGUMENTS.iter().find_map(|path| {
        let inner = path
            .iter()
            .try_fold(call.clone(), |outer, key| outer.get_item(*key));
        let inner = inner.ok().filter(PyAnyMethods::is_instance_of::<PyDict>)?;
        let is_it = from_python(&inner).is_ok_and(|value| value == *arguments);
        is_it.then_some(inner)
    })
}
