//! The guard of one client, and calls that wait: until the tools of the server are known, or until the user has answered.
//!
//! Takes messages of either side; returns what is sent on. A call that waits is held by the guard; the request that
//! brought it waits here until it is judged, and gets questions to the user meanwhile. The tools are asked for in a
//! request of our own.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::{HeaderMap, Method, Uri};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep_until, timeout_at};

use super::body::Messages;
use super::headers;
use super::relay::Shared;
use super::reply::batch;
use crate::guard::{Action, Guard, Now, UserQuestion};
use crate::message::{Id, Message};

/// How long a question waits if the guard does not say. It always does while calls wait.
const LONGEST_QUESTION: Duration = Duration::from_secs(10);

/// The guard of one client.
#[derive(Debug)]
pub(crate) struct Session {
    guard: Guard,
    /// Requests that wait for a call to be judged, by its id.
    waiting: Mutex<HashMap<String, UnboundedSender<Judged>>>,
    /// Requests under way, by id.
    under_way: Mutex<HashSet<String>>,
    used: Mutex<Instant>,
}

/// What becomes of a call that waits.
#[derive(Debug)]
pub(crate) enum Judged {
    /// It goes to the server.
    Forward(Vec<u8>),
    /// It does not; the client gets this.
    Answer(Vec<u8>),
    /// The client is asked something first.
    Ask(Vec<u8>),
}

/// How a client's request goes to the server: what goes with it, and where.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) headers: HeaderMap,
    /// With the query of the client, which may be its login.
    pub(crate) endpoint: Uri,
}

/// What becomes of a message of the client.
#[derive(Debug, Default)]
pub(crate) struct Admitted {
    pub(crate) forward: Vec<Vec<u8>>,
    pub(crate) answers: Vec<Vec<u8>>,
    pub(crate) held: Vec<UnboundedReceiver<Judged>>,
}

/// What becomes of a message of the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    Same,
    Changed(Vec<u8>),
    /// It was for us.
    Gone,
}

impl Session {
    pub(crate) fn new(guard: Guard) -> Self {
        Session {
            guard,
            waiting: Mutex::default(),
            under_way: Mutex::default(),
            used: Mutex::new(Instant::now()),
        }
    }

    /// Notes that requests are under way; `false` if one of these ids already is.
    pub(crate) fn begin(&self, ids: &[String]) -> bool {
        *lock(&self.used) = Instant::now();
        let mut under_way = lock(&self.under_way);
        if ids.iter().any(|id| under_way.contains(id)) {
            return false;
        }
        under_way.extend(ids.iter().cloned());
        true
    }

    /// A request is answered.
    pub(crate) fn answered(&self, id: &str) {
        lock(&self.under_way).remove(id);
    }

    /// No answer comes to a request any more.
    pub(crate) fn abandoned(&self, id: &str) {
        lock(&self.under_way).remove(id);
        lock(&self.waiting).remove(id);
        self.guard.abandoned(Id(id), Now::by_clock());
    }

    /// How a tool declares its arguments, if it is known.
    pub(crate) fn input_schema(&self, tool: &str) -> Option<Arc<Value>> {
        self.guard.input_schema(tool)
    }

    /// When it was last used, and whether it is used now.
    pub(crate) fn usage(&self) -> (bool, Instant) {
        (!lock(&self.under_way).is_empty(), *lock(&self.used))
    }

    /// The client can ask the user.
    pub(crate) fn elicits(&self) {
        self.guard.elicits();
    }

