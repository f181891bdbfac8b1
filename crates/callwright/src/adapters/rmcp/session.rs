//! Which client calls, and when: sessions, turns and rounds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use rmcp::model::InitializeRequestParams;
use rmcp::service::{Peer, RoleServer};
use tokio::sync::OnceCell;

use crate::admit::{Moment, Place, Rounds};
use crate::toolbox::Toolbox;

/// How long a client is silent before its next call counts as a new turn. A model that goes round in circles calls
/// every few seconds, and a slow one thinks for a minute; who comes back later has most likely been told something.
pub(super) const USUAL_QUIET: Duration = Duration::from_secs(120);

/// The clients of one server.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) quiet: Duration,
    /// Tells sessions of this process apart from those of others.
    seed: u64,
    /// By the place in memory of what a client said of itself, which is taken as long as somebody may ask for it.
    all: Mutex<AHashMap<usize, Client>>,
    /// For clients that do not initialise a connection.
    nameless: Arc<Session>,
}

type Client = (Weak<InitializeRequestParams>, Arc<Session>);

/// The tools that a client was told about, read once.
pub(super) type Tools = Arc<OnceCell<Arc<Toolbox>>>;

/// One client.
#[derive(Debug)]
pub(super) struct Session {
    name: String,
    rounds: Mutex<Rounds>,
    tools: Mutex<Tools>,
}

/// A call under way: as long as it is there, other calls belong to the same round.
#[derive(Debug)]
pub(super) struct Beat {
    session: Arc<Session>,
    at: Moment,
}

impl Default for Sessions {
    fn default() -> Self {
        let seed = fastrand::u64(..);
        Sessions {
            quiet: USUAL_QUIET,
            seed,
            all: Mutex::default(),
            nameless: Arc::new(Session::new(seed, 0)),
        }
    }
}

impl Sessions {
    /// The session of a client.
    pub(super) fn of(&self, peer: &Peer<RoleServer>) -> Arc<Session> {
        let Some(info) = peer.peer_info() else {
            return Arc::clone(&self.nameless);
        };
        let mut all = lock(&self.all);
        let at = Arc::as_ptr(&info).addr();
        if let Some((_, session)) = all.get(&at) {
            return Arc::clone(session);
        }
        if all.len() == all.capacity() {
            // Clients that are gone make room.
            all.retain(|_, (client, _)| client.strong_count() > 0);
        }
        let session = Arc::new(Session::new(self.seed, fastrand::u64(..)));
        all.insert(at, (Arc::downgrade(&info), Arc::clone(&session)));
        session
    }

    /// Forgets which tools there are, for all clients.
    pub(super) fn forget_tools(&self) {
        let all = lock(&self.all);
        let sessions = all.values().map(|(_, session)| session);
        for session in sessions.chain([&self.nameless]) {
            session.forget_tools();
        }
    }
}

impl Session {
    fn new(seed: u64, number: u64) -> Self {
        Session {
            name: format!("mcp-{seed:016x}-{number:016x}"),
            rounds: Mutex::default(),
            tools: Mutex::default(),
        }
    }

    /// The tools, or the place where they will be once somebody has read them.
    pub(super) fn tools(&self) -> Tools {
        Arc::clone(&lock(&self.tools))
    }

    /// Forgets which tools there are. Whoever reads them at this moment uses them once.
    pub(super) fn forget_tools(&self) {
        *lock(&self.tools) = Tools::default();
    }

    /// A call begins.
    pub(super) fn begin(self: &Arc<Self>, quiet: Duration) -> Beat {
        Beat {
            at: lock(&self.rounds).begin(now(), quiet),
            session: Arc::clone(self),
        }
    }
}

impl Beat {
    /// Where in the session the call stands.
    pub(super) fn place(&self) -> Place<'_> {
        Place {
            session: &self.session.name,
            at: self.at,
        }
    }
}

impl Drop for Beat {
    fn drop(&mut self) {
        lock(&self.session.rounds).end(now());
    }
}

/// By Tokio's clock, which tests can stop.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Nothing here panics while it holds a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
