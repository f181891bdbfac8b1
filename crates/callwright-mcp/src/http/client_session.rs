//! The guard of one client, and its calls that wait until the server's tools are known or the user answers.
//!
//! Takes messages from either side; returns what to send. A waiting call is held by the guard. The HTTP request that
//! brought it waits here until the call is judged, and gets questions to the user meanwhile. The guard's own request
//! for the tools is sent separately.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use callwright_http::unblocked;
use callwright_http::upstream::{TransferError, Upstream};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, Response, Uri};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::{sleep_until, timeout_at};

use super::exchange::{answers_all, is_batch, together};
use super::message_reader::MessageReader;
use super::{GuardedServer, headers};
use crate::guard::{Action, Guard, Now};
use crate::message::{Id, Message, cancelled_id};

/// How long the request for the tools may take if the guard does not say. It always does while calls wait.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct ClientSession {
    guard: Guard,
    server: Arc<GuardedServer>,
    waiting: Mutex<WaitingCalls>,
    usage: Mutex<Usage>,
}

/// HTTP requests that wait for a call to be judged, by the id of the call.
type WaitingCalls = HashMap<String, UnboundedSender<CallUpdate>>;

struct Usage {
    in_progress: HashSet<String>,
    last: Instant,
}

/// An update about a waiting call.
enum CallUpdate {
    /// It is forwarded to the server.
    Forward(Vec<u8>),
    /// It is not; the client gets this.
    Answer(Vec<u8>),
    /// The client is asked something first.
    Ask(Vec<u8>),
}

#[derive(Clone)]
pub(super) struct Route {
    pub(super) headers: HeaderMap,
    /// With the client's query, which may be its login.
    pub(super) endpoint: Uri,
}

impl Route {
    pub(super) async fn send(
        &self,
        upstream: &Upstream,
        method: Method,
        body: Bytes,
    ) -> Result<Response<Incoming>, TransferError> {
        let (endpoint, headers) = (self.endpoint.clone(), self.headers.clone());
        upstream.send(method, endpoint, headers, body).await
    }
}

#[derive(Default)]
pub(super) struct AdmittedMessage {
    pub(super) forward: Vec<Vec<u8>>,
    pub(super) answers: Vec<Vec<u8>>,
    held: VecDeque<UnboundedReceiver<CallUpdate>>,
}

/// A waiting call was cancelled, and is not judged any more.
pub(super) struct CallCancelled;

impl AdmittedMessage {
    /// Waits until all calls are judged, or until there is a question to the user.
    pub(super) async fn judged(&mut self) -> Result<Option<Vec<u8>>, CallCancelled> {
        while let Some(held) = self.held.front_mut() {
            let update = held.recv().await;
            if let Some(CallUpdate::Ask(question)) = update {
                return Ok(Some(question));
            }
            self.held.pop_front();
            match update {
                Some(CallUpdate::Forward(message)) => self.forward.push(message),
                Some(CallUpdate::Answer(message)) => self.answers.push(message),
                Some(CallUpdate::Ask(_)) | None => return Err(CallCancelled),
            }
        }
        Ok(None)
    }
}

impl ClientSession {
    pub(super) fn new(guard: Guard, server: Arc<GuardedServer>) -> Arc<Self> {
        Arc::new(ClientSession {
            guard,
            server,
            waiting: Mutex::default(),
            usage: Mutex::new(Usage {
                in_progress: HashSet::new(),
                last: Instant::now(),
            }),
        })
    }

    /// Marks requests as in progress; `false` if one of these ids already is.
    pub(super) fn begin(&self, ids: &[String]) -> bool {
        let mut usage = self.usage.lock();
        usage.last = Instant::now();
        if ids.iter().any(|id| usage.in_progress.contains(id)) {
            return false;
        }
        usage.in_progress.extend(ids.iter().cloned());
        true
    }

    pub(super) fn answered(&self, id: &str) {
        self.usage.lock().in_progress.remove(id);
    }

