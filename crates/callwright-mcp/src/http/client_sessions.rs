//! Chooses the guard that judges a request.
//!
//! A session named by the server has its own guard, which remembers its calls: one for each login that uses the name,
//! so that a stolen or invented name reveals nothing of the other login. The same goes for conversations named by the
//! operator's header. For all other requests no call is remembered, since it is unknown whose they are: their guards
//! only know the tool list, and only for requests that are alike in everything that may be a login. Such clients may
//! use the same id at the same time, so each guard has an id in progress at most once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::GuardedServer;
use super::caller::Caller;
use super::client_session::{ClientSession, Route};
use super::exchange::Exchange;
use crate::guard::{Guard, Settings};

/// How many clients are remembered. If one that was forgotten comes back, its tools are requested again.
const MAX_CLIENTS: usize = 10_000;

/// How long a client is remembered after its last request. A conversation that was silent for a day is over.
const CLIENT_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// How many requests of a client may be in progress: one that never reads answers must not use up our memory.
const MAX_IN_PROGRESS: usize = 1_000;

/// How many requests with the same id may be in progress for clients that cannot be told apart.
const MAX_SAME_ID: usize = 256;

/// The guards of a client: one that remembers its calls, or several that do not.
type Clients = HashMap<u128, Vec<Arc<ClientSession>>>;

pub(super) struct ClientSessions {
    settings: Arc<Settings>,
    server: Arc<GuardedServer>,
    /// Guards that remember calls.
    known: Mutex<Clients>,
    /// Guards that do not.
    anonymous: Mutex<Clients>,
    /// Makes hashes of credentials useless to others.
    seed: u64,
}

impl ClientSessions {
    pub(super) fn new(settings: Arc<Settings>, server: Arc<GuardedServer>) -> Self {
        ClientSessions {
            settings,
            server,
            known: Mutex::default(),
            anonymous: Mutex::default(),
            seed: fastrand::u64(..),
        }
    }

    /// Begins requests with these ids; `None` if too many with the same ids are in progress.
    pub(super) fn exchange(
        &self,
        caller: &Caller,
        route: Route,
        ids: Vec<String>,
    ) -> Option<Exchange> {
        let session = match self.remembering(caller) {
            Some(session) => {
                if session.usage().0 + ids.len() > MAX_IN_PROGRESS {
                    return None;
                }
                session.begin(&ids);
                session
            }
            None => self.forgetful(caller, &ids)?,
        };
        Some(Exchange::new(session, route, ids))
    }

    /// The guard of a caller that is in a session.
    fn remembering(&self, caller: &Caller) -> Option<Arc<ClientSession>> {
        let mut known = self.known.lock();
        let named = caller.session();
        let key = named
            .map(|name| caller.in_session(name, self.seed))
            .filter(|key| known.contains_key(key))
            .or_else(|| caller.in_own_session(self.seed))?;
        Some(self.known(&mut known, key))
    }

    fn known(&self, known: &mut Clients, key: u128) -> Arc<ClientSession> {
        let sessions = entry(known, key, Instant::now());
        if sessions.is_empty() {
            // The name of a session is as sensitive as a password, so events get a hash of it.
            let guard = Guard::new(Arc::clone(&self.settings), format!("{key:032x}"));
            sessions.push(ClientSession::new(guard, Arc::clone(&self.server)));
        }
        Arc::clone(&sessions[0])
    }

    /// A guard for a caller outside any session, in which none of these ids is in progress.
    fn forgetful(&self, caller: &Caller, ids: &[String]) -> Option<Arc<ClientSession>> {
        let key = caller.anonymous_key(self.seed);
        let mut all = self.anonymous.lock();
        let sessions = entry(&mut all, key, Instant::now());
        if let Some(free) = sessions.iter().find(|session| session.begin(ids)) {
            return Some(Arc::clone(free));
        }
        if sessions.len() >= MAX_SAME_ID {
            return None;
        }
        let name = format!("{}-{:08x}", caller.from, key & 0xffff_ffff);
        let guard = Guard::forgetful(Arc::clone(&self.settings), name);
        let session = ClientSession::new(guard, Arc::clone(&self.server));
        session.begin(ids);
        sessions.push(Arc::clone(&session));
        Some(session)
    }

    /// Records that the server named a session in its response to a caller: from now on its calls are remembered.
    /// `elicits` if the client can ask the user.
    pub(super) fn named(&self, caller: &Caller, name: &str, elicits: bool) {
        let key = caller.in_session(name, self.seed);
        let session = self.known(&mut self.known.lock(), key);
        if elicits {
            session.elicits();
        }
    }

    /// Notifies the guards of similar clients that tools have changed.
    pub(super) fn tools_changed(&self, session: &Arc<ClientSession>, message: &[u8]) {
        let all = self.anonymous.lock();
        let is_this = |other: &Arc<ClientSession>| Arc::ptr_eq(other, session);
        let similar = all.values().find(|sessions| sessions.iter().any(is_this));
        for other in similar
            .into_iter()
            .flatten()
            .filter(|other| !is_this(other))
        {
            other.tools_changed(message);
        }
    }

    pub(super) fn ended(&self, caller: &Caller, name: &str) {
        self.known
            .lock()
            .remove(&caller.in_session(name, self.seed));
    }
}