    /// Judges a message of the client.
    pub(crate) fn admit(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        way: &Way,
        message: &[u8],
    ) -> Admitted {
        let mut admitted = Admitted::default();
        let mut actions = Vec::new();
        // Locked until everything that waits is known, or the answer could come before.
        let mut waiting = lock(&self.waiting);
        self.guard
            .from_client(message, Now::by_clock(), &mut actions);
        let came = requests(message);
        // A call that waited since an earlier message goes to the request that brought it.
        let is_earlier = |id: &String| !came.contains(id);
        let mut own_requests = Vec::new();
        for action in actions {
            match action {
                Action::PassToServer(same) => admitted.forward.push(same.to_vec()),
                Action::ToServer(sent) => {
                    let earlier = requests(&sent).into_iter().find(is_earlier);
                    match earlier.and_then(|id| waiting.remove(&id)) {
                        Some(waits) => drop(waits.send(Judged::Forward(sent.into_owned()))),
                        None => admitted.forward.push(sent.into_owned()),
                    }
                }
                Action::ToClient(answer) => {
                    let earlier = answers(&answer).into_iter().find(is_earlier);
                    let is_note = matches!(Message::read(&answer), Message::Notification { .. });
                    match earlier.and_then(|id| waiting.remove(&id)) {
                        Some(waits) => drop(waits.send(Judged::Answer(answer.into_owned()))),
                        None if is_note => {}
                        None => admitted.answers.push(answer.into_owned()),
                    }
                }
                // One that is held again is an earlier one, whose request waits already.
                Action::Hold(id) if is_earlier(&id) => {}
                Action::Hold(id) => {
                    let (sender, receiver) = unbounded_channel();
                    waiting.insert(id, sender);
                    admitted.held.push(receiver);
                }
                Action::AskUser(question) => self.ask_user(shared, &waiting, question),
                Action::ListTools(request) => own_requests.push(request),
                Action::Warn(warning) => shared.warn(&[warning]),
                Action::PassToClient(_) => {}
            }
        }
        if let Some(id) = cancelled(message).filter(|_| admitted.forward.is_empty()) {
            // The guard has let it go, so nothing else wakes the request that waits for it.
            waiting.remove(&id);
        }
        drop(waiting);
        for request in own_requests {
            self.ask(shared, way, request);
        }
        admitted
    }

    /// Gives a question to the user to the request whose call waits for the answer.
    fn ask_user(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        waiting: &HashMap<String, UnboundedSender<Judged>>,
        question: UserQuestion,
    ) {
        if let Some(waits) = waiting.get(&question.call) {
            let _gone = waits.send(Judged::Ask(question.message));
        }
        let (session, shared) = (Arc::clone(self), Arc::clone(shared));
        tokio::spawn(async move {
            while let Some(deadline) = session.guard.deadline() {
                sleep_until(deadline.into()).await;
                let mut actions = Vec::new();
                session.guard.tick(Now::by_clock(), &mut actions);
                session.deliver(&shared, actions);
            }
        });
    }

    /// The client sends no more, so its user does not answer.
    pub(crate) fn client_ended(self: &Arc<Self>, shared: &Arc<Shared>) {
        let mut actions = Vec::new();
        self.guard.client_ended(Now::by_clock(), &mut actions);
        self.deliver(shared, actions);
    }

    /// Judges a message of the server.
    pub(crate) fn pass(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        way: &Way,
        message: &[u8],
    ) -> Passed {
        let mut actions = Vec::new();
        self.guard
            .from_server(message, Now::by_clock(), &mut actions);
        if let [rest @ .., Action::PassToClient(_)] = &actions[..]
            && rest.iter().all(|action| matches!(action, Action::Warn(_)))
        {
            for action in rest {
                if let Action::Warn(warning) = action {
                    shared.warn(std::slice::from_ref(warning));
                }
            }
            return Passed::Same;
        }
        let (mut own, questions) = self.deliver(shared, actions);
        for question in questions {
            self.ask(shared, way, question);
        }
        let is_batch = matches!(Message::read(message), Message::Batch(_));
        match (own.pop(), own.is_empty()) {
            (None, _) => Passed::Gone,
            (Some(one), true) if !is_batch => Passed::Changed(one),
            (Some(last), _) => {
                own.push(last);
                Passed::Changed(batch(&own))
            }
        }
    }

    /// The server says that its tools have changed, on somebody else's stream.
    pub(crate) fn tools_changed(&self, message: &[u8]) {
        self.guard
            .from_server(message, Now::by_clock(), &mut Vec::new());
    }

