//! A [`Ledger`] on a Redis or Valkey server, shared by all replicas of a gate.
//!
//! Each step is one script that runs on the server: a single, atomic round trip, so budgets are exact however many
//! processes compete for the last unit. The server remembers recent steps by name, so a step whose reply was lost can
//! be sent again without being counted twice. Sessions expire.
//!
//! A step that times out fails, and the gate's policy decides whether the call then runs uncounted. The connection,
//! and the pause after a failure, are in `server`.
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod breaker;
mod server;

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use callwright::admit::ledger::{Ask, LedgerAway, Noted, Report, Ruling};
use callwright::admit::{Ledger, Reply, Session};
use redis::{FromRedisValue, Script};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use self::server::RedisServer;

/// Ten years in seconds: servers limit how far ahead an expiry may be, and no session is resumed after so long.
const LONGEST_LIFETIME: u64 = 10 * 365 * 24 * 60 * 60;

/// How many times a failed step is retried in the background, with a pause before each attempt. A server that is gone
/// for longer has been restarted, and has its sessions from disk or not at all.
const LATE_TRIES: u32 = 10;

/// How many failed steps are retried at a time: a burst of calls. Each takes about a kilobyte.
const MOST_LATE: usize = 10_000;

/// How a [`RedisLedger`] reaches its server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisSettings {
    /// The prefix of session keys.
    pub prefix: String,
    /// How long a session is kept after its last call. A day by default, so that a conversation can continue the next
    /// morning.
    pub lifetime: Duration,
    /// How long a whole step may take, including connecting and one retry. One second by default: calls that must be
    /// counted are refused after that, so it leaves room for a burst of ten thousand calls.
    pub timeout: Duration,
    /// How long to wait before trying an unreachable server again.
    pub pause: Duration,
    /// The certificate of the authority that signed the server's certificate, in PEM format, for `rediss://`
    /// addresses. With `None`, the system's authorities are trusted.
    #[cfg(feature = "tls")]
    pub root_certificate: Option<Vec<u8>>,
    /// The client certificate, for servers that require one.
    #[cfg(feature = "tls")]
    pub client_certificate: Option<ClientCertificate>,
}

/// A certificate and its key, in PEM format.
#[cfg(feature = "tls")]
#[derive(Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the two parts")]
pub struct ClientCertificate {
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
}

#[cfg(feature = "tls")]
impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientCertificate")
    }
}

impl Default for RedisSettings {
    fn default() -> Self {
        RedisSettings {
            prefix: "callwright:session:".to_owned(),
            lifetime: Duration::from_secs(24 * 60 * 60),
            timeout: Duration::from_secs(1),
            pause: Duration::from_secs(1),
            #[cfg(feature = "tls")]
            root_certificate: None,
            #[cfg(feature = "tls")]
            client_certificate: None,
        }
    }
}

/// Keeps sessions on a Redis or Valkey server.
///
/// A separate thread talks to the server; the caller of a step waits for it.
#[derive(Debug)]
pub struct RedisLedger {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    server: Arc<RedisServer>,
    script: Arc<Script>,
    prefix: String,
    lifetime: u64,
    pause: Duration,
    late_slots: Arc<Semaphore>,
    /// The prefix of this ledger's step names, and how many steps there were.
    name: u64,
    steps: AtomicU64,
    failed: AtomicU64,
}

impl RedisLedger {
    /// A ledger on the server at this address, such as `redis://127.0.0.1:6379/0`, or `rediss://` with the feature
    /// `tls`. It connects when it is first used.
    ///
    /// # Errors
    /// Fails if the address is not valid.
    pub fn new(address: &str, settings: RedisSettings) -> Result<Self, LedgerAway> {
        let server = RedisServer::single(address, &settings).map_err(away)?;
        RedisLedger::on(server, settings)
    }

    /// A ledger on a cluster, given the addresses of some of its nodes. Each session lives on one node.
    ///
    /// # Errors
    /// Fails if an address is not valid.
    #[cfg(feature = "cluster")]
    pub fn cluster(addresses: &[&str], settings: RedisSettings) -> Result<Self, LedgerAway> {
        let server = RedisServer::cluster(addresses, &settings).map_err(away)?;
        RedisLedger::on(server, settings)
    }

