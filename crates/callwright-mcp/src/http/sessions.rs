//! Which guard judges a request.
//!
//! A session that the server has named has a guard of its own. Without a name, as in protocols without sessions, clients
//! are told apart by where they come from, what they are and who they say they are; of that only a hash is kept. Such
//! clients may use the same id at the same time, so each id has a guard in which it is under way once; all of them share
//! one ledger.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

use super::exchange::Exchange;
use super::session::{Session, lock};
use crate::guard::Settings;

/// How many clients are remembered. One that is forgotten and comes back has its tools asked for again.
const MOST_CLIENTS: usize = 10_000;

/// How many requests of one id may be under way for clients that cannot be told apart.
const MOST_ALIKE: usize = 256;

type Clients<K> = Mutex<HashMap<K, Vec<Arc<Session>>>>;

/// All guards.
#[derive(Debug)]
pub(crate) struct Sessions {
    settings: Arc<Settings>,
    named: Clients<String>,
    unnamed: Clients<(IpAddr, u128)>,
    /// Makes hashes of credentials of no use to others.
    seed: u64,
}

impl Sessions {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        Sessions {
            settings,
            named: Mutex::default(),
            unnamed: Mutex::default(),
            seed: fastrand::u64(..),
        }
    }

    /// The guard of a named session. The name is as good as a password, so events get a hash of it.
    pub(crate) fn named(&self, name: &str, ids: Vec<String>) -> Exchange {
        let mut named = lock(&self.named);
        make_room(&mut named, name);
        let sessions = named.entry(name.to_owned()).or_insert_with(|| {
            let hash = format!("{:032x}", xxh3_128(name.as_bytes()));
            vec![Arc::new(Session::new(Arc::clone(&self.settings), hash))]
        });
        let session = Arc::clone(&sessions[0]);
        session.begin(&ids);
        Exchange::new(session, ids)
    }

    /// The guard of a client without a session; `None` if too many requests of these ids are under way.
    pub(crate) fn unnamed(&self, from: IpAddr, marks: &[u8], ids: Vec<String>) -> Option<Exchange> {
        let key = (from, xxh3_128_with_seed(marks, self.seed));
        let mut unnamed = lock(&self.unnamed);
        make_room(&mut unnamed, &key);
        let alike = unnamed.entry(key).or_default();
        if let Some(free) = alike.iter().find(|session| session.begin(&ids)) {
            return Some(Exchange::new(Arc::clone(free), ids));
        }
        if alike.len() >= MOST_ALIKE {
            return None;
        }
        let name = format!("{from}-{:08x}", key.1 & 0xffff_ffff);
        let session = Arc::new(Session::new(Arc::clone(&self.settings), name));
        session.begin(&ids);
        alike.push(Arc::clone(&session));
        Some(Exchange::new(session, ids))
    }

    /// Tells guards beside this one that tools have changed.
    pub(crate) fn tools_changed(&self, session: &Arc<Session>, message: &[u8]) {
        let unnamed = lock(&self.unnamed);
        let alike = unnamed
            .values()
            .find(|alike| alike.iter().any(|other| Arc::ptr_eq(other, session)));
        for other in alike.into_iter().flatten() {
            if !Arc::ptr_eq(other, session) {
                other.tools_changed(message);
            }
        }
    }

    /// A session has ended.
    pub(crate) fn ended(&self, name: &str) {
        lock(&self.named).remove(name);
    }
}

/// Forgets who has not been here for longest, if there is no room for one more. Who has a request under way stays.
fn make_room<K, Q>(clients: &mut HashMap<K, Vec<Arc<Session>>>, key: &Q)
where
    K: Hash + Eq + Clone + std::borrow::Borrow<Q>,
    Q: Hash + Eq + ?Sized,
{
    if clients.len() < MOST_CLIENTS || clients.contains_key(key) {
        return;
    }
    let oldest = clients
        .iter()
        .map(|(key, sessions)| (sessions.iter().map(|session| session.usage()).max(), key))
        .min_by_key(|(usage, _)| *usage)
        .map(|(_, key)| key.clone());
    if let Some(Entry::Occupied(oldest)) = oldest.map(|key| clients.entry(key)) {
        oldest.remove();
    }
}