    /// Asks for the tools, on its own: who brought the first call may go, others wait as well.
    fn ask(self: &Arc<Self>, shared: &Arc<Shared>, way: &Way, question: Vec<u8>) {
        let way = Way {
            headers: headers::for_list(&way.headers),
            endpoint: way.endpoint.clone(),
        };
        let (session, shared) = (Arc::clone(self), Arc::clone(shared));
        tokio::spawn(async move {
            let mut next = Some(question);
            while let Some(question) = next.take() {
                let latest = session.guard.list_deadline();
                let latest = latest.unwrap_or_else(|| Instant::now() + LONGEST_QUESTION);
                let answer = session.question(&shared, &way, question);
                if let Ok(Some(questions)) = timeout_at(latest.into(), answer).await {
                    next = questions.into_iter().next();
                } else {
                    // Nobody waits longer: the calls get from the server what we got.
                    let mut actions = Vec::new();
                    let now = Now {
                        instant: latest.max(Instant::now()),
                        ..Now::by_clock()
                    };
                    session.guard.tick(now, &mut actions);
                    session.deliver(&shared, actions);
                }
            }
        });
    }

    /// Puts a question to the server; `None` if it does not answer it.
    async fn question(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        way: &Way,
        question: Vec<u8>,
    ) -> Option<Vec<Vec<u8>>> {
        let asked = requests(&question);
        let (endpoint, headers) = (way.endpoint.clone(), way.headers.clone());
        let answer = shared
            .upstream
            .send(Method::POST, endpoint, headers, question.into());
        let mut messages = Messages::of(answer.await.ok()?)?;
        while let Some(message) = messages.next(&shared.upstream).await {
            if answers(&message) == asked {
                let mut actions = Vec::new();
                self.guard
                    .from_server(&message, Now::by_clock(), &mut actions);
                return Some(self.deliver(shared, actions).1);
            }
        }
        None
    }

    /// Gives calls that waited back to who brought them. Out go messages for the client that nobody waited for, and
    /// questions.
    fn deliver(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        actions: Vec<Action<'_>>,
    ) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let mut own = Vec::new();
        let mut questions = Vec::new();
        let mut waiting = lock(&self.waiting);
        let waits = |waiting: &mut HashMap<_, UnboundedSender<Judged>>, ids: Vec<String>| {
            ids.iter().find_map(|id| waiting.remove(id))
        };
        for action in actions {
            match action {
                Action::ToServer(message) => {
                    if let Some(waits) = waits(&mut waiting, requests(&message)) {
                        // Who has gone does not mind.
                        let _gone = waits.send(Judged::Forward(message.into_owned()));
                    }
                }
                Action::ToClient(message) => match waits(&mut waiting, answers(&message)) {
                    Some(waits) => drop(waits.send(Judged::Answer(message.into_owned()))),
                    None => own.push(message.into_owned()),
                },
                Action::PassToClient(message) => own.push(message.to_vec()),
                Action::AskUser(question) => self.ask_user(shared, &waiting, question),
                Action::ListTools(request) => questions.push(request),
                Action::Warn(warning) => shared.warn(&[warning]),
                Action::PassToServer(_) | Action::Hold(_) => {}
            }
        }
        (own, questions)
    }
}

/// The ids of the requests in a message.
pub(crate) fn requests(message: &[u8]) -> Vec<String> {
    ids(message, |message| match message {
        Message::Request { id, .. } => Some(id),
        _ => None,
    })
}

/// The ids of the requests that a message answers. Both sides count for themselves, so that a request of the server's may
/// have the id of one of the client's.
pub(crate) fn answers(message: &[u8]) -> Vec<String> {
    ids(message, |message| match message {
        Message::Response { id, .. } => Some(id),
        _ => None,
    })
}

fn ids<'m>(message: &'m [u8], id: fn(Message<'m>) -> Option<Id<'m>>) -> Vec<String> {
    let all: Vec<Option<Id<'_>>> = match Message::read(message) {
        Message::Batch(parts) => parts
            .into_iter()
            .map(|part| id(Message::read(part.get().as_bytes())))
            .collect(),
        message => vec![id(message)],
    };
    all.into_iter()
        .flatten()
        .map(|id| id.0.to_owned())
        .collect()
}

/// The id of the request that a client gives up.
pub(crate) fn cancelled(message: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Cancelled<'m> {
        #[serde(borrow, rename = "requestId")]
        id: &'m serde_json::value::RawValue,
    }
    match Message::read(message) {
        Message::Notification {
            method,
            params: Some(params),
        } if method == "notifications/cancelled" => {
            let cancelled: Cancelled<'_> = serde_json::from_str(params.get()).ok()?;
            Some(cancelled.id.get().to_owned())
        }
        _ => None,
    }
}

/// Nothing here panics while it holds a lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