    pub(super) fn abandoned(&self, id: &str) {
        self.answered(id);
        self.waiting.lock().remove(id);
        self.guard.abandoned(Id(id), Now::by_clock());
    }

    /// How many requests are in progress, and when the last one came.
    pub(super) fn usage(&self) -> (usize, Instant) {
        let usage = self.usage.lock();
        (usage.in_progress.len(), usage.last)
    }

    pub(super) fn input_schema(&self, tool: &str) -> Option<Arc<Value>> {
        self.guard.input_schema(tool)
    }

    pub(super) fn elicits(&self) {
        self.guard.elicits();
    }

    /// Judges a client message that contains these requests.
    pub(super) fn admit(
        self: &Arc<Self>,
        route: &Route,
        message: &[u8],
        ids: &[String],
    ) -> AdmittedMessage {
        let mut actions = Vec::new();
        // Locked until all waiting calls are known, or an answer could come first.
        let mut waiting = self.waiting.lock();
        self.ask_guard(|guard| guard.from_client(message, Now::by_clock(), &mut actions));
        let mut admitted = self.carry_out(&mut waiting, actions, ids, Some(route));
        let is_notification =
            |answer: &[u8]| matches!(Message::read(answer), Message::Notification { .. });
        admitted.answers.retain(|answer| !is_notification(answer));
        admitted
    }

