//! `callwright` for Python: the module `callwright._callwright`.
//!
//! Takes Python objects, asks the core's gate, and returns Python objects. Decides nothing itself. The interpreter lock
//! is released during anything that may take long.

mod calls;
mod convert;
mod events;
mod gate;
mod guards;
mod keys;
mod program;
mod replay;
mod settled;
mod ticket;
mod verdict;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    callwright,
    Error,
    PyValueError,
    "A mistake in the program, never in the model's output: an unreadable tool file or policy, or a call in an unknown format."
);

/// A mistake, as an exception with a sentence.
fn fault(text: impl Into<String>) -> PyErr {
    Error::new_err(text.into())
}

#[pymodule(gil_used = false)]
fn _callwright(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<calls::Call>()?;
    module.add_class::<gate::Gate>()?;
    module.add_class::<replay::Summary>()?;
    module.add_class::<settled::Settled>()?;
    module.add_class::<ticket::Ticket>()?;
    module.add_class::<verdict::Verdict>()?;
    module.add_function(wrap_pyfunction!(guards::close_all, module)?)?;
    module.add_function(wrap_pyfunction!(guards::after_fork, module)?)?;
    module.add_function(wrap_pyfunction!(program::main, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    Ok(())
}
