//! Sessions on a Redis or Valkey server, shared by all replicas of a gate.
//!
//! Each step is one script that runs on the server: one round trip, and nobody can come in between, so budgets are
//! exact however many processes race for the last unit. Sessions expire. A server that does not answer in time is
//! away, and the policy says what then happens; the next call tries again, but not sooner than after a pause, so that
//! a server that is down costs one waiting call a second and not all of them.
//!
//! One server, or one that others follow: a cluster would move sessions about. Connections are plain blocking ones, kept in a pool. Inside an async runtime, call the gate where blocking is
//! allowed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::{Client, Connection, Script};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Ask, Ledger, LedgerAway, Noted, Reply, Report, Ruling};
use crate::admit::session::Session;

/// Errors of a server that cannot serve anybody at the moment.
const BUSY: [&str; 6] = [
    "LOADING",
    "BUSY",
    "READONLY",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "OOM",
];

/// Ten years in seconds: servers take no lifetime of any length, and nobody resumes such a session.
const LONGEST_LIFETIME: u64 = 10 * 365 * 24 * 60 * 60;

/// How a [`RedisLedger`] reaches its server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisSettings {
    /// What the keys of sessions begin with.
    pub prefix: String,
    /// How long a session is kept after its last call. A day: a conversation that rests over night goes on.
    pub lifetime: Duration,
    /// How long to wait for the server. Long enough for a busy network, short enough to not be felt.
    pub timeout: Duration,
    /// How long to leave a server alone that was away.
    pub pause: Duration,
    /// How many idle connections are kept.
    pub connections: usize,
}

impl Default for RedisSettings {
    fn default() -> Self {
        RedisSettings {
            prefix: "callwright:session:".to_owned(),
            lifetime: Duration::from_secs(24 * 60 * 60),
            timeout: Duration::from_millis(250),
            pause: Duration::from_secs(1),
            connections: 16,
        }
    }
}

/// Keeps sessions on a Redis or Valkey server.
#[derive(Debug)]
pub struct RedisLedger {
    client: Client,
    settings: RedisSettings,
    script: Script,
    pool: Mutex<Pool>,
    failed: AtomicU64,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    away_until: Option<Instant>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("idle", &self.idle.len())
            .field("away_until", &self.away_until)
            .finish()
    }
}

impl RedisLedger {
    /// A ledger on the server at this address, such as `redis://127.0.0.1:6379/0`. Nothing is connected yet.
    ///
    /// # Errors
    /// Fails if the address is none.
    pub fn new(address: &str, settings: RedisSettings) -> Result<Self, LedgerAway> {
        Ok(RedisLedger {
            client: Client::open(address).map_err(away)?,
            settings,
            script: Script::new(include_str!("redis.lua")),
            pool: Mutex::default(),
            failed: AtomicU64::new(0),
        })
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, session: &str) -> String {
        [&self.settings.prefix, session].concat()
    }

    /// Runs one step on the server.
    fn step<A: Serialize>(
        &self,
        session: &str,
        operation: &str,
        argument: &A,
    ) -> Result<String, LedgerAway> {
        let argument = serde_json::to_string(argument).map_err(away)?;
        self.with_connection(|connection| {
            let mut call = self.script.key(self.key(session));
            call.arg(operation).arg(&argument).arg(self.lifetime());
            call.invoke(connection)
        })
    }

    fn lifetime(&self) -> u64 {
        self.settings.lifetime.as_secs().clamp(1, LONGEST_LIFETIME)
    }

