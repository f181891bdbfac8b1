//! What the gateway costs compared with a bare reverse proxy: `cargo bench -p callwright-gateway`.
//!
//! An API, a bare hyper proxy and gateways run in one process, each on its own thread, whose CPU time is read from the
//! system (Linux only). They share one core, because waking a thread on another core costs several times as much as a
//! request, and placement is random. A client sends to them in short alternating turns. The lower quartile of a
//! server's turns counts, because other programs on the machine only ever add time. If litellm is installed, its proxy
//! is measured too.
//!
//! Then memory, on all cores: 2,000 open streams, and many requests (`CALLWRIGHT_SOAK` sets how many).
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench may panic, and prints"
)]

mod litellm;
mod memory;
mod servers;

use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use callwright_gateway::{Loops, Mode};
use callwright_http::body;
use callwright_http::upstream::{Upstream, UpstreamLimits};
use http_body_util::BodyExt;
use hyper::{HeaderMap, Method};

use crate::litellm::Litellm;
use crate::servers::{Server, api, bare_proxy, gateway, request, run_as_gateway};

/// How many small requests are sent in one turn. Reading the CPU time costs as much as one of them.
const REQUESTS: usize = 40;

/// How many turns each server gets, and how many warm-up turns come before them.
const ROUNDS: usize = 100;
const WARMING: usize = 10;

/// How many events of a streamed answer do not belong to a call.
const EVENTS: usize = 500;

/// The argument for the process that measures CPU time.
const CPU_ONLY: &str = "cpu-only";

fn main() {
    if run_as_gateway() {
        return;
    }
    if !std::path::Path::new("/proc/thread-self/schedstat").exists() {
        println!("this system does not say how much CPU time a thread took");
        return;
    }
    callwright_http::server::raise_open_file_limit();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(async {
        // It serves until dropped.
        let upstream = Server::start(api);
        if std::env::args().any(|word| word == CPU_ONLY) {
            let whole = cpu(upstream.port).await;
            beside_litellm(upstream.port, whole).await;
        } else {
            measure_cpu();
            memory::print(upstream.port).await;
        }
    });
}

/// Measures CPU time in another process, on one core.
fn measure_cpu() {
    let program = std::env::current_exe().unwrap();
    let pinned = Command::new("taskset")
        .args(["--cpu-list", "0"])
        .args([program.as_os_str(), CPU_ONLY.as_ref()])
        .status();
    if pinned.is_err() {
        println!("taskset is not installed: the times below are not of one core");
        Command::new(program).arg(CPU_ONLY).status().unwrap();
    }
}

/// Prints the CPU time of each server for each kind of request; returns that of the gateway for a small one.
async fn cpu(api: u16) -> f64 {
    let guarding =
        move |mode, loops| Server::start(move |listener| gateway(listener, api, mode, loops));
    let servers = [
        (
            "bare proxy",
            Server::start(move |listener| bare_proxy(listener, api)),
        ),
        ("gateway, --mode off", guarding(Mode::Off, Loops::Off)),
        ("gateway, --loops off", guarding(Mode::Guard, Loops::Off)),
        ("gateway", guarding(Mode::Guard, Loops::Observe)),
    ];
    let clients: Vec<Upstream> = servers
        .iter()
        .map(|(_, server)| client(server.port))
        .collect();
    let mut whole = 0.0;
    for (what, bytes, is_streamed, times) in [
        (
            "1 kB, whole answer with a valid call",
            1_000,
            false,
            REQUESTS,
        ),
        (
            "1 MB of history, whole answer with a valid call",
            1_000_000,
            false,
            REQUESTS / 10,
        ),
        (
            "1 kB, 500 events and a valid call, per event",
            1_000,
            true,
            REQUESTS / 10,
        ),
    ] {
        let body = request(bytes, is_streamed, 0);
        let path = if is_streamed {
            "/v1/chat/completions?stream"
        } else {
            "/v1/chat/completions"
        };
        let mut cpu = vec![Vec::new(); servers.len()];
        for round in 0..WARMING + ROUNDS {
            for (at, (_, server)) in servers.iter().enumerate() {
                let before = server.cpu().await;
                for _ in 0..times {
                    send(&clients[at], path, body.clone()).await;
                }
                let per = (server.cpu().await - before) as f64 / times as f64 / 1_000.0;
                if round >= WARMING {
                    cpu[at].push(if is_streamed {
                        per / EVENTS as f64
                    } else {
                        per
                    });
                }
            }
        }
        println!("{what}");
        let bare = lower_quartile(&mut cpu[0]);
        for (at, (name, _)) in servers.iter().enumerate() {
            let own = lower_quartile(&mut cpu[at]);
            println!(
                "  {name:<20} {own:>9.2} µs CPU, {:>+9.2} µs, {:>5.2} x the bare proxy",
                own - bare,
                own / bare
            );
            if bytes == 1_000 && !is_streamed {
                whole = own;
            }
        }
    }
    whole
}

/// The same small request through litellm's proxy.
async fn beside_litellm(api: u16, gateway: f64) {
    let Some(litellm) = Litellm::start(api).await else {
        println!("litellm is not installed");
        return;
    };
    let (client, body) = (client(litellm.port), request(1_000, false, 0));
    let path = "/v1/chat/completions";
    for _ in 0..20 {
        send(&client, path, body.clone()).await;
    }
    let mut cpu = Vec::new();
    for _ in 0..20 {
        let before = litellm.cpu();
        for _ in 0..5 {
            send(&client, path, body.clone()).await;
        }
        cpu.push((litellm.cpu() - before) / 5.0);
    }
    let own = lower_quartile(&mut cpu);
    println!(
        "litellm's proxy, 1 kB, whole answer: {own:.0} µs CPU, {:.0} x the gateway",
        own / gateway
    );
}

fn client(port: u16) -> Upstream {
    let limits = UpstreamLimits {
        connect: Duration::from_secs(5),
        silence: Duration::from_secs(60),
        max_bytes: 1 << 30,
        idle_connection: Duration::from_secs(60),
    };
    Upstream::new(&format!("http://127.0.0.1:{port}"), limits).unwrap()
}

async fn send(client: &Upstream, path: &str, body: Bytes) {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", "application/json".parse().unwrap());
    let response = client
        .pipe(Method::POST, client.at(path), headers, body::full(body))
        .await
        .unwrap();
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        frame.unwrap();
    }
}

fn lower_quartile(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 4]
}
