//! The property names that schemas declare, as interned Python strings.
//!
//! Arguments become dictionaries, and most of their keys are declared. An existing string costs a lookup instead of an
//! allocation, and its hash is known.

use ahash::AHashMap;
use callwright::Gate;
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::Value;

/// How many names are kept; a gate of 10,000 tools has about as many different ones.
const MOST_NAMES: usize = 65_536;

#[derive(Default)]
pub(crate) struct Keys(AHashMap<Box<str>, Py<PyString>>);

impl Keys {
    /// The names that the tools of a gate declare, at any depth.
    pub(crate) fn of(py: Python<'_>, gate: &Gate) -> Self {
        let mut keys = Keys::default();
        for tool in gate.tools() {
            let spec = tool.spec();
            for schema in spec.input_schema.iter().chain(&spec.output_schema) {
                keys.add(py, schema);
            }
        }
        keys
    }

    fn add(&mut self, py: Python<'_>, schema: &Value) {
        match schema {
            Value::Object(members) => {
                for (key, member) in members {
                    if let ("properties", Value::Object(properties)) = (key.as_str(), member) {
                        for name in properties.keys() {
                            if self.0.len() < MOST_NAMES && !self.0.contains_key(name.as_str()) {
                                let interned = PyString::intern(py, name).unbind();
                                self.0.insert(name.as_str().into(), interned);
                            }
                        }
                    }
                    self.add(py, member);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(py, item)),
            _ => {}
        }
    }

    /// A key as a Python string.
    pub(crate) fn get<'py>(&self, py: Python<'py>, key: &str) -> Bound<'py, PyString> {
        match self.0.get(key) {
            Some(known) => known.bind(py).clone(),
            None => PyString::new(py, key),
        }
    }
}
