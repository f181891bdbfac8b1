//! What the gateway costs beside a bare reverse proxy: `cargo bench -p callwright-gateway`.
//!
//! An API, a bare hyper proxy and two gateways run in one process, each on a thread of its own, whose CPU time is read from
//! the system (Linux only). A client sends to them in turns, so that a busy machine slows all of them alike. What counts are
//! the differences and ratios, not the times.
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench may panic, and prints"
)]

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use callwright_gateway::{Gateway, GatewayOptions, Mode};
use callwright_http::body;
use callwright_http::upstream::{Upstream, UpstreamLimits};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

/// How often each request is sent per round, and how many rounds there are.
const REQUESTS: usize = 400;
const ROUNDS: usize = 5;

/// How many events a streamed answer has that are not a call's.
const EVENTS: usize = 500;

/// A server on a thread of its own.
struct Server {
    port: u16,
    ask: mpsc::UnboundedSender<oneshot::Sender<u64>>,
}

impl Server {
    fn start<F: Future<Output = ()>>(
        serve: impl FnOnce(TcpListener) -> F + Send + 'static,
    ) -> Self {
        let (told, port) = std::sync::mpsc::channel();
        let (ask, mut asked) = mpsc::unbounded_channel::<oneshot::Sender<u64>>();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                told.send(listener.local_addr().unwrap().port()).unwrap();
                let answers = async {
                    while let Some(answer) = asked.recv().await {
                        let _ = answer.send(own_cpu());
                    }
                };
                tokio::select! {
                    () = serve(listener) => {}
                    () = answers => {}
                }
            });
        });
        Server {
            port: port.recv().unwrap(),
            ask,
        }
    }

    /// The CPU time of its thread, in nanoseconds.
    async fn cpu(&self) -> u64 {
        let (answer, cpu) = oneshot::channel();
        self.ask.send(answer).unwrap();
        cpu.await.unwrap()
    }
}

fn own_cpu() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse().unwrap()
}

/// One valid call, as a whole answer or at the end of a stream.
fn answer(is_streamed: bool) -> Bytes {
    let call = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "get_weather", "arguments": "{\"city\":\"Paris\",\"days\":3}"}});
    if !is_streamed {
        let message =
            json!({"role": "assistant", "content": "x".repeat(500), "tool_calls": [call]});
        return json!({"id": "c1", "object": "chat.completion", "model": "m", "usage": {"total_tokens": 3},
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).to_string().into();
    }
    let chunk = |delta: serde_json::Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!(
            "data: {}\n\n",
            json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
        )
    };
    let mut stream: String = (0..EVENTS)
        .map(|_| chunk(json!({"content": " word"}), None))
        .collect();
    stream += &chunk(json!({"tool_calls": [call]}), None);
    stream += &chunk(json!({}), Some("tool_calls"));
    stream += "data: [DONE]\n\n";
    stream.into()
}

fn request(bytes: usize, is_streamed: bool) -> Bytes {
    let history: Vec<_> = (0..bytes.saturating_sub(700) / 1_000)
        .map(|at| json!({"role": if at % 2 == 0 { "user" } else { "assistant" }, "content": "y".repeat(960)}))
        .collect();
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]});
    json!({"model": "m", "stream": is_streamed, "messages": history, "tools": [
        {"type": "function", "function": {"name": "get_weather", "description": "z".repeat(400), "parameters": schema}}]})
        .to_string().into()
}

async fn api(listener: TcpListener) {
    let (whole, streamed) = (answer(false), answer(true));
    serve(listener, move |request: Request<Incoming>| {
        let (whole, streamed) = (whole.clone(), streamed.clone());
        async move {
            let is_streamed = request.uri().query() == Some("stream");
            request.into_body().collect().await.unwrap();
            let kind = if is_streamed {
                "text/event-stream"
            } else {
                "application/json"
            };
            let body = if is_streamed { streamed } else { whole };
            Response::builder()
                .header("content-type", kind)
                .body(Full::new(body))
                .unwrap()
        }
    })
    .await;
}

/// Everything is passed on, and nothing is looked at.
async fn bare_proxy(listener: TcpListener, api: u16) {
    let client: Client<_, Incoming> =
        Client::builder(TokioExecutor::new()).build(HttpConnector::new());
    serve(listener, move |mut request: Request<Incoming>| {
        let client = client.clone();
        async move {
            let path = request.uri().path_and_query().unwrap().as_str();
            *request.uri_mut() = format!("http://127.0.0.1:{api}{path}").parse().unwrap();
            client.request(request).await.unwrap()
        }
    })
    .await;
}

async fn serve<B, F>(
    listener: TcpListener,
    handler: impl Fn(Request<Incoming>) -> F + Clone + 'static,
) where
    B: hyper::body::Body<Data = Bytes> + 'static,
    B::Error: std::error::Error + Send + Sync,
    F: Future<Output = Response<B>> + 'static,
{
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let handler = handler.clone();
                tokio::task::spawn_local(async move {
                    let service = service_fn(|request| {
                        let answered = handler(request);
                        async { Ok::<_, Infallible>(answered.await) }
                    });
                    let _ = http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        })
        .await;
}

async fn gateway(listener: TcpListener, api: u16, mode: Mode) {
    let mut options = GatewayOptions::new(format!("http://127.0.0.1:{api}"));
    options.mode = mode;
    Gateway::new(options)
        .unwrap()
        .serve(listener, std::future::pending())
        .await
        .unwrap();
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    if !std::path::Path::new("/proc/thread-self/schedstat").exists() {
        println!("this system does not say how much CPU time a thread took");
        return;
    }
    // It serves until it is dropped.
    let upstream = Server::start(api);
    let api = upstream.port;
    let servers = [
        (
            "bare proxy",
            Server::start(move |listener| bare_proxy(listener, api)),
        ),
        (
            "gateway, off",
            Server::start(move |listener| gateway(listener, api, Mode::Off)),
        ),
        (
            "gateway",
            Server::start(move |listener| gateway(listener, api, Mode::Guard)),
        ),
    ];
    let limits = UpstreamLimits {
        connect: Duration::from_secs(5),
        silence: Duration::from_secs(60),
        max_bytes: 1 << 30,
        idle_connection: Duration::from_secs(60),
    };
    let clients: Vec<Arc<Upstream>> = servers
        .iter()
        .map(|(_, server)| {
            Arc::new(Upstream::new(&format!("http://127.0.0.1:{}", server.port), limits).unwrap())
        })
        .collect();
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
        let body = request(bytes, is_streamed);
        let path = if is_streamed {
            "/v1/chat/completions?stream"
        } else {
            "/v1/chat/completions"
        };
        let mut cpu = vec![Vec::new(); servers.len()];
        for round in 0..=ROUNDS {
            for (at, (_, server)) in servers.iter().enumerate() {
                let before = server.cpu().await;
                for _ in 0..times {
                    send(&clients[at], path, body.clone()).await;
                }
                let per = (server.cpu().await - before) as f64 / times as f64 / 1_000.0;
                // The first round warms up.
                if round > 0 {
                    cpu[at].push(if is_streamed {
                        per / EVENTS as f64
                    } else {
                        per
                    });
                }
            }
        }
        println!("{what}");
        let bare = median(&mut cpu[0]);
        for (at, (name, _)) in servers.iter().enumerate() {
            let own = median(&mut cpu[at]);
            println!(
                "  {name:<14} {own:>9.2} µs CPU, {:>+9.2} µs, {:>5.2} x the bare proxy",
                own - bare,
                own / bare
            );
        }
    }
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

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
