//! Judges and counts recorded traffic: files by their paths, or records passed in from JavaScript.
//!
//! A replay runs on its own threads. Records wait in a short queue, and passing in more waits on Node's thread pool, so
//! neither memory nor the event loop depends on how fast they come.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use callwright::Policy;
use callwright_replay::report::{self, Report};
use callwright_replay::run::{DeclaredTools, ReplaySettings, Run, replay_records};
use callwright_replay::source;
use callwright_replay::summary::Summary;
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::text::Text;
use crate::thrown;

/// How many batches of records may wait.
const WAITING: usize = 4;

type Batch = Vec<String>;
type Counted = std::result::Result<Summary, String>;

/// The counts of a replay.
#[napi]
pub struct NativeSummary(Mutex<Summary>);

/// A replay of records that are passed in.
#[napi]
pub struct NativeReplay {
    records: Arc<Mutex<Option<SyncSender<Batch>>>>,
    counting: Arc<Mutex<Option<JoinHandle<Counted>>>>,
}

fn settings(
    tools: Option<Text>,
    policy: Option<Text>,
    part: Option<String>,
) -> Result<ReplaySettings> {
    let tools = tools
        .map(|tools| DeclaredTools::read(&tools.0))
        .transpose()
        .map_err(thrown)?;
    let policy = policy
        .map(|policy| Policy::from_toml(&policy.0))
        .transpose();
    Ok(ReplaySettings {
        tools,
        policy: policy.map_err(thrown)?.unwrap_or_default(),
        part,
        ..ReplaySettings::default()
    })
}

/// Judges and counts files: paths, folders, patterns.
#[napi(catch_unwind, ts_return_type = "Promise<NativeSummary>")]
pub fn replay_files(
    paths: Vec<String>,
    tools: Option<Text>,
    policy: Option<Text>,
    part: Option<String>,
) -> Result<AsyncTask<FilesTask>> {
    let settings = settings(tools, policy, part)?;
    Ok(AsyncTask::new(FilesTask { paths, settings }))
}

#[napi]
impl NativeReplay {
    /// Starts counting records under a name.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        name: String,
        tools: Option<Text>,
        policy: Option<Text>,
        part: Option<String>,
    ) -> Result<Self> {
        let settings = settings(tools, policy, part)?;
        let (sender, receiver): (SyncSender<Batch>, Receiver<Batch>) = sync_channel(WAITING);
        let count = move || {
            let records = receiver.into_iter().flatten();
            replay_records(&name, records, settings).map_err(|error| error.to_string())
        };
        let counting = thread::Builder::new()
            .name("replay".to_owned())
            .spawn(count);
        Ok(NativeReplay {
            records: Arc::new(Mutex::new(Some(sender))),
            counting: Arc::new(Mutex::new(Some(counting.map_err(thrown)?))),
        })
    }

    /// Passes in records, each a JSON string. The promise resolves when there is room for them.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn push(&self, records: Vec<String>) -> AsyncTask<PushTask> {
        let sender = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        AsyncTask::new(PushTask {
            sender: sender.clone(),
            records,
        })
    }

    /// Waits for the counts of everything that was passed in.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeSummary>")]
    pub fn finish(&self) -> AsyncTask<FinishTask> {
        self.records
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        AsyncTask::new(FinishTask(Arc::clone(&self.counting)))
    }
}

#[napi]
impl NativeSummary {
    /// Reads what [`Self::to_bytes`] wrote.
    #[napi(factory, catch_unwind)]
    pub fn from_bytes(bytes: Buffer) -> Result<Self> {
        let summary = Summary::from_bytes(&bytes).map_err(thrown)?;
        Ok(NativeSummary(Mutex::new(summary)))
    }

    /// Compressed, for another process.
    #[napi(catch_unwind)]
    pub fn to_bytes(&self) -> Result<Buffer> {
        let bytes = self.held().to_bytes().map_err(thrown)?;
        Ok(bytes.into())
    }

    /// Adds the counts of another part; a part with an id counts once.
    #[napi(catch_unwind)]
    pub fn merge(&self, other: &NativeSummary) -> Result<()> {
        let other = other.held().clone();
        self.held().merge(other).map(drop).map_err(thrown)
    }

    /// The report, as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn report(&self) -> AsyncTask<ReportTask> {
        AsyncTask::new(ReportTask(Some(self.held().clone())))
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Summary> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts files.
pub struct FilesTask {
    paths: Vec<String>,
    settings: ReplaySettings,
}

#[napi]
impl Task for FilesTask {
    type Output = Summary;
    type JsValue = NativeSummary;

    fn compute(&mut self) -> Result<Summary> {
        let inputs = source::find(&self.paths).map_err(thrown)?;
        let mut run = Run::new(inputs, std::mem::take(&mut self.settings)).map_err(thrown)?;
        let never = AtomicBool::new(false);
        while !run.leg(&never).map_err(thrown)? {}
        Ok(run.finish())
    }

    fn resolve(&mut self, _: Env, summary: Summary) -> Result<NativeSummary> {
        Ok(NativeSummary(Mutex::new(summary)))
    }
}

/// Waits for room in the queue.
pub struct PushTask {
    sender: Option<SyncSender<Batch>>,
    records: Batch,
}

#[napi]
impl Task for PushTask {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        let records = std::mem::take(&mut self.records);
        let sent = self.sender.take().map(|sender| sender.send(records));
        // A replay that has failed accepts no more; `finish` says why.
        sent.map(|_| ())
            .ok_or_else(|| thrown("this replay is finished"))
    }

    fn resolve(&mut self, _: Env, (): ()) -> Result<()> {
        Ok(())
    }
}

/// Waits for the counts.
pub struct FinishTask(Arc<Mutex<Option<JoinHandle<Counted>>>>);

#[napi]
impl Task for FinishTask {
    type Output = Summary;
    type JsValue = NativeSummary;

    fn compute(&mut self) -> Result<Summary> {
        let counting = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let counting = counting.ok_or_else(|| thrown("this replay is finished"))?;
        let counted = counting.join().map_err(|_| thrown("the replay panicked"))?;
        counted.map_err(thrown)
    }

    fn resolve(&mut self, _: Env, summary: Summary) -> Result<NativeSummary> {
        Ok(NativeSummary(Mutex::new(summary)))
    }
}

/// Draws the conclusions.
pub struct ReportTask(Option<Summary>);

#[napi]
impl Task for ReportTask {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        let summary = self.0.take().unwrap_or_default();
        let report = report::json(&Report::new(summary)).map_err(thrown)?;
        Ok(report.to_string())
    }

    fn resolve(&mut self, _: Env, report: String) -> Result<String> {
        Ok(report)
    }
}
