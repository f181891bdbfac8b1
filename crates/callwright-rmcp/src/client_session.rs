//! Sessions, turns and rounds of a server's clients.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use callwright::admit::{Moment, Place, Rounds};
use callwright::toolbox::Toolbox;
use parking_lot::Mutex;
use rmcp::model::InitializeRequestParams;
use rmcp::service::{Peer, RoleServer};
use tokio::sync::OnceCell;

/// How long a client is silent before its next call begins a new turn. A model in a loop calls every few seconds, and
/// a slow one thinks for a minute; after two, the user has most likely said something.
const DEFAULT_QUIET: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(crate) struct ClientSessions {
    pub(crate) quiet: Duration,
    /// Distinguishes the sessions of this process from those of others that share the ledger.
    seed: u64,
    /// Keyed by the address of the client's `initialize` parameters, which live as long as the connection: the weak
    /// pointer keeps the address from being reused.
    all: Mutex<HashMap<usize, Client>>,
    /// For clients that do not initialise their connection.
    nameless: Arc<ClientSession>,
}

type Client = (Weak<InitializeRequestParams>, Arc<ClientSession>);

/// The tools of a client's server, listed once.
pub(crate) type ToolboxCell = Arc<OnceCell<Arc<Toolbox>>>;

#[derive(Debug)]
pub(crate) struct ClientSession {
    name: String,
    rounds: Mutex<Rounds>,
    tools: Mutex<ToolboxCell>,
}

/// A running call. Calls that begin before it is dropped belong to the same round.
#[derive(Debug)]
pub(crate) struct RunningCall {
    session: Arc<ClientSession>,
    at: Moment,
}

impl Default for ClientSessions {
    fn default() -> Self {
        let seed = fastrand::u64(..);
        ClientSessions {
            quiet: DEFAULT_QUIET,
            seed,
            all: Mutex::default(),
            nameless: Arc::new(ClientSession::new(seed, 0)),
        }
    }
}

impl ClientSessions {
    pub(crate) fn of(&self, peer: &Peer<RoleServer>) -> Arc<ClientSession> {
        let Some(info) = peer.peer_info() else {
            return Arc::clone(&self.nameless);
        };
        let mut all = self.all.lock();
        let at = Arc::as_ptr(&info).addr();
        if let Some((_, session)) = all.get(&at) {
            return Arc::clone(session);
        }
        if all.len() == all.capacity() {
            // Drop the sessions of clients that are gone.
            all.retain(|_, (client, _)| client.strong_count() > 0);
        }
        let session = Arc::new(ClientSession::new(self.seed, fastrand::u64(..)));
        all.insert(at, (Arc::downgrade(&info), Arc::clone(&session)));
        session
    }

    /// Discards the tool lists of all clients.
    pub(crate) fn forget_tools(&self) {
        let all = self.all.lock();
        let sessions = all.values().map(|(_, session)| session);
        for session in sessions.chain([&self.nameless]) {
            session.forget_tools();
        }
    }
}

impl ClientSession {
    fn new(seed: u64, number: u64) -> Self {
        ClientSession {
            name: format!("mcp-{seed:016x}-{number:016x}"),
            rounds: Mutex::default(),
            tools: Mutex::default(),
        }
    }

    /// The tools, or the cell that will hold them once they are listed.
    pub(crate) fn tools(&self) -> ToolboxCell {
        Arc::clone(&self.tools.lock())
    }

    /// Discards the tool list. A call that is listing the tools right now still uses them.
    pub(crate) fn forget_tools(&self) {
        *self.tools.lock() = ToolboxCell::default();
    }

    pub(crate) fn begin(self: &Arc<Self>, quiet: Duration) -> RunningCall {
        RunningCall {
            at: self.rounds.lock().begin(now(), quiet),
            session: Arc::clone(self),
        }
    }
}

impl RunningCall {
    pub(crate) fn place(&self) -> Place<'_> {
        Place {
            session: &self.session.name,
            at: self.at,
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.session.rounds.lock().end(now());
    }
}

/// From Tokio's clock, which tests can pause.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