    /// How many steps could not be done, because the server was away or answered with an error.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    fn with_connection<T>(
        &self,
        work: impl Fn(&mut Connection) -> redis::RedisResult<T>,
    ) -> Result<T, LedgerAway> {
        if let Some(mut connection) = self.take()? {
            match work(&mut connection) {
                Ok(result) => {
                    self.give_back(connection);
                    return Ok(result);
                }
                // The server may have closed it while it was idle. If it had read the step before, the step is done
                // twice; that a unit too many is spent is the lesser harm.
                Err(error) if error.is_connection_dropped() && !error.is_timeout() => {}
                Err(error) => return Err(self.note(connection, &error)),
            }
        }
        let mut connection = self.connect().map_err(|error| self.note_away(&error))?;
        match work(&mut connection) {
            Ok(result) => {
                self.give_back(connection);
                Ok(result)
            }
            Err(error) => Err(self.note(connection, &error)),
        }
    }

    /// A server that answers is there, even if it answers that one session's key is none of ours.
    fn note(&self, connection: Connection, error: &redis::RedisError) -> LedgerAway {
        let is_there = !error.is_io_error()
            && !error.is_timeout()
            && error.code().is_some_and(|code| !BUSY.contains(&code));
        if is_there {
            self.give_back(connection);
            self.failed.fetch_add(1, Ordering::Relaxed);
            return away(error);
        }
        self.note_away(error)
    }

    /// An idle connection, if there is one and the server is not to be left alone.
    fn take(&self) -> Result<Option<Connection>, LedgerAway> {
        let mut pool = self.pool();
        let now = Instant::now();
        match pool.away_until {
            Some(until) if now < until => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                return Err(LedgerAway("it did not answer a moment ago".to_owned()));
            }
            // This one tries; the others go on leaving it alone until it answers.
            Some(_) => pool.away_until = Some(now + self.settings.pause),
            None => {}
        }
        Ok(pool.idle.pop())
    }

    fn connect(&self) -> redis::RedisResult<Connection> {
        let timeout = self.settings.timeout;
        let connection = self.client.get_connection_with_timeout(timeout)?;
        connection.set_read_timeout(Some(timeout))?;
        connection.set_write_timeout(Some(timeout))?;
        Ok(connection)
    }

    fn give_back(&self, connection: Connection) {
        let mut pool = self.pool();
        pool.away_until = None;
        if pool.idle.len() < self.settings.connections {
            pool.idle.push(connection);
        }
    }

    fn note_away(&self, error: &redis::RedisError) -> LedgerAway {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let mut pool = self.pool();
        pool.away_until = Some(Instant::now() + self.settings.pause);
        pool.idle.clear();
        away(error)
    }
}

fn away(error: impl std::fmt::Display) -> LedgerAway {
    LedgerAway(error.to_string())
}

impl Ledger for RedisLedger {
    fn waits(&self) -> bool {
        true
    }

    fn open(&self, session: &str, ask: &Ask<'_>) -> Result<Ruling, LedgerAway> {
        serde_json::from_str(&self.step(session, "open", ask)?).map_err(away)
    }

    fn close(&self, session: &str, report: &Report<'_>) -> Result<Noted, LedgerAway> {
        serde_json::from_str(&self.step(session, "close", report)?).map_err(away)
    }

    fn answer(&self, session: &str, reply: &Reply) -> Result<(), LedgerAway> {
        self.step(session, "answer", reply).map(drop)
    }

    fn save(&self, session: &str) -> Result<Option<Session>, LedgerAway> {
        let key = self.key(session);
        let fields: Vec<(String, String)> =
            self.with_connection(|connection| redis::cmd("HGETALL").arg(&key).query(connection))?;
        if fields.is_empty() {
            return Ok(None);
        }
        let (mut whole, mut entries, mut tools) = (Map::new(), Map::new(), Map::new());
        for (field, text) in fields {
            let value: Value = serde_json::from_str(&text).map_err(away)?;
            match (field.split_at_checked(2), value) {
                (Some(("e:", fingerprint)), value) => {
                    entries.insert(fingerprint.to_owned(), value);
                }
                (Some(("t:", tool)), value) => {
                    tools.insert(tool.to_owned(), value);
                }
                (_, Value::Object(head)) => whole.extend(head),
                _ => {}
            }
        }
        whole.insert("entries".to_owned(), entries.into());
        whole.insert("tools".to_owned(), tools.into());
        serde_json::from_value(whole.into()).map(Some).map_err(away)
    }

    fn resume(&self, session: &str, saved: Session) -> Result<(), LedgerAway> {
        let Value::Object(mut whole) = serde_json::to_value(saved).map_err(away)? else {
            return Ok(());
        };
        let mut fields = Vec::new();
        for (prefix, map) in [
            ("e:", whole.remove("entries")),
            ("t:", whole.remove("tools")),
        ] {
            for (name, value) in map
                .as_ref()
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                fields.push(([prefix, name].concat(), value.to_string()));
            }
        }
        fields.push(("head".to_owned(), Value::Object(whole).to_string()));
        let key = self.key(session);
        self.with_connection(|connection| {
            redis::pipe()
                .atomic()
                .del(&key)
                .hset_multiple(&key, &fields)
                .expire(&key, i64::try_from(self.lifetime()).unwrap_or(i64::MAX))
                .exec(connection)
        })
    }
}
