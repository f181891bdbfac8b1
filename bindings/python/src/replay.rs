//! Replays recorded traffic; returns a summary that merges with others, and its report.
//!
//! Records come from any Python iterable; several threads judge them, and take the interpreter lock only to fetch more.
//! An interrupt ends the run.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use std::vec;

use callwright::Policy;
use callwright_replay::report::{self, PageHeader, Report, WrittenFiles};
use callwright_replay::run::{DeclaredTools, ReplaySettings, Run, RunError, replay_records};
use callwright_replay::source::find;
use callwright_replay::summary::Merged;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyString};

use crate::convert::{from_python, type_name};
use crate::fault;

/// How many records are fetched at once, so that threads seldom wait for each other's lock.
const BATCH: usize = 1_024;

/// How often to check for an interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// The counts of a replay. Summaries of parts merge in any order and grouping.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Summary {
    summary: callwright_replay::summary::Summary,
}

#[pymethods]
impl Summary {
    /// An empty summary.
    #[new]
    fn new() -> Self {
        Summary {
            summary: callwright_replay::summary::Summary::default(),
        }
    }

    /// The sum of this summary and others. A part with an id counts once, however often it is merged.
    #[pyo3(signature = (*others))]
    fn merge(&self, py: Python<'_>, others: Vec<Py<Summary>>) -> PyResult<Self> {
        let others: Vec<_> = others.iter().map(|other| &other.get().summary).collect();
        let merged = py.detach(|| {
            let mut sum = self.summary.clone();
            for other in others {
                match sum.merge(other.clone())? {
                    Merged::Added | Merged::Known | Merged::Replaced => {}
                }
            }
            Ok::<_, callwright_replay::summary::MergeError>(sum)
        });
        match merged {
            Ok(summary) => Ok(Summary { summary }),
            Err(error) => Err(fault(error.to_string())),
        }
    }

    /// The summary as compressed bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.summary.to_bytes());
        let bytes = bytes.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the output of `to_bytes` or `--emit-summary`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let summary = py.detach(|| callwright_replay::summary::Summary::from_bytes(bytes));
        let summary = summary.map_err(|error| fault(error.to_string()))?;
        Ok(Summary { summary })
    }

    /// The report: `text` for people, `json` for programs, `html` as a page.
    #[pyo3(signature = (format="text", *, about=None, columns=100))]
    fn report(
        &self,
        py: Python<'_>,
        format: &str,
        about: Option<String>,
        columns: usize,
    ) -> PyResult<String> {
        let summary = self.summary.clone();
        let told = |error: report::ReportError| PyRuntimeError::new_err(error.to_string());
        py.detach(|| {
            let report = Report::new(summary);
            match format {
                "text" => {
                    report::text(&report, columns, false, WrittenFiles::default()).map_err(told)
                }
                "json" => report::json(&report)
                    .map(|json| json.to_string())
                    .map_err(told),
                "html" => {
                    let page = PageHeader {
                        about,
                        ..PageHeader::default()
                    };
                    report::html(&report, &page).map_err(told)
                }
                other => Err(PyValueError::new_err(format!(
                    "unknown format `{other}`; known are text, json, html"
                ))),
            }
        })
    }

    /// How many records were read.
    #[getter]
    fn records(&self) -> u64 {
        self.summary.input.records
    }

    /// How many calls were judged.
    #[getter]
    fn calls(&self) -> u64 {
        self.summary.calls.calls
    }

    /// How many calls were refused.
    #[getter]
    fn refused(&self) -> u64 {
        self.summary.calls.refused
    }

    /// The ids of the parts, sorted.
    #[getter]
    fn parts(&self) -> Vec<&str> {
        self.summary.parts.ids().collect()
    }

    /// Whether the run was stopped before the end.
    #[getter]
    fn is_interrupted(&self) -> bool {
        self.summary.input.interrupted
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }

    fn __repr__(&self) -> String {
        let calls = &self.summary.calls;
        format!(
            "<Summary of {} calls, {} refused>",
            calls.calls, calls.refused
        )
    }
}

