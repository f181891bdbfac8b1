//! The connection to a server or a cluster, shared by all steps.
//!
//! Takes a step; returns its result or an error, always within the timeout, even if the server drops the connection,
//! hangs, or sends its reply byte by byte. Steps are pipelined, so ten thousand at once need a single connection.

use std::time::{Duration, Instant};

use callwright::admit::ledger::LedgerAway;
use redis::aio::MultiplexedConnection;
#[cfg(feature = "cluster")]
use redis::cluster::ClusterClient;
#[cfg(feature = "cluster")]
use redis::cluster_async::ClusterConnection;
use redis::{
    AsyncConnectionConfig, Client, FromRedisValue, RedisError, RedisResult, ScriptInvocation,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::breaker::Breaker;
use crate::{RedisSettings, away};

/// Error codes of a server that cannot serve any client at the moment.
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

pub(crate) struct RedisServer {
    client: RedisClient,
    timeout: Duration,
    breaker: Breaker,
    /// The connection and its number; each new one gets the next number.
    connection: Mutex<(u64, Option<RedisConnection>)>,
}

impl std::fmt::Debug for RedisServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Addresses may contain passwords.
        f.write_str("RedisServer")
    }
}

enum RedisClient {
    Single(Box<Client>),
    #[cfg(feature = "cluster")]
    Cluster(Box<ClusterClient>),
}

#[derive(Clone)]
enum RedisConnection {
    Single(MultiplexedConnection),
    #[cfg(feature = "cluster")]
    Cluster(ClusterConnection),
}

impl RedisConnection {
    async fn run<T: FromRedisValue>(&mut self, step: &ScriptInvocation<'_>) -> RedisResult<T> {
        match self {
            RedisConnection::Single(connection) => step.invoke_async(connection).await,
            #[cfg(feature = "cluster")]
            RedisConnection::Cluster(connection) => step.invoke_async(connection).await,
        }
    }
}

impl RedisServer {
    pub(crate) fn single(address: &str, settings: &RedisSettings) -> RedisResult<Self> {
        #[cfg(feature = "tls")]
        let client = if speaks_tls(address) {
            Client::build_with_tls(address, certificates(settings))?
        } else {
            Client::open(address)?
        };
        #[cfg(not(feature = "tls"))]
        let client = Client::open(address)?;
        let client = RedisClient::Single(Box::new(client));
        Ok(RedisServer::to(client, settings))
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn cluster(addresses: &[&str], settings: &RedisSettings) -> RedisResult<Self> {
        let builder = ClusterClient::builder(addresses.iter().copied())
            .connection_timeout(settings.timeout)
            .response_timeout(settings.timeout);
        #[cfg(feature = "tls")]
        let builder = if addresses.iter().any(|address| speaks_tls(address)) {
            builder.certs(certificates(settings))
        } else {
            builder
        };
        let client = Box::new(builder.build()?);
        Ok(RedisServer::to(RedisClient::Cluster(client), settings))
    }

    fn to(client: RedisClient, settings: &RedisSettings) -> Self {
        RedisServer {
            client,
            timeout: settings.timeout,
            breaker: Breaker::new(settings.pause),
            connection: Mutex::default(),
        }
    }

    /// Runs one step.
    pub(crate) async fn run<T: FromRedisValue>(
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
                    // This connection may be stuck, so the next step opens another one.
                    self.connection.lock().await.1 = None;
                }
                Err(LedgerAway(format!("no answer within {:?}", self.timeout)))
            }
        }
    }

    /// Runs a step that no caller waits for; returns whether it succeeded. Never probes an absent server: that is
    /// left to steps with a waiting caller, whose turn it would take.
    pub(crate) async fn run_late(&self, step: &ScriptInvocation<'_>) -> bool {
        self.breaker.is_closed() && self.run::<String>(step).await.is_ok()
    }

    /// Sends a step again if the server closed an idle connection, or died halfway through the step. The step's name
    /// keeps it from being counted twice.
    async fn try_twice<T: FromRedisValue>(&self, step: &ScriptInvocation<'_>) -> RedisResult<T> {
        let (number, mut connection) = self.connection().await?;
        match connection.run(step).await {
            Err(error) if error.is_connection_dropped() => {
                self.forget(number).await;
                let (_, mut connection) = self.connection().await?;
                connection.run(step).await
            }
            result => result,
        }
    }

    /// The connection. While it is being established, all steps wait for the same one.
    async fn connection(&self) -> RedisResult<(u64, RedisConnection)> {
        let mut slot = self.connection.lock().await;
        if let (number, Some(connection)) = &*slot {
            return Ok((*number, connection.clone()));
        }
        let (number, connection) = (slot.0 + 1, self.connect().await?);
        *slot = (number, Some(connection.clone()));
        Ok((number, connection))
    }

    async fn forget(&self, number: u64) {
        let mut slot = self.connection.lock().await;
        if slot.0 == number {
            slot.1 = None;
        }
    }

    async fn connect(&self) -> RedisResult<RedisConnection> {
        match &self.client {
            RedisClient::Single(client) => {
                // The timeout covers the whole step.
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(None)
                    .set_response_timeout(None);
                let connection = client.get_multiplexed_async_connection_with_config(&config);
                connection.await.map(RedisConnection::Single)
            }
            #[cfg(feature = "cluster")]
            RedisClient::Cluster(client) => client
                .get_async_connection()
                .await
                .map(RedisConnection::Cluster),
        }
    }

    /// Reports an error to the breaker. A server that replies is reachable, even if the reply is an error about one
    /// key.
    async fn note(&self, error: &RedisError) {
        let now = Instant::now();
        match error.code() {
            Some(code) if !BUSY.contains(&code) && !error.is_io_error() => {
                self.breaker.answered(now);
            }
            _ => {
                self.breaker.is_away(now);
                self.connection.lock().await.1 = None;
            }
        }
    }
}

#[cfg(feature = "tls")]
fn speaks_tls(address: &str) -> bool {
    matches!(address.split_once("://"), Some(("rediss" | "valkeys", _)))
}

#[cfg(feature = "tls")]
fn certificates(settings: &RedisSettings) -> redis::TlsCertificates {
    // rustls panics without a provider. One that the program has already installed is kept.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let pair = settings.client_certificate.clone();
    redis::TlsCertificates {
        root_cert: settings.root_certificate.clone(),
        client_tls: pair.map(|pair| redis::ClientTlsConfig {
            client_cert: pair.certificate,
            client_key: pair.key,
        }),
    }
}