    fn on(server: RedisServer, settings: RedisSettings) -> Result<Self, LedgerAway> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("callwright-redis")
            .enable_all()
            .build()
            .map_err(away)?;
        Ok(RedisLedger {
            runtime: Some(runtime),
            server: Arc::new(server),
            script: Arc::new(Script::new(include_str!("session.lua"))),
            prefix: settings.prefix,
            lifetime: settings.lifetime.as_secs().clamp(1, LONGEST_LIFETIME),
            pause: settings.pause,
            late_slots: Arc::new(Semaphore::new(MOST_LATE)),
            // Random: different in each process and for each ledger.
            name: std::hash::RandomState::new().hash_one(std::process::id()),
            steps: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        })
    }

    /// How many steps failed because the server could not be reached or replied with an error.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Runs one step on the server. If it fails, it is made up for in the background.
    fn step<T: FromRedisValue + Send + 'static>(
        &self,
        session: &str,
        operation: &'static str,
        argument: &impl Serialize,
        late: Option<Late>,
    ) -> Result<T, LedgerAway> {
        let argument = serde_json::to_string(argument).map_err(away)?;
        let number = self.steps.fetch_add(1, Ordering::Relaxed);
        let step = format!("{:016x}-{number:x}", self.name);
        let key = [&self.prefix, session].concat();
        let (server, script) = (Arc::clone(&self.server), Arc::clone(&self.script));
        let (lifetime, pause) = (self.lifetime, self.pause);
        let late_slots = Arc::clone(&self.late_slots);
        let (done, wait) = mpsc::sync_channel(1);
        let Some(runtime) = &self.runtime else {
            return Err(LedgerAway("it is shut down".to_owned()));
        };
        runtime.spawn(async move {
            let call = |operation: &str, step: &str| {
                let mut call = script.key(&key);
                call.arg(operation).arg(&argument).arg(lifetime).arg(step);
                call
            };
            let result = server.run(&call(operation, &step)).await;
            let late = late.filter(|_| result.is_err());
            // The caller may be gone.
            let _ = done.send(result);
            let (Some(late), Ok(_slot)) = (late, late_slots.try_acquire()) else {
                return;
            };
            let late = match late {
                Late::Again => call(operation, &step),
                Late::Withdraw => call("withdraw", &format!("{step}/withdraw")),
            };
            for _ in 0..LATE_TRIES {
                sleep(pause).await;
                if server.run_late(&late).await {
                    return;
                }
            }
        });
        wait.recv().map_err(away)?.inspect_err(|_| {
            self.failed.fetch_add(1, Ordering::Relaxed);
        })
    }
}

/// How to make up for a failed step, which the server may have run or may still run.
enum Late {
    /// Run the same step again: its name makes it count once.
    Again,
    /// Withdraw it: the call did not run, so it must not count.
    Withdraw,
}

impl Drop for RedisLedger {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting for its thread is not allowed inside another runtime.
            runtime.shutdown_background();
        }
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
        // A call that is refused anyway still counts if it reaches the server.
        let must_count = !ask.runs_uncounted && ask.refused.is_none();
        let late = must_count.then_some(Late::Withdraw);
        let text: String = self.step(session, "open", ask, late)?;
        serde_json::from_str(&text).map_err(away)
    }

    fn close(&self, session: &str, report: &Report<'_>) -> Result<Noted, LedgerAway> {
        let text: String = self.step(session, "close", report, Some(Late::Again))?;
        serde_json::from_str(&text).map_err(away)
    }

    fn answer(&self, session: &str, reply: &Reply) -> Result<(), LedgerAway> {
        self.step::<String>(session, "answer", reply, None)
            .map(drop)
    }

    fn save(&self, session: &str) -> Result<Option<Session>, LedgerAway> {
        let fields: Vec<(String, String)> = self.step(session, "save", &(), None)?;
        let (mut whole, mut entries, mut tools) = (None, Map::new(), Map::new());
        let mut pending = BTreeMap::new();
        for (field, text) in fields {
            let part = || serde_json::from_str::<Value>(&text).map_err(away);
            match field.split_at_checked(2) {
                Some(("e:", fingerprint)) => {
                    entries.insert(fingerprint.to_owned(), part()?);
                }
                Some(("t:", tool)) => {
                    tools.insert(tool.to_owned(), part()?);
                }
                Some(("p:", number)) => {
                    pending.insert(number.parse::<u32>().map_err(away)?, part()?);
                }
                _ if field == "head" => whole = Some(part()?),
                // Remembered steps are not part of a saved session.
                _ => {}
            }
        }
        let Some(Value::Object(mut whole)) = whole else {
            return Ok(None);
        };
        whole.insert("entries".to_owned(), entries.into());
        whole.insert("tools".to_owned(), tools.into());
        whole.insert("pending".to_owned(), pending.into_values().collect());
        serde_json::from_value(whole.into()).map(Some).map_err(away)
    }

    fn resume(&self, session: &str, saved: Session) -> Result<(), LedgerAway> {
        let Value::Object(mut whole) = serde_json::to_value(saved).map_err(away)? else {
            return Ok(());
        };
        let mut fields = Vec::new();
        for (prefix, part) in [("e:", "entries"), ("t:", "tools")] {
            if let Some(Value::Object(map)) = whole.remove(part) {
                let field =
                    |(name, value): (String, Value)| ([prefix, &name].concat(), value.to_string());
                fields.extend(map.into_iter().map(field));
            }
        }
        let pending = match whole.remove("pending") {
            Some(Value::Array(pending)) => pending,
            _ => Vec::new(),
        };
        whole.insert("pending".to_owned(), pending.len().into());
        let numbered = (1..).zip(&pending);
        fields.extend(numbered.map(|(number, it)| (format!("p:{number}"), it.to_string())));
        fields.push(("head".to_owned(), Value::Object(whole).to_string()));
        self.step::<String>(session, "resume", &fields, None)
            .map(drop)
    }
}
