//! The way to a server, or to the nodes of a cluster: one connection that all steps share.
//!
//! Takes a step; returns its result, or why it has none, within the time-out whatever the server does: drop the
//! connection, hang, or send its reply byte by byte. Steps are sent one behind the other without waiting for replies,
//! so ten thousand at once need one connection.

use std::time::{Duration, Instant};

use ::redis::aio::MultiplexedConnection;
#[cfg(feature = "redis-cluster")]
use ::redis::cluster::ClusterClient;
#[cfg(feature = "redis-cluster")]
use ::redis::cluster_async::ClusterConnection;
use ::redis::{
    AsyncConnectionConfig, Client, FromRedisValue, RedisError, RedisResult, ScriptInvocation,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::breaker::Breaker;
use super::{LedgerAway, RedisSettings, away};

/// Errors of a server that cannot serve anyone at the moment.
const BUSY: [&str; 8] = [
    "LOADING",
    "BUSY",
    "READONLY",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "NOREPLICAS",
    "MISCONF",
    "OOM",
];

#[derive(Debug)]
pub(super) struct Server {
    target: Target,
    timeout: Duration,
    breaker: Breaker,
    /// The connection, with a number that tells it from the next.
    link: Mutex<(u64, Option<Link>)>,
}

enum Target {
    Single(Box<Client>),
    #[cfg(feature = "redis-cluster")]
    Cluster(Box<ClusterClient>),
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Addresses may hold passwords.
        f.write_str(match self {
            Target::Single(_) => "Single",
            #[cfg(feature = "redis-cluster")]
            Target::Cluster(_) => "Cluster",
        })
    }
}

#[derive(Clone)]
enum Link {
    Single(MultiplexedConnection),
    #[cfg(feature = "redis-cluster")]
    Cluster(ClusterConnection),
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Link")
    }
}

impl Link {
    async fn run<T: FromRedisValue>(&mut self, step: &ScriptInvocation<'_>) -> RedisResult<T> {
        match self {
            Link::Single(connection) => step.invoke_async(connection).await,
            #[cfg(feature = "redis-cluster")]
            Link::Cluster(connection) => step.invoke_async(connection).await,
        }
    }
}

impl Server {
    pub(super) fn single(address: &str, settings: &RedisSettings) -> RedisResult<Self> {
        #[cfg(feature = "redis-tls")]
        if speaks_tls(address) {
            let client = Client::build_with_tls(address, certificates(settings))?;
            return Ok(Server::to(Target::Single(Box::new(client)), settings));
        }
        let client = Client::open(address)?;
        Ok(Server::to(Target::Single(Box::new(client)), settings))
    }

    #[cfg(feature = "redis-cluster")]
    pub(super) fn cluster(addresses: &[&str], settings: &RedisSettings) -> RedisResult<Self> {
        let builder = ClusterClient::builder(addresses.iter().copied())
            .connection_timeout(settings.timeout)
            .response_timeout(settings.timeout);
        #[cfg(feature = "redis-tls")]
        let builder = if addresses.iter().any(|address| speaks_tls(address)) {
            builder.certs(certificates(settings))
        } else {
            builder
        };
        let client = Box::new(builder.build()?);
        Ok(Server::to(Target::Cluster(client), settings))
    }

    fn to(target: Target, settings: &RedisSettings) -> Self {
        Server {
            target,
            timeout: settings.timeout,
            breaker: Breaker::new(settings.pause),
            link: Mutex::default(),
        }
    }

    /// Takes one step.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        step: &ScriptInvocation<'_>,
    ) -> Result<T, LedgerAway> {
        let began = Instant::now();
        if !self.breaker.allows(began) {
            return Err(LedgerAway("it did not answer a moment ago".to_owned()));
        }
        match timeout(self.timeout, self.try_twice(step)).await {
            Ok(Ok(result)) => {
                self.breaker.answered(Instant::now());
                Ok(result)
            }
            Ok(Err(error)) => {
                self.note(&error).await;
                Err(away(error))
            }
            Err(_) => {
                if self.breaker.timed_out(began, Instant::now()) {
                    // The next step tries on another connection: this one may be stuck.
                    self.link.lock().await.1 = None;
                }
                Err(LedgerAway(format!("no answer within {:?}", self.timeout)))
            }
        }
    }

    /// The server may have closed a connection that was idle, or died with the step half done: then the step is sent
    /// again on another. Its name keeps it from being counted twice.
    async fn try_twice<T: FromRedisValue>(&self, step: &ScriptInvocation<'_>) -> RedisResult<T> {
        let (number, mut link) = self.link().await?;
        match link.run(step).await {
            Err(error) if error.is_connection_dropped() => {
                self.forget(number).await;
                let (_, mut link) = self.link().await?;
                link.run(step).await
            }
            result => result,
        }
    }

    /// The connection; all that ask for it while there is none wait for the same one.
    async fn link(&self) -> RedisResult<(u64, Link)> {
        let mut slot = self.link.lock().await;
        if let (number, Some(link)) = &*slot {
            return Ok((*number, link.clone()));
        }
        let (number, link) = (slot.0 + 1, self.connect().await?);
        *slot = (number, Some(link.clone()));
        Ok((number, link))
    }

    async fn forget(&self, number: u64) {
        let mut slot = self.link.lock().await;
        if slot.0 == number {
            slot.1 = None;
        }
    }

    async fn connect(&self) -> RedisResult<Link> {
        match &self.target {
            Target::Single(client) => {
                // One time-out is for the whole step.
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(None)
                    .set_response_timeout(None);
                let connection = client.get_multiplexed_async_connection_with_config(&config);
                connection.await.map(Link::Single)
            }
            #[cfg(feature = "redis-cluster")]
            Target::Cluster(client) => client.get_async_connection().await.map(Link::Cluster),
        }
    }

    /// A server that answers is there, even if it answers that one session's key is not ours.
    async fn note(&self, error: &RedisError) {
        let now = Instant::now();
        match error.code() {
            Some(code) if !BUSY.contains(&code) && !error.is_io_error() => {
                self.breaker.answered(now);
            }
            _ => {
                self.breaker.is_away(now);
                self.link.lock().await.1 = None;
            }
        }
    }
}

#[cfg(feature = "redis-tls")]
fn speaks_tls(address: &str) -> bool {
    matches!(address.split_once("://"), Some(("rediss" | "valkeys", _)))
}

#[cfg(feature = "redis-tls")]
fn certificates(settings: &RedisSettings) -> ::redis::TlsCertificates {
    // Without a provider rustls panics. One that the program has installed stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let pair = settings.client_certificate.clone();
    ::redis::TlsCertificates {
        root_cert: settings.root_certificate.clone(),
        client_tls: pair.map(|pair| ::redis::ClientTlsConfig {
            client_cert: pair.certificate,
            client_key: pair.key,
        }),
    }
}
