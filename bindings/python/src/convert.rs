//! Converts between Python values and the core's JSON tree.
//!
//! Nothing is lost on the way into Python: integers keep all their digits. From Python, only what JSON can represent is
//! accepted; anything else is a `TypeError` or a `ValueError` that names the place.

use std::borrow::Cow;

use callwright::json::{Path, Value, read_value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::keys::Keys;

/// How deeply a Python value may be nested. The gate's own limit is far lower; this one stops values that contain
/// themselves.
const DEEPEST: usize = 1_000;

/// A JSON value as a Python object. (The core refuses numbers beyond 1e308, so every integer has fewer digits than
/// any interpreter reads.)
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    value: &Value<'_>,
    keys: &Keys,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(yes) => PyBool::new(py, *yes).to_owned().into_any(),
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Number(number) => {
            if let Some(small) = number.as_i64() {
                small.into_pyobject(py)?.into_any()
            } else if number.is_written_as_integer() {
                py.get_type::<PyInt>().call1((number.as_str(),))?
            } else {
                PyFloat::new(py, number.as_f64()).into_any()
            }
        }
        Value::Array(items) => {
            let items: PyResult<Vec<_>> =
                items.iter().map(|item| to_python(py, item, keys)).collect();
            PyList::new(py, items?)?.into_any()
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            for (key, member) in members {
                dict.set_item(keys.get(py, key), to_python(py, member, keys)?)?;
            }
            dict.into_any()
        }
    })
}

/// JSON text as a Python object.
pub(crate) fn text_to_python<'py>(
    py: Python<'py>,
    text: &str,
    keys: &Keys,
) -> PyResult<Bound<'py, PyAny>> {
    let value = read_value(text).map_err(|error| crate::fault(format!("{error:?}")))?;
    to_python(py, &value, keys)
}

/// Why a Python object is not JSON, and where.
pub(crate) struct NotJson {
    /// From the inside out.
    path: Vec<Step>,
    reason: Reason,
}

enum Step {
    Key(String),
    Index(usize),
}

enum Reason {
    Type(String),
    Value(String),
}

impl NotJson {
    /// The place in the value.
    pub(crate) fn path(&self) -> Path {
        let steps = self.path.iter().rev();
        steps.fold(Path::root(), |path, step| match step {
            Step::Key(key) => path.key(key),
            Step::Index(index) => path.index(*index),
        })
    }

    /// What is wrong there.
    pub(crate) fn why(&self) -> &str {
        match &self.reason {
            Reason::Type(why) | Reason::Value(why) => why,
        }
    }

    fn under(mut self, step: Step) -> Self {
        self.path.push(step);
        self
    }
}

impl From<Reason> for NotJson {
    fn from(reason: Reason) -> Self {
        NotJson {
            path: Vec::new(),
            reason,
        }
    }
}

impl From<NotJson> for PyErr {
    fn from(fault: NotJson) -> Self {
        let path = fault.path();
        let place = if path.is_root() {
            String::new()
        } else {
            format!("at {path}: ")
        };
        let text = format!("{place}{}", fault.why());
        match fault.reason {
            Reason::Type(_) => PyTypeError::new_err(text),
            Reason::Value(_) => PyValueError::new_err(text),
        }
    }
}

/// A Python object as a JSON value.
///
/// # Errors
/// Fails if JSON cannot represent it.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> Result<Value<'static>, NotJson> {
    read(object, 0)
}

fn read(object: &Bound<'_, PyAny>, depth: usize) -> Result<Value<'static>, NotJson> {
    if depth > DEEPEST {
        let why = format!("the value contains itself, or has more than {DEEPEST} levels");
        return Err(Reason::Value(why).into());
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::String(read_text(text)?.into()));
    }
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(yes) = object.cast::<PyBool>() {
        return Ok(Value::Bool(yes.is_true()));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        let mut members = Vec::with_capacity(dict.len());
        for (key, member) in dict {
            let Ok(key) = key.cast::<PyString>() else {
                let kind = type_name(&key);
                let why = format!("keys must be texts, found {kind}");
                return Err(Reason::Type(why).into());
            };
            let key = read_text(key)?;
            match read(&member, depth + 1) {
                Ok(member) => members.push((key.into(), member)),
                Err(fault) => return Err(fault.under(Step::Key(key))),
            }
        }
        return Ok(Value::Object(members));
    }
    if let Ok(list) = object.cast::<PyList>() {
        return read_items(list.iter(), list.len(), depth);
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return read_items(tuple.iter(), tuple.len(), depth);
    }
    if let Ok(number) = object.cast::<PyInt>() {
        return read_integer(number);
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        return read_float(number.value());
    }
    let why = format!("{} is not JSON", type_name(object));
    Err(Reason::Type(why).into())
}

fn read_items<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    count: usize,
    depth: usize,
) -> Result<Value<'static>, NotJson> {
    let mut read_items = Vec::with_capacity(count);
    for (at, item) in items.enumerate() {
        match read(&item, depth + 1) {
            Ok(item) => read_items.push(item),
            Err(fault) => return Err(fault.under(Step::Index(at))),
        }
    }
    Ok(Value::Array(read_items))
}

/// A text that a model wrote. Half a surrogate pair becomes the escape that JSON has for it, so that the gate can judge it.
pub(crate) fn sent_text<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let escaped = text.call_method1("encode", ("utf-8", "backslashreplace"))?;
    let escaped = String::from_utf8(escaped.extract()?)?;
    Ok(Cow::Owned(escaped))
}

fn read_text(text: &Bound<'_, PyString>) -> Result<String, NotJson> {
    let read = text.to_str().map(str::to_owned);
    read.map_err(|_| {
        Reason::Value("the text has half a surrogate pair, which is not Unicode".to_owned()).into()
    })
}

fn read_integer(number: &Bound<'_, PyInt>) -> Result<Value<'static>, NotJson> {
    if let Ok(small) = number.extract::<i64>() {
        return Ok(Value::Number(small.into()));
    }
    // The digits of a subclass, such as an enumeration, are those of its value.
    let digits = number
        .py()
        .get_type::<PyInt>()
        .call_method1("__repr__", (number,));
    let digits = digits.and_then(|digits| digits.extract::<String>());
    let digits = digits.map_err(|error| Reason::Value(error.value(number.py()).to_string()))?;
    literal(&digits)
}

fn read_float(number: f64) -> Result<Value<'static>, NotJson> {
    if !number.is_finite() {
        let why = format!("{} is not JSON", number.to_string().to_lowercase());
        return Err(Reason::Value(why).into());
    }
    literal(&format!("{number:?}"))
}

/// A number as written.
fn literal(text: &str) -> Result<Value<'static>, NotJson> {
    let read = read_value(text).map(Value::into_owned);
    read.map_err(|_| Reason::Value("the number is out of range".to_owned()).into())
}

/// The name of an object's type, for messages.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().qualname();
    name.map_or_else(|_| "this object".to_owned(), |name| format!("`{name}`"))
}
