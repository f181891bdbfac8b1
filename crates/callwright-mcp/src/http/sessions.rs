//! Which guard judges a request.
//!
//! A session that the server has named has a guard of its own, which remembers its calls: one for each login that uses
//! the name, so that a name that was stolen or made up shows nothing of the other's. The same goes for conversations by a
//! header that the operator has named. Of all other requests no call is remembered, since nothing tells whose they are:
//! their guards only know the list of tools, and only for requests that are alike in everything that may be a login. Such
//! clients may use the same id at the same time, so each id has a guard in which it is in progress once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};

use super::caller::Caller;
use super::exchange::Exchange;
use super::session::{Session, lock};
use crate::guard::{Guard, Settings};

/// How many clients are remembered. One that is forgotten and comes back has its tools asked for again.
const MOST_CLIENTS: usize = 10_000;

/// How many requests of one id may be in progress for clients that cannot be told apart.
const MOST_ALIKE: usize = 256;

type Clients = Mutex<HashMap<u128, Vec<Arc<Session>>>>;

/// All guards.
#[derive(Debug)]
pub(crate) struct Sessions {
    settings: Arc<Settings>,
    /// Guards that remember calls.
    known: Clients,
    /// Guards that do not.
    alike: Clients,
    /// Makes hashes of credentials useless to others.
    seed: u64,
}

impl Sessions {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        Sessions {
            settings,
            known: Mutex::default(),
            alike: Mutex::default(),
            seed: fastrand::u64(..),
        }
    }

    /// The guard of a request; `None` if too many requests of these ids are in progress.
    pub(crate) fn of(&self, caller: &Caller, ids: Vec<String>) -> Option<Exchange> {
        let mut known = lock(&self.known);
        let named = caller
            .session()
            .map(|name| caller.in_session(name, self.seed));
        let session = match (
            named.and_then(|key| known.get(&key)),
            caller.in_own_session(self.seed),
        ) {
            (Some(sessions), _) => sessions.first().cloned(),
            (None, Some(key)) => {
                make_room(&mut known, key);
                let sessions = known.entry(key).or_insert_with(|| self.remembering(key));
                sessions.first().cloned()
            }
            (None, None) => None,
        };
        drop(known);
        let Some(session) = session else {
            return self.forgetful(caller, ids);
        };
        session.begin(&ids);
        Some(Exchange::new(session, ids))
    }

    /// The server names a session in answer to a caller: from now on its calls are remembered. `elicits` if its client can
    /// ask the user.
    pub(crate) fn named(&self, caller: &Caller, name: &str, elicits: bool) {
        let key = caller.in_session(name, self.seed);
        let mut known = lock(&self.known);
        make_room(&mut known, key);
        let sessions = known.entry(key).or_insert_with(|| self.remembering(key));
        if let Some(session) = sessions.first().filter(|_| elicits) {
            session.elicits();
        }
    }

    /// The name of a session is as good as a password, so events get a hash of it.
    fn remembering(&self, key: u128) -> Vec<Arc<Session>> {
        let guard = Guard::new(Arc::clone(&self.settings), format!("{key:032x}"));
        vec![Arc::new(Session::new(guard))]
    }

    fn forgetful(&self, caller: &Caller, ids: Vec<String>) -> Option<Exchange> {
        let key = caller.alike(self.seed);
        let mut all = lock(&self.alike);
        make_room(&mut all, key);
        let alike = all.entry(key).or_default();
        if let Some(free) = alike.iter().find(|session| session.begin(&ids)) {
            return Some(Exchange::new(Arc::clone(free), ids));
        }
        if alike.len() >= MOST_ALIKE {
            return None;
        }
        let name = format!("{}-{:08x}", caller.from, key & 0xffff_ffff);
        let guard = Guard::forgetful(Arc::clone(&self.settings), name);
        let session = Arc::new(Session::new(guard));
        session.begin(&ids);
        alike.push(Arc::clone(&session));
        Some(Exchange::new(session, ids))
    }

    /// Tells guards beside this one that tools have changed.
    pub(crate) fn tools_changed(&self, session: &Arc<Session>, message: &[u8]) {
        let all = lock(&self.alike);
        let alike = all
            .values()
            .find(|alike| alike.iter().any(|other| Arc::ptr_eq(other, session)));
        for other in alike.into_iter().flatten() {
            if !Arc::ptr_eq(other, session) {
                other.tools_changed(message);
            }
        }
    }

    /// A session has ended.
    pub(crate) fn ended(&self, caller: &Caller, name: &str) {
        lock(&self.known).remove(&caller.in_session(name, self.seed));
    }
}

/// Forgets the client that has not been here for longest, if there is no room for one more. One with a request in
/// progress stays.
fn make_room(clients: &mut HashMap<u128, Vec<Arc<Session>>>, key: u128) {
    if clients.len() < MOST_CLIENTS || clients.contains_key(&key) {
        return;
    }
    let oldest = clients
        .iter()
        .map(|(key, sessions)| (sessions.iter().map(|session| session.usage()).max(), *key))
        .min_by_key(|(usage, _)| *usage)
        .map(|(_, key)| key);
    if let Some(Entry::Occupied(oldest)) = oldest.map(|key| clients.entry(key)) {
        oldest.remove();
    }
}
