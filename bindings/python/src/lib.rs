//! `callwright` for Python: the module `callwright._callwright`.
//!
//! Objects of Python come in, the gate of the core decides, and objects of Python go out. Nothing is decided here. The
//! lock of the interpreter is released while something may take long.

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
    "A mistake of the program, never of the model: a tool file or a policy that cannot be read, a call in no known shape."
);

/// A mistake in a sentence, as an exception.
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