/// Replays files, folders and patterns, or records: each a JSON string, bytes, or a dictionary.
#[pyfunction]
#[pyo3(signature = (records, paths, tools, policy, part, workers, name))]
#[expect(
    clippy::too_many_arguments,
    reason = "the public function has keywords"
)]
pub(crate) fn replay(
    py: Python<'_>,
    records: Option<&Bound<'_, PyAny>>,
    paths: Vec<PathBuf>,
    tools: Option<&str>,
    policy: Option<&str>,
    part: Option<String>,
    workers: Option<NonZero<usize>>,
    name: &str,
) -> PyResult<Summary> {
    let told = |error: callwright::Error| fault(error.to_string());
    let stop = Arc::new(AtomicBool::new(false));
    let policy = policy.map(Policy::from_toml).transpose().map_err(told)?;
    let settings = ReplaySettings {
        tools: tools.map(DeclaredTools::read).transpose().map_err(told)?,
        policy: policy.unwrap_or_default(),
        part,
        workers,
        stop: Some(Arc::clone(&stop)),
        ..ReplaySettings::default()
    };
    if let Some(records) = records {
        let fault = Arc::new(Mutex::new(None));
        let rows = Rows {
            iterator: records.try_iter()?.unbind(),
            fetched: Vec::new().into_iter(),
            fault: Arc::clone(&fault),
        };
        let name = name.to_owned();
        let summary = interruptible(py, &stop, move || replay_records(&name, rows, settings))?;
        let fault = fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        return match fault {
            Some(error) => Err(error),
            None => Ok(Summary { summary }),
        };
    }
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let inputs = find(&paths).map_err(|error| fault(error.to_string()))?;
    let flag = Arc::clone(&stop);
    let summary = interruptible(py, &stop, move || {
        let mut run = Run::new(inputs, settings)?;
        while !run.leg(&flag)? && !flag.load(Ordering::Relaxed) {}
        Ok(run.finish())
    })?;
    Ok(Summary { summary })
}

/// Runs something long on another thread, checking for interrupts meanwhile.
fn interruptible(
    py: Python<'_>,
    stop: &AtomicBool,
    run: impl FnOnce() -> Result<callwright_replay::summary::Summary, RunError> + Send + 'static,
) -> PyResult<callwright_replay::summary::Summary> {
    let (send, receive) = channel();
    let receive = Mutex::new(receive);
    thread::spawn(move || drop(send.send(run())));
    let mut interrupted = None;
    loop {
        let waited = py.detach(|| {
            let receive = receive.lock().unwrap_or_else(PoisonError::into_inner);
            receive.recv_timeout(LOOK)
        });
        match (waited, interrupted.take()) {
            (Ok(_), Some(error)) => return Err(error),
            (Ok(ended), None) => return ended.map_err(|error| fault(error.to_string())),
            (Err(RecvTimeoutError::Disconnected), _) => {
                return Err(PyRuntimeError::new_err(
                    "the replay failed unexpectedly; please report this as a bug",
                ));
            }
            (Err(RecvTimeoutError::Timeout), before) => {
                interrupted = before.or_else(|| py.check_signals().err());
                if interrupted.is_some() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        }
    }
}

/// Records from a Python iterable, some at a time.
struct Rows {
    iterator: Py<PyIterator>,
    fetched: vec::IntoIter<Vec<u8>>,
    /// The exception that the iterable raised; it ends there.
    fault: Arc<Mutex<Option<PyErr>>>,
}

impl Iterator for Rows {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if let Some(record) = self.fetched.next() {
            return Some(record);
        }
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if fault.is_some() {
            return None;
        }
        let fetched = Python::try_attach(|py| {
            let mut batch = Vec::with_capacity(BATCH);
            for row in self.iterator.bind(py).clone().take(BATCH) {
                match row.and_then(|row| bytes_of(&row)) {
                    Ok(record) => batch.push(record),
                    Err(error) => {
                        *fault = Some(error);
                        break;
                    }
                }
            }
            batch
        })?;
        self.fetched = fetched.into_iter();
        self.fetched.next()
    }
}

fn bytes_of(row: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = row.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes().to_vec());
    }
    if let Ok(bytes) = row.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    match from_python(row) {
        Ok(value @ (callwright::json::Value::Object(_) | callwright::json::Value::Array(_))) => {
            Ok(value.to_string().into_bytes())
        }
        Ok(_) => Err(PyTypeError::new_err(format!(
            "a record must be a JSON string, bytes or a dictionary, found {}",
            type_name(row)
        ))),
        Err(not_json) => Err(not_json.into()),
    }
}
