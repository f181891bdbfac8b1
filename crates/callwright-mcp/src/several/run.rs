//! All servers of a group, from the start to the end.
//!
//! They are started at once, and watched over until they have ended: signals are passed on, and when the client has ended
//! all of them are asked to end, then told, then made to. One that ends before is told to the client, and the others go
//! on.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};

use super::door::{Door, Way};
use super::group::{Group, Member};
use super::process::{Heard, Started, start};
use super::router::Router;
use super::session::{Errand, Happened, Link, Session};
use crate::config::Server;
use crate::guard::{Guard, Settings};
use crate::lane::Lane;
use crate::last_words::LastWords;
use crate::process::Signal;
use crate::signals::Signals;
use crate::stdio::{
    Ended, FIRST_REQUEST, NOT_STARTED, TO_END, TO_TERMINATE, our_ends, session_name, until,
};

type Warn = Arc<dyn Fn(&str) + Send + Sync>;

/// Stands between our own stdin and stdout and several servers, until the client ends or no server is left. `warn` is
/// told what the operator should know.
///
/// A thread that waits for our stdin is left behind, so the process should end afterwards.
///
/// # Errors
/// Fails if the system gives no pipes, threads or signals.
pub fn run(
    settings: Arc<Settings>,
    group: &Group,
    warn: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(guard_all(settings, group, Arc::new(warn)))
}

/// A server that there is a way to, but nobody has talked to yet.
enum Fresh {
    Process(Box<Started>, io::PipeReader, io::PipeReader),
    #[cfg(feature = "http")]
    Web(Box<super::web::Web>, super::web::Blocking),
    /// There is none.
    Gone(String),
}

async fn guard_all(settings: Arc<Settings>, group: &Group, warn: Warn) -> io::Result<Ended> {
    let signals = Signals::new()?;
    let (client, to_client) = our_ends()?;
    let (happened, events) = unbounded_channel();
    let (errands, to_do) = mpsc::channel();
    let mut links = Vec::with_capacity(group.members.len());
    let mut fresh = Vec::with_capacity(group.members.len());
    for member in &group.members {
        let (server, way) = open(member, &warn)?;
        links.push(Link {
            label: member.name.clone(),
            door: way.map_or_else(|| Ok(Door::nowhere()), Door::new)?,
            is_process: matches!(server, Fresh::Process(..)),
            restarts: AtomicUsize::new(0),
            is_waited_for: AtomicBool::new(false),
            last_words: LastWords::default(),
        });
        fresh.push(server);
    }
    let session = Arc::new(Session {
        guard: Guard::new(settings, session_name()),
        router: Router::new(group, Instant::now()),
        to_client: Lane::new(to_client),
        servers: links,
        happened,
        warn,
        lost: AtomicUsize::new(0),
        is_ending: AtomicBool::new(false),
        has_heard_all: AtomicBool::new(false),
        busy: AtomicUsize::new(0),
    });
    let mut watch = Watch {
        session: Arc::clone(&session),
        events,
        signals,
        errands,
        members: group.members.clone(),
        orders: Vec::new(),
        running: 0,
        client_ended: false,
        has_answered: false,
        is_ticking: false,
    };
    spawn("callwright-late", &session, move |session| {
        session.run_errands(&to_do);
    })?;
    for (server, (fresh, member)) in fresh.into_iter().zip(&group.members).enumerate() {
        if !matches!(fresh, Fresh::Gone(_)) {
            spawn("callwright-to", &session, move |session| {
                if let Some(link) = session.servers.get(server) {
                    link.door.run();
                }
            })?;
        }
        watch.begin(server, &member.name, fresh)?;
    }
    spawn("callwright-client", &session, |session| {
        session.hear_client(client);
    })?;
    watch.until_the_end().await
}

/// The way to a server, which is started for it if need be.
#[cfg_attr(
    not(feature = "http"),
    allow(unused_variables, reason = "only HTTP has warnings")
)]
fn open(member: &Member, warn: &Warn) -> io::Result<(Fresh, Option<Way>)> {
    match &member.server {
        Server::Command { .. } => Ok(match start(member)? {
            Ok((started, way, outputs)) => {
                let fresh = Fresh::Process(Box::new(started), outputs.stdout, outputs.stderr);
                (fresh, Some(way))
            }
            Err(why) => (Fresh::Gone(why), None),
        }),
        #[cfg(feature = "http")]
        Server::Url { url, headers } => {
            let (warn, name) = (Arc::clone(warn), member.name.clone());
            let warn: Warn = Arc::new(move |warning| warn(&format!("{name}: {warning}")));
            let (web, way, from_web) = super::web::connect(url, headers, warn);
            Ok((Fresh::Web(Box::new(web), from_web), Some(way)))
        }
        #[cfg(not(feature = "http"))]
        Server::Url { .. } => {
            let why = format!(
                "the MCP server {:?} speaks HTTP, which is not built in",
                member.name
            );
            Ok((Fresh::Gone(why), None))
        }
    }
}

/// Watches over all of them.
struct Watch {
    session: Arc<Session>,
    events: UnboundedReceiver<Happened>,
    signals: Signals,
    errands: mpsc::Sender<Errand>,
    members: Vec<Member>,
    /// Signals for each server that was started.
    orders: Vec<(usize, UnboundedSender<Signal>)>,
    /// How many servers there are.
    running: usize,
    client_ended: bool,
    /// Whether the client got any answer of ours.
    has_answered: bool,
    /// Whether what time brings is under way.
    is_ticking: bool,
}

