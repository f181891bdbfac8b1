//! Calls whose result stands in another record.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use callwright::admit::{Fingerprint, Moment};
use callwright::json::Value;

use super::Faults;
use crate::run::ToolSet;

/// How many calls are waited for. A result comes a record or two after its call.
const MOST: usize = 20_000;

/// How many bytes of arguments they may have, about.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// A call whose result stands in another record.
#[derive(Debug)]
pub(crate) struct WaitsForResult {
    pub(crate) set: Arc<ToolSet>,
    /// What admission knows it by; `None` if it would have stopped the call.
    pub(crate) fingerprint: Option<Fingerprint>,
    pub(crate) is_refused: bool,
    pub(crate) tool: String,
    pub(crate) arguments: Value<'static>,
    /// About how long the arguments are.
    pub(crate) bytes: usize,
    pub(crate) session: Option<String>,
    pub(crate) moment: Moment,
    pub(crate) faults: Option<Faults>,
    pub(crate) model: Option<String>,
    pub(crate) time: Option<i64>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Unanswered {
    calls: HashMap<u64, WaitsForResult>,
    order: VecDeque<u64>,
    bytes: usize,
}

impl Unanswered {
    /// Waits for the result of a call, by a hash of its conversation and its id.
    pub(crate) fn add(&mut self, key: u64, call: WaitsForResult) {
        self.bytes += call.bytes;
        if let Some(other) = self.calls.insert(key, call) {
            self.bytes -= other.bytes;
        }
        self.order.push_back(key);
        while self.calls.len() > MOST || self.bytes > MOST_BYTES || self.order.len() > 2 * MOST {
            let Some(oldest) = self.order.pop_front() else {
                return;
            };
            self.take(oldest);
        }
    }

    /// The call of this conversation and id.
    pub(crate) fn take(&mut self, key: u64) -> Option<WaitsForResult> {
        let call = self.calls.remove(&key)?;
        self.bytes -= call.bytes;
        Some(call)
    }
}
