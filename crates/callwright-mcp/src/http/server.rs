//! Connections of clients, and the end of it all.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::relay::{Shared, relay};
use super::sessions::Sessions;
use super::upstream::Upstream;
use super::{HttpError, Options};
use crate::guard::Settings;

/// How many connections there may be. A client has two or three.
const MOST_CONNECTIONS: usize = 4_096;

/// How long a client may take to say what it wants.
const LONGEST_HEADERS: Duration = Duration::from_secs(30);

/// How long to wait when the machine has no room for a connection.
const BREATH: Duration = Duration::from_millis(100);

/// Asks the system for as many open files as a full house needs; many systems give a process 1,024 unless it asks. For
/// programs, which call it once when they start: it holds for the whole process.
pub fn make_room() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        // One to the client and one to the server each, and some of our own.
        let wanted = 2 * MOST_CONNECTIONS as u64 + 256;
        let mut limit = getrlimit(Resource::Nofile);
        let most = limit.maximum.map_or(wanted, |most| most.min(wanted));
        if limit.current.is_some_and(|current| current < most) {
            limit.current = Some(most);
            // Without it, who comes too late waits until others have gone.
            let _refused = setrlimit(Resource::Nofile, limit);
        }
    }
}

/// Guards a server until `shutdown`. Then nobody new comes in, calls under way have [`Options::finish`] to come to
/// their end, and streams that have none are ended.
///
/// # Errors
///
/// If the address of the server is none, or if other machines can reach the listener and nobody said that they may.
pub async fn serve(
    listener: TcpListener,
    options: Options,
    settings: Arc<Settings>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), HttpError> {
    let at = listener.local_addr()?;
    if !at.ip().is_loopback() && !options.allow_remote {
        return Err(HttpError::Remote(at));
    }
    let (end, ending) = watch::channel(false);
    let finish = options.finish;
    let session_header = match &options.session_header {
        Some(name) => Some(name.parse().map_err(|_| HttpError::Header(name.clone()))?),
        None => None,
    };
    let shared = Arc::new(Shared {
        upstream: Upstream::new(&options)?,
        sessions: Sessions::new(settings),
        session_header,
        options,
        ending,
    });
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = async {
            let place = Arc::clone(&room).acquire_owned().await;
            (listener.accept().await, place)
        };
        tokio::select! {
            () = &mut shutdown => break,
            // Those that have ended.
            Some(_) = connections.join_next() => {}
            (accepted, place) = accepted => match accepted {
                Ok((stream, from)) => {
                    let shared = Arc::clone(&shared);
                    connections.spawn(async move {
                        connection(shared, stream, from).await;
                        drop(place);
                    });
                }
                // Too many open files, or a client that has gone already.
                Err(_) => sleep(BREATH).await,
            },
        }
    }
    drop(listener);
    end.send_replace(true);
    // What has not ended by then is cut off, when the set is dropped.
    let all = async { while connections.join_next().await.is_some() {} };
    let _cut = timeout(finish, all).await;
    Ok(())
}

async fn connection(shared: Arc<Shared>, stream: TcpStream, from: SocketAddr) {
    // Small messages go out at once; where that cannot be set, they go out later.
    let _later = stream.set_nodelay(true);
    let mut ending = shared.ending.clone();
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(relay(shared, from.ip(), request).await) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(LONGEST_HEADERS)
            .serve_connection(TokioIo::new(stream), service)
    );
    let is_over = tokio::select! {
        _ = connection.as_mut() => true,
        _ = ending.wait_for(|ending| *ending) => false,
    };
    if !is_over {
        connection.as_mut().graceful_shutdown();
        // However it ends, there is nobody to tell.
        let _ended = connection.await;
    }
}