impl Watch {
    /// A server begins to work.
    fn begin(&mut self, server: usize, name: &str, fresh: Fresh) -> io::Result<()> {
        self.running += 1;
        let (orders, signals) = unbounded_channel();
        self.orders.push((server, orders));
        let (session, errands) = (Arc::clone(&self.session), self.errands.clone());
        let name = name.to_owned();
        let restarts = move |session: &Session| {
            let link = session.servers.get(server);
            link.map(|link| link.restarts.load(Ordering::Acquire))
        };
        let started = restarts(&session);
        let gone = move |session: &Session, why: String| {
            if restarts(session) == started {
                let _ = errands.send(Errand::Gone { server, why });
            } else {
                // Another one has taken its place.
                session.tell(Happened::ServerGone);
            }
        };
        match fresh {
            Fresh::Process(process, stdout, stderr) => {
                let heard = Heard {
                    stdout: spawn("callwright-from", &session, move |session| {
                        session.hear_server(server, stdout);
                    })?,
                    stderr: spawn("callwright-stderr", &session, move |session| {
                        session.listen(server, stderr);
                    })?,
                };
                tokio::spawn(async move {
                    let ended = process.until_the_end(&session, (server, &name), heard, signals);
                    gone(&session, ended.await);
                });
            }
            #[cfg(feature = "http")]
            Fresh::Web(web, from_web) => {
                spawn("callwright-from", &session, move |session| {
                    session.hear_server(server, from_web);
                })?;
                tokio::spawn(async move {
                    gone(&session, web.until_the_end(name, signals).await);
                });
            }
            Fresh::Gone(why) => gone(&session, why),
        }
        Ok(())
    }

    /// A server is started anew; the one before is ended.
    fn restart(&mut self, server: usize) -> io::Result<()> {
        let (Some(member), Some(link)) = (
            self.members.get(server).cloned(),
            self.session.servers.get(server),
        ) else {
            return Ok(());
        };
        for (of, orders) in self.orders.iter().filter(|(of, _)| *of == server) {
            let _ = (of, orders.send(Signal::Terminate));
            let orders = orders.clone();
            tokio::spawn(async move {
                sleep(TO_TERMINATE).await;
                let _ = orders.send(Signal::Kill);
            });
        }
        let (fresh, way) = open(&member, &self.session.warn)?;
        link.door.attach(way)?;
        self.begin(server, &member.name, fresh)
    }

    async fn until_the_end(mut self) -> io::Result<Ended> {
        let mut is_closed = false;
        let mut is_signalled = false;
        let mut next: Option<(Instant, Signal)> = None;
        while self.running > 0 {
            // Who waits for an answer of several servers gets it before they end.
            if self.client_ended && !is_closed && self.is_idle() {
                is_closed = true;
                self.close_all();
                next = next.or(Some((Instant::now() + TO_END, Signal::Terminate)));
            }
            let deadline = self.deadline().filter(|_| !self.is_ticking);
            tokio::select! {
                event = self.events.recv() => {
                    if let Some(Happened::Restart(server)) = event {
                        self.restart(server)?;
                    }
                    self.note(event);
                }
                signal = self.signals.next() => {
                    is_signalled = true;
                    self.signal_all(signal);
                    if signal == Signal::Terminate {
                        self.session.is_ending.store(true, Ordering::Relaxed);
                        next = Some((Instant::now() + TO_TERMINATE, Signal::Kill));
                    }
                }
                () = until(next.map(|(at, _)| at)) => {
                    if let Some((_, signal)) = next {
                        self.signal_all(signal);
                        next = Some((Instant::now() + TO_TERMINATE, Signal::Kill));
                    }
                }
                () = until(deadline) => {
                    self.is_ticking = self.errands.send(Errand::Tick).is_ok();
                }
            }
        }
        let lost = self.session.lost.load(Ordering::Relaxed);
        if is_signalled || lost < self.members.len() {
            return Ok(Ended::with(0, None));
        }
        if !self.has_answered && !self.client_ended {
            self.first_request().await;
        }
        Ok(Ended::with(
            NOT_STARTED,
            Some("no MCP server is left".to_owned()),
        ))
    }

    /// Whether nothing is left that servers have to be asked. In this order: whoever ends a deadline is busy until all
    /// is sent.
    fn is_idle(&self) -> bool {
        self.deadline().is_none() && self.session.busy.load(Ordering::Acquire) == 0
    }

    /// When something is to be done.
    fn deadline(&self) -> Option<Instant> {
        let deadlines = [
            self.session.guard.deadline(),
            self.session.router.deadline(),
        ];
        deadlines.into_iter().flatten().min()
    }

    fn close_all(&self) {
        self.session.is_ending.store(true, Ordering::Relaxed);
        for link in &self.session.servers {
            link.door.close();
        }
    }

    fn signal_all(&self, signal: Signal) {
        for (_, orders) in &self.orders {
            // One that has ended does not listen.
            let _ = orders.send(signal);
        }
    }

    /// Until a client has sent its first request and got its answer, if it does.
    async fn first_request(&mut self) {
        let answered = async {
            while !(self.has_answered || self.client_ended) {
                let event = self.events.recv().await;
                self.note(event);
            }
        };
        let _ = timeout(FIRST_REQUEST, answered).await;
    }

    fn note(&mut self, event: Option<Happened>) {
        match event {
            Some(Happened::ClientEnded) => self.client_ended = true,
            Some(Happened::ServerGone) => self.running = self.running.saturating_sub(1),
            Some(Happened::Answered) => self.has_answered = true,
            Some(Happened::Ticked) => self.is_ticking = false,
            Some(Happened::Look | Happened::Restart(_)) | None => {}
        }
    }
}

fn spawn(
    name: &str,
    session: &Arc<Session>,
    work: impl FnOnce(&Session) + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let session = Arc::clone(session);
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || work(&session))
}
