//! The gate, as a Python class.

use std::sync::Arc;
use std::time::Duration;

use callwright::admit::{Moment, Place};
use callwright::call::Completeness;
use callwright::policy::RunPlan;
use callwright::rescue::Message;
use callwright_bindings::{FailedOutcome, Options, Reply, provider, read, values};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::calls::{Call, Incoming};
use crate::convert::{from_python, sent_text, text_to_python, to_python};
use crate::events::Recipe;
use crate::fault;
use crate::guards::GuardHandle;
use crate::keys::Keys;
use crate::settled::Settled;
use crate::ticket::{Ticket, plain};
use crate::verdict::Verdict;

/// From this many bytes on, the interpreter lock is released while a text is judged. Judging this much takes about ten
/// microseconds, and releasing the lock a tenth of one.
const LONG_TEXT: usize = 4 * 1024;

/// The calls, the text before them, and the name and the sentence of the reason if there are none.
type Rescued<'py> = (Bound<'py, PyList>, String, Option<(&'static str, String)>);

/// Judges calls of a set of tools.
#[pyclass(frozen, subclass, module = "callwright")]
pub(crate) struct Gate {
    handle: Arc<GuardHandle>,
}

#[pymethods]
impl Gate {
    /// `tools` is the text of a tool file, `options` a JSON object, `events` a list of functions and paths. The
    /// sessions of `previous` are shared.
    #[new]
    #[pyo3(signature = (tools, options="{}", events=Vec::new(), event_values="masked", previous=None))]
    fn new(
        py: Python<'_>,
        tools: &str,
        options: &str,
        events: Vec<Bound<'_, PyAny>>,
        event_values: &str,
        previous: Option<&Bound<'_, Gate>>,
    ) -> PyResult<Self> {
        let options: Options = read(options).map_err(|misfit| fault(misfit.to_string()))?;
        let values = values(event_values).map_err(fault)?;
        let recipe = Recipe::new(events, values, options.keep_output)?;
        let previous = previous.map(|gate| &gate.get().handle.guard);
        let guard = py.detach(|| options.guard(tools, previous));
        let guard = guard.map_err(fault)?;
        let keys = Keys::of(py, guard.gate());
        let handle = GuardHandle::start(guard, keys, recipe)?;
        Ok(Gate { handle })
    }

    /// Judges one call by itself, without history.
    ///
    /// Takes a call in any provider's format, or the name of a tool and its arguments as text or a dictionary.
    #[pyo3(signature = (call, arguments=None, *, id=None, finish_reason=None))]
    fn judge<'py>(
        &self,
        py: Python<'py>,
        call: &Bound<'py, PyAny>,
        arguments: Option<&Bound<'py, PyAny>>,
        id: Option<&Bound<'py, PyAny>>,
        finish_reason: Option<&str>,
    ) -> PyResult<Verdict> {
        if let Some(arguments) = arguments
            && let (Ok(tool), Ok(text)) = (call.cast::<PyString>(), arguments.cast::<PyString>())
            && let (Ok(name), Ok(sent)) = (tool.to_str(), text.to_str())
        {
            return self.judge_text(py, (tool, name), (text, sent), id, finish_reason);
        }
        let gate = self.handle.guard.gate();
        let incoming = Incoming::read(gate, call, arguments, id, finish_reason)?;
        let verdict = gate.judge(&incoming.call).into_owned();
        let same = verdict.arguments().and_then(|sent| incoming.same(sent));
        let handle = Arc::clone(&self.handle);
        Ok(Verdict::full(py, handle, incoming.call, verdict, same))
    }

    /// Whether a call of the tool with these arguments is valid exactly as it is.
    fn accepts(&self, tool: &str, arguments: &Bound<'_, PyAny>) -> PyResult<bool> {
        let gate = self.handle.guard.gate();
        let is_valid = |call| matches!(gate.judge(&call), callwright::Verdict::Valid(_));
        Ok(match arguments.cast::<PyString>() {
            Ok(text) => is_valid(callwright::Call::from_text(tool, sent_text(text)?)),
            Err(_) => is_valid(callwright::Call::from_value(tool, from_python(arguments)?)),
        })
    }

    /// Judges one call and asks whether it may run now. A call without a session is not part of a conversation and is
    /// not counted. `objections` are the complaints of the tool's own types about arguments that its schema accepts: a
    /// JSON Pointer and a sentence each.
    #[pyo3(signature = (call, arguments=None, *, session=None, turn=None, round=None, id=None, finish_reason=None, objections=Vec::new()))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn open<'py>(
        &self,
        py: Python<'py>,
        call: &Bound<'py, PyAny>,
        arguments: Option<&Bound<'py, PyAny>>,
        session: Option<&str>,
        turn: Option<u64>,
        round: Option<u64>,
        id: Option<&Bound<'py, PyAny>>,
        finish_reason: Option<&str>,
        objections: Vec<(String, String)>,
    ) -> PyResult<Ticket> {
        let guard = &self.handle.guard;
        let incoming = Incoming::read(guard.gate(), call, arguments, id, finish_reason)?;
        let at = Moment { turn, round };
        let place = session.map(|session| Place { session, at });
        let call = incoming.call.clone();
        let open = py.detach(|| guard.open_unless(call, place, objections));
        let ticket = open.ticket();
        let same = ticket.and_then(|ticket| incoming.same(ticket.arguments()));
        Ticket::new(py, Arc::clone(&self.handle), open, same)
    }

    /// Extracts calls from a message in which a model wrote them as text: all of them or none. Returns the calls, the
    /// text before them, and the reason if there are none.
    #[pyo3(signature = (text, *, id=None, finish_reason=None))]
    fn rescue<'py>(
        &self,
        py: Python<'py>,
        text: &str,
        id: Option<&Bound<'py, PyAny>>,
        finish_reason: Option<&str>,
    ) -> PyResult<Rescued<'py>> {
        let mut message = Message::from_text(text);
        message.id = id.map(from_python).transpose()?;
        if let Some(reason) = finish_reason {
            message.completeness = Completeness::from_finish_reason(reason);
        }
        let guard = &self.handle.guard;
        let rescued = py.detach(|| {
            let (calls, rest) = guard.rescue(&message)?;
            let calls: Vec<_> = calls
                .into_iter()
                .map(callwright::Call::into_owned)
                .collect();
            Ok((calls, rest.to_owned()))
        });
        match rescued {
            Err(reason) => Ok((PyList::empty(py), text.to_owned(), Some(reason))),
            Ok((calls, rest)) => {
                let calls = calls.into_iter().map(|call| Bound::new(py, Call { call }));
                let calls = calls.collect::<PyResult<Vec<_>>>()?;
                Ok((PyList::new(py, calls)?, rest, None))
            }
        }
    }

    /// Passes the user's answer to the gate: `"stop"`, `{"allow_once": fingerprint}` or `{"allow_tool": name}`.
    fn answer(&self, py: Python<'_>, session: &str, reply: &Bound<'_, PyAny>) -> PyResult<()> {
        let reply = from_python(reply)?.to_string();
        let reply: Reply = read(&reply)
            .map_err(|misfit| PyTypeError::new_err(format!("not a user's answer: {misfit}")))?;
        let reply = reply.into_core().map_err(fault)?;
        let ledger = self.handle.guard.gate().ledger();
        let answered = py.detach(|| ledger.answer(session, &reply));
        answered.map_err(|away| PyRuntimeError::new_err(away.to_string()))
    }

    /// The tools in order, as the gate read them.
    #[getter]
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text_to_python(py, &self.handle.guard.tools(), &self.handle.keys)
    }

    /// Warnings, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.handle.guard.warnings().to_vec()
    }

    /// The tools as declared in a request to the provider.
    fn declarations<'py>(&self, py: Python<'py>, shape: &str) -> PyResult<Bound<'py, PyAny>> {
        let shape = provider(shape).map_err(fault)?;
        let declared = self.handle.guard.declarations(shape);
        text_to_python(py, &declared, &self.handle.keys)
    }

    /// Judges a recorded call together with its recorded outcome (`session`, `turn`, `round`, `output`, `is_error`),
    /// as `callwright check` does with a line.
    fn check(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<Settled> {
        let guard = &self.handle.guard;
        let record = match record.cast::<PyString>() {
            Ok(line) => {
                let line = line.to_str()?;
                let read = callwright::parse::read_value(line);
                read.map_err(|_| fault("the record is not JSON"))?
                    .into_owned()
            }
            Err(_) => from_python(record)?,
        };
        let settled = py.detach(|| guard.check(record));
        let settled = settled.map_err(|error| fault(error.to_string()))?;
        Ok(Settled::new(Arc::clone(&self.handle), settled))
    }

    /// The settings of a tool, from the policy and its own declaration.
    fn settings<'py>(&self, py: Python<'py>, tool: &str) -> PyResult<Bound<'py, PyAny>> {
        let settings = self.handle.guard.settings(tool).map_err(fault)?;
        text_to_python(py, &settings, &self.handle.keys)
    }

    /// The thresholds for repeated calls.
    #[getter]
    fn admission<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        text_to_python(py, &self.handle.guard.admission(), &self.handle.keys)
    }

    /// How a tool is run: its timeout in seconds and its retries, from the policy, these settings of the tool itself
    /// and the defaults. A tool that may change something is never run twice.
    #[pyo3(signature = (tool, timeout=None, retries=None))]
    fn run_plan(
        &self,
        tool: &str,
        timeout: Option<f64>,
        retries: Option<u32>,
    ) -> PyResult<(f64, u32)> {
        let (plan, _) = self.plan(tool, timeout, retries)?;
        Ok((plan.timeout.as_secs_f64(), plan.retries))
    }

    /// How many seconds to wait before a call that has run `runs` times runs again; `None` if it does not. `random` is
    /// between 0 and 1.
    #[pyo3(signature = (tool, failed, runs, random, retries=None))]
    fn wait_before_retry(
        &self,
        tool: &str,
        failed: &Bound<'_, PyAny>,
        runs: u32,
        random: f64,
        retries: Option<u32>,
    ) -> PyResult<Option<f64>> {
        let failure = plain::<FailedOutcome>("failed", failed)?
            .into_core()
            .map_err(fault)?;
        let (plan, tool) = self.plan(tool, None, retries)?;
        let wait = plan.wait_before_retry(runs, &failure, tool.output_policy(), random);
        Ok(wait.map(|wait| wait.as_secs_f64()))
    }

    /// Waits until all events are delivered; false if that takes longer than the timeout.
    #[pyo3(signature = (timeout=2.0))]
    fn flush_events(&self, py: Python<'_>, timeout: f64) -> bool {
        let sinks = self.handle.guard.sinks();
        let timeout = Duration::try_from_secs_f64(timeout).unwrap_or(Duration::MAX);
        py.detach(|| sinks.flush(timeout))
    }

    /// Delivered and lost events, by sink.
    fn event_stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = PyDict::new(py);
        for (name, sink) in self.handle.guard.sinks().stats() {
            let counts = PyDict::new(py);
            counts.set_item("delivered", sink.delivered)?;
            counts.set_item("dropped", sink.dropped)?;
            counts.set_item("failed", sink.failed)?;
            counts.set_item("waiting", sink.waiting)?;
            counts.set_item("last_error", sink.last_error)?;
            stats.set_item(name, counts)?;
        }
        Ok(stats)
    }

    fn __repr__(&self) -> String {
        let tools = self.handle.guard.gate().tools().count();
        let plural = if tools == 1 { "" } else { "s" };
        format!("<Gate of {tools} tool{plural}>")
    }
}

