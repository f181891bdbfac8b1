//! What happened, counted from the events.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use callwright::event::Event;
use callwright::failure::Failure;

/// How long to wait for the last events. They arrive within milliseconds.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How often each thing happened. Clones share their counts.
#[derive(Clone, Default)]
pub(crate) struct Counts(Arc<Mutex<Counted>>);

#[derive(Default)]
struct Counted {
    calls: u32,
    ran: u32,
    notices: u32,
    codes: BTreeMap<String, u32>,
}

impl Counts {
    pub(crate) fn count(&self, event: &Event) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.calls += 1;
        counted.ran += u32::from(event.was_executed());
        counted.notices += u32::from(event.notice.is_some());
        let failures = [&event.failure, &event.output_failure];
        for code in failures.into_iter().flatten().map(Failure::code_name) {
            *counted.codes.entry(code.to_owned()).or_default() += 1;
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Counted {
            calls,
            ran,
            notices,
            codes,
        } = &*counted;
        let codes: Vec<String> = codes
            .iter()
            .map(|(code, count)| format!("{count} {code}"))
            .collect();
        writeln!(
            f,
            "{calls} calls, {ran} of them ran, {notices} with a notice"
        )?;
        f.write_str(&codes.join(", "))
    }
}