    /// Judges a server message: returns what the client gets, borrowed if it is unchanged, and `None` if it was for
    /// the guard.
    pub(super) fn judge_server_message<'m>(
        self: &Arc<Self>,
        route: &Route,
        message: &'m [u8],
    ) -> Option<Cow<'m, [u8]>> {
        let mut actions = Vec::new();
        self.ask_guard(|guard| guard.from_server(message, Now::by_clock(), &mut actions));
        if let [Action::PassToClient(same)] = actions[..] {
            return Some(Cow::Borrowed(same));
        }
        let judged = self.carry_out(&mut self.waiting.lock(), actions, &[], Some(route));
        let judged = together(judged.answers, is_batch(message));
        judged.map(|judged| Cow::Owned(judged.into()))
    }

    /// Notes that the server announced a tool change on another client's stream.
    pub(super) fn tools_changed(&self, message: &[u8]) {
        let mut actions = Vec::new();
        self.guard
            .from_server(message, Now::by_clock(), &mut actions);
    }

    /// The client has stopped sending, so its user will not answer.
    pub(super) fn client_ended(self: &Arc<Self>) {
        self.change(|guard, actions| guard.client_ended(Now::by_clock(), actions));
    }

    fn tick(self: &Arc<Self>, now: Now) {
        self.change(|guard, actions| guard.tick(now, actions));
    }

    /// Handles an event that is not a message.
    fn change(self: &Arc<Self>, happened: impl FnOnce(&Guard, &mut Vec<Action<'_>>)) {
        let mut actions = Vec::new();
        self.ask_guard(|guard| happened(guard, &mut actions));
        self.carry_out(&mut self.waiting.lock(), actions, &[], None);
    }

    /// Asks the guard, which waits if its ledger is on a server.
    fn ask_guard(&self, ask: impl FnOnce(&Guard)) {
        if self.guard.waits() {
            unblocked(|| ask(&self.guard));
        } else {
            ask(&self.guard);
        }
    }

    /// Carries out the guard's decisions. Calls that waited are handed back to the requests that brought them; what
    /// is returned belongs to the message that was judged, whose requests are `new`.
    fn carry_out(
        self: &Arc<Self>,
        waiting: &mut WaitingCalls,
        actions: Vec<Action<'_>>,
        new: &[String],
        route: Option<&Route>,
    ) -> AdmittedMessage {
        let mut admitted = AdmittedMessage::default();
        // Waiting clients may be gone.
        let resume = |waits: Option<UnboundedSender<CallUpdate>>, update| {
            let _gone = waits.map(|waits| waits.send(update));
        };
        for action in actions {
            match action {
                Action::PassToServer(message) => admitted.forward.push(message.to_vec()),
                Action::PassToClient(message) => admitted.answers.push(message.to_vec()),
                Action::ToServer(message) => admitted.forward.push(message.into_owned()),
                Action::ToClient(message) => admitted.answers.push(message.into_owned()),
                Action::Release(held) => {
                    resume(
                        waiting.remove(&held.call),
                        CallUpdate::Forward(held.message),
                    );
                }
                Action::Answer(held) => {
                    resume(waiting.remove(&held.call), CallUpdate::Answer(held.message));
                }
                Action::AskUser(held) => {
                    resume(
                        waiting.get(&held.call).cloned(),
                        CallUpdate::Ask(held.message),
                    );
                }
                Action::Hold(id) => {
                    // A call that is held again came earlier, and its request is already waiting.
                    if new.contains(&id) {
                        let (sender, receiver) = unbounded_channel();
                        waiting.insert(id, sender);
                        admitted.held.push_back(receiver);
                    }
                    self.tick_in_time();
                }
                // Wakes the request that waits for it.
                Action::Drop(id) => drop(waiting.remove(&id)),
                Action::ListTools(request) => {
                    if let Some(route) = route {
                        self.request_list(route, request);
                    }
                }
                Action::CompileTools(compilation) => {
                    let session = Arc::clone(self);
                    spawn_blocking(move || {
                        let compiled = compilation.run();
                        session.change(|guard, actions| {
                            guard.tools_compiled(compiled, Now::by_clock(), actions);
                        });
                    });
                }
                Action::Warn(warning) => (self.server.warn)(&warning),
            }
        }
        admitted
    }

    /// Gives up on tools and users that calls have waited for long enough.
    fn tick_in_time(self: &Arc<Self>) {
        let session = Arc::clone(self);
        tokio::spawn(async move {
            while let Some(deadline) = session.guard.deadline() {
                sleep_until(deadline.into()).await;
                session.tick(Now::by_clock());
            }
        });
    }

    /// Requests the tools, independently of the request whose call came first: its client may leave while others wait
    /// too.
    fn request_list(self: &Arc<Self>, route: &Route, request: Vec<u8>) {
        let route = Route {
            headers: headers::for_tools_list(&route.headers),
            endpoint: route.endpoint.clone(),
        };
        let session = Arc::clone(self);
        tokio::spawn(async move {
            let deadline = session.guard.list_deadline();
            let deadline = deadline.unwrap_or_else(|| Instant::now() + LIST_TIMEOUT);
            let page = session.request_page(&route, request);
            if timeout_at(deadline.into(), page).await != Ok(Some(())) {
                // The calls wait no longer, and get the same error from the server as we did.
                session.tick(Now {
                    instant: deadline.max(Instant::now()),
                    ..Now::by_clock()
                });
            }
        });
    }

    /// Requests a page of the tool list; `None` if it does not arrive.
    async fn request_page(self: &Arc<Self>, route: &Route, request: Vec<u8>) -> Option<()> {
        let upstream = &self.server.upstream;
        let request = Bytes::from(request);
        let sent = route.send(upstream, Method::POST, request.clone());
        let response = sent.await;
        let response = response
            .ok()
            .filter(|response| response.status().is_success())?;
        let mut messages = MessageReader::open(response, upstream).await.ok()??;
        while let Some(message) = messages.next().await {
            if answers_all(&message, &request) {
                self.judge_server_message(route, &message);
                return Some(());
            }
        }
        None
    }
}

pub(super) fn cancelled(message: &[u8]) -> Option<String> {
    match Message::read(message) {
        Message::Notification { method, params } if method == "notifications/cancelled" => {
            cancelled_id(params).map(|id| id.0.to_owned())
        }
        _ => None,
    }
}