impl Gate {
    fn plan(
        &self,
        tool: &str,
        timeout: Option<f64>,
        retries: Option<u32>,
    ) -> PyResult<(RunPlan, &callwright::tool::Tool)> {
        let guard = &self.handle.guard;
        let known = guard.gate().tool(tool);
        let known = known.ok_or_else(|| fault(format!("unknown tool `{tool}`")))?;
        let mut settings = guard.run_settings(tool);
        let own = timeout.map(|limit| Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX));
        settings.timeout = settings.timeout.or(own);
        settings.retries = settings.retries.or(retries);
        Ok((RunPlan::new(known.spec(), settings), known))
    }

    /// The usual way: a name and a text.
    fn judge_text<'py>(
        &self,
        py: Python<'py>,
        (tool, name): (&Bound<'py, PyString>, &str),
        (text, sent): (&Bound<'py, PyString>, &str),
        id: Option<&Bound<'py, PyAny>>,
        finish_reason: Option<&str>,
    ) -> PyResult<Verdict> {
        let gate = self.handle.guard.gate();
        let mut call = callwright::Call::from_text(name, sent);
        call.id = id.map(from_python).transpose()?;
        if let Some(reason) = finish_reason {
            call.completeness = Completeness::from_finish_reason(reason);
        }
        let verdict = if sent.len() < LONG_TEXT {
            gate.judge(&call)
        } else {
            py.detach(|| gate.judge(&call))
        };
        let handle = Arc::clone(&self.handle);
        match &verdict {
            callwright::Verdict::Valid(valid) if valid.warning().is_none() => {
                let arguments = to_python(py, valid.arguments(), &self.handle.keys)?.unbind();
                let is_bare = call.id.is_none() && call.completeness == Completeness::Unknown;
                let more = (!is_bare).then(|| {
                    Box::new((
                        call.id.clone().map(callwright::json::Value::into_owned),
                        call.completeness,
                    ))
                });
                let (tool, text) = (tool.clone().unbind(), text.clone().into_any().unbind());
                Ok(Verdict::plain(
                    py,
                    handle,
                    verdict.name(),
                    tool,
                    text,
                    more,
                    arguments,
                ))
            }
            _ => {
                let verdict = verdict.into_owned();
                Ok(Verdict::full(py, handle, call.into_owned(), verdict, None))
            }
        }
    }
}