/// The guards of a client. When one is added, clients that have been away for too long are dropped and, if there is
/// no room, the one that has been away for longest; one with a request in progress is kept.
fn entry(clients: &mut Clients, key: u128, now: Instant) -> &mut Vec<Arc<ClientSession>> {
    if !clients.contains_key(&key) {
        let last_usage = |sessions: &[Arc<ClientSession>]| {
            let usage = sessions.iter().map(|session| session.usage());
            usage.map(|(count, last)| (count > 0, last)).max()
        };
        clients.retain(|_, sessions| {
            last_usage(sessions).is_some_and(|(is_used, last)| {
                is_used || now.saturating_duration_since(last) < CLIENT_LIFE
            })
        });
        if clients.len() >= MAX_CLIENTS {
            let oldest = clients.iter().min_by_key(|(_, all)| last_usage(all));
            if let Some(oldest) = oldest.map(|(key, _)| *key) {
                clients.remove(&oldest);
            }
        }
    }
    clients.entry(key).or_default()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hyper::header::HeaderMap;
    use hyper::{Request, Uri};

    use super::*;
    use crate::http::Options;
    use crate::http::headers::SESSION;

    fn sessions() -> ClientSessions {
        let server = GuardedServer::new(&Options::new("http://localhost:1/mcp"));
        ClientSessions::new(Arc::default(), server.expect("a URL"))
    }

    fn caller(session: Option<&str>) -> Caller {
        let mut request = Request::builder();
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        Caller::new(Ipv4Addr::LOCALHOST.into(), &parts, b"{}", None)
    }

    fn begin(sessions: &ClientSessions, caller: &Caller, ids: Vec<String>) -> Option<Exchange> {
        let route = Route {
            headers: HeaderMap::new(),
            endpoint: Uri::from_static("http://localhost:1/mcp"),
        };
        sessions.exchange(caller, route, ids)
    }

    fn client(sessions: &ClientSessions) -> Arc<ClientSession> {
        let guard = Guard::new(Arc::clone(&sessions.settings), "a client");
        ClientSession::new(guard, Arc::clone(&sessions.server))
    }

    #[test]
    fn a_client_is_forgotten_after_a_day_unless_a_request_is_in_progress() {
        let (sessions, mut clients) = (sessions(), Clients::new());
        let now = Instant::now();
        for key in [1, 2] {
            entry(&mut clients, key, now).push(client(&sessions));
        }
        assert!(clients[&2][0].begin(&["7".to_owned()]));
        let almost = now + CLIENT_LIFE.saturating_sub(Duration::from_secs(1));
        entry(&mut clients, 3, almost).push(client(&sessions));
        assert_eq!(clients.len(), 3);
        entry(&mut clients, 4, now + 2 * CLIENT_LIFE);
        let mut left: Vec<u128> = clients.keys().copied().collect();
        left.sort_unstable();
        assert_eq!(left, [2, 4]);
        clients[&2][0].answered("7");
        entry(&mut clients, 5, now + 4 * CLIENT_LIFE);
        assert!(!clients.contains_key(&2));
    }

    #[test]
    fn beyond_the_most_clients_the_one_that_was_away_for_longest_leaves() {
        let (sessions, mut clients) = (sessions(), Clients::new());
        let busy = client(&sessions);
        assert!(busy.begin(&["7".to_owned()]));
        entry(&mut clients, 0, Instant::now()).push(busy);
        for key in 1..MAX_CLIENTS as u128 {
            entry(&mut clients, key, Instant::now()).push(client(&sessions));
        }
        assert_eq!(clients.len(), MAX_CLIENTS);
        entry(&mut clients, u128::MAX, Instant::now()).push(client(&sessions));
        assert_eq!(clients.len(), MAX_CLIENTS);
        assert!(clients.contains_key(&0), "it has a request in progress");
        assert!(!clients.contains_key(&1), "it was away for longest");
        assert!(clients.contains_key(&2));
    }

    #[test]
    fn a_client_has_only_so_many_requests_in_progress() {
        let sessions = sessions();
        let caller = caller(Some("s"));
        sessions.named(&caller, "s", false);
        let many = (0..MAX_IN_PROGRESS).map(|id| id.to_string()).collect();
        let first = begin(&sessions, &caller, many).expect("there is room");
        assert!(begin(&sessions, &caller, vec!["more".to_owned()]).is_none());
        first.session.answered("0");
        assert!(begin(&sessions, &caller, vec!["more".to_owned()]).is_some());
        // A caller outside the session is another client.
        assert!(begin(&sessions, &self::caller(None), vec!["more".to_owned()]).is_some());
    }

    #[test]
    fn clients_that_look_the_same_may_use_an_id_only_so_often_at_once() {
        let (sessions, caller) = (sessions(), caller(None));
        let ids = || vec!["1".to_owned()];
        let same: Vec<Exchange> = (0..MAX_SAME_ID)
            .map(|_| begin(&sessions, &caller, ids()).expect("there is room"))
            .collect();
        assert!(begin(&sessions, &caller, ids()).is_none());
        assert!(begin(&sessions, &caller, vec!["2".to_owned()]).is_some());
        same[9].session.answered("1");
        assert!(begin(&sessions, &caller, ids()).is_some());
    }
}
