//! The servers that are compared: an API, a bare proxy and gateways, each on its own thread or in its own process.

use std::convert::Infallible;
use std::future::Future;
use std::process::{Child, Command, Stdio};
use std::thread;

use bytes::Bytes;
use callwright_gateway::{Gateway, GatewayOptions, Loops, Mode};
use callwright_http::body::{self, Body};
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use crate::EVENTS;

/// A server on its own thread.
pub(crate) struct Server {
    pub(crate) port: u16,
    ask: mpsc::UnboundedSender<oneshot::Sender<u64>>,
}

impl Server {
    pub(crate) fn start<F: Future<Output = ()>>(
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
    pub(crate) async fn cpu(&self) -> u64 {
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
pub(crate) fn answer(is_streamed: bool) -> Bytes {
    let call = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "get_weather", "arguments": "{\"city\":\"Paris\",\"days\":3}"}});
    if !is_streamed {
        let message =
            json!({"role": "assistant", "content": "x".repeat(500), "tool_calls": [call]});
        return json!({"id": "c1", "object": "chat.completion", "model": "m", "usage": {"total_tokens": 3},
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).to_string().into();
    }
    let mut stream: String = (0..EVENTS)
        .map(|_| chunk(&json!({"content": " word"}), None))
        .collect();
    stream += &chunk(&json!({"tool_calls": [call]}), None);
    stream += &chunk(&json!({}), Some("tool_calls"));
    stream += "data: [DONE]\n\n";
    stream.into()
}

pub(crate) fn request(bytes: usize, is_streamed: bool, variant: usize) -> Bytes {
    let history: Vec<_> = (0..bytes.saturating_sub(700) / 1_000)
        .map(|at| json!({"role": if at % 2 == 0 { "user" } else { "assistant" }, "content": "y".repeat(960)}))
        .collect();
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]});
    // Other tools and another model, except for variant 0.
    let suffix = if variant == 0 {
        String::new()
    } else {
        variant.to_string()
    };
    json!({"model": format!("m{suffix}"), "stream": is_streamed, "messages": history, "tools": [
        {"type": "function", "function": {"name": "get_weather", "description": format!("{suffix}{}", "z".repeat(400)), "parameters": schema}}]})
        .to_string().into()
}

/// The API: a whole answer, a stream (`?stream`), or an endless stream with half a call (`?open`).
pub(crate) async fn api(listener: TcpListener) {
    let (whole, streamed) = (answer(false), answer(true));
    serve(listener, move |request: Request<Incoming>| {
        let (whole, streamed) = (whole.clone(), streamed.clone());
        async move {
            let query = request.uri().query().map(str::to_owned);
            request.into_body().collect().await.unwrap();
            let (kind, body): (_, Body) = match query.as_deref() {
                Some("stream") => ("text/event-stream", body::full(streamed)),
                Some("open") => {
                    let first =
                        stream::iter([chunk(&json!({"content": " word"}), None), open_call()]);
                    let frames = first.map(|event| Ok(Frame::data(Bytes::from(event))));
                    (
                        "text/event-stream",
                        body::streamed(frames.chain(stream::pending())),
                    )
                }
                _ => ("application/json", body::full(whole)),
            };
            Response::builder()
                .header("content-type", kind)
                .body(body)
                .unwrap()
        }
    })
    .await;
}

fn chunk(delta: &serde_json::Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!(
        "data: {}\n\n",
        json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
    )
}

/// The first half of a call.
fn open_call() -> String {
    let call = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "get_weather", "arguments": "{\"city\":"}});
    chunk(&json!({"tool_calls": [call]}), None)
}

/// Passes everything on without looking at it.
pub(crate) async fn bare_proxy(listener: TcpListener, api: u16) {
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
    B::Error: Into<body::BoxError>,
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

pub(crate) async fn gateway(listener: TcpListener, api: u16, mode: Mode, loops: Loops) {
    let mut options = GatewayOptions::new(format!("http://127.0.0.1:{api}"));
    options.mode = mode;
    options.loops = loops;
    Gateway::new(options)
        .unwrap()
        .serve(listener, std::future::pending())
        .await
        .unwrap();
}

/// A gateway in its own process, so that its memory can be read.
pub(crate) struct GatewayProcess {
    child: Child,
    pub(crate) port: u16,
}

/// The argument that makes this process a gateway.
const AS_GATEWAY: &str = "as-gateway";

impl GatewayProcess {
    pub(crate) fn start(api: u16) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let child = Command::new(std::env::current_exe().unwrap())
            .args([AS_GATEWAY, &api.to_string(), &port.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            thread::sleep(std::time::Duration::from_millis(20));
        }
        GatewayProcess { child, port }
    }

    /// Its current memory in megabytes.
    pub(crate) fn megabytes(&self) -> f64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
        kilobytes.parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs as a gateway until killed, if the process was started as one.
pub(crate) fn run_as_gateway() -> bool {
    let words: Vec<String> = std::env::args().collect();
    let [_, mark, api, port] = words.as_slice() else {
        return false;
    };
    if mark != AS_GATEWAY {
        return false;
    }
    let (api, port): (u16, u16) = (api.parse().unwrap(), port.parse().unwrap());
    callwright_http::server::raise_open_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        gateway(listener, api, Mode::Guard, Loops::Observe).await;
    });
    true
}
