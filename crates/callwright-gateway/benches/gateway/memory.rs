//! How much memory a gateway needs: with many open streams, and over many requests.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::servers::{GatewayProcess, request};

/// How many streams are open at once.
const STREAMS: usize = 2_000;

/// How many requests are sent unless `CALLWRIGHT_SOAK` says otherwise.
const REQUESTS: usize = 20_000;

/// How many clients send them at once.
const CLIENTS: usize = 8;

/// How often the memory is read meanwhile.
const READINGS: usize = 10;

pub(crate) async fn print(api: u16) {
    open_streams(api).await;
    soak(api).await;
}

/// Each stream has sent a word and the first half of a call, which is held back.
async fn open_streams(api: u16) {
    let gateway = GatewayProcess::start(api);
    let idle = gateway.megabytes();
    let body = request(1_000, true, 0);
    let mut clients = Vec::new();
    for _ in 0..STREAMS {
        let mut client = TcpStream::connect(("127.0.0.1", gateway.port))
            .await
            .unwrap();
        send(&mut client, "?open", &body).await;
        clients.push(client);
    }
    for client in &mut clients {
        read_until(client, b" word").await;
    }
    println!(
        "{STREAMS} open streams, each with a held call: {:.1} MB; idle {idle:.1} MB",
        gateway.megabytes()
    );
}

/// Whole and streamed answers alternate; every tenth request has other tools and another model.
async fn soak(api: u16) {
    let requests = std::env::var("CALLWRIGHT_SOAK");
    let requests: usize = requests.map_or(REQUESTS, |number| number.parse().unwrap());
    let gateway = Arc::new(GatewayProcess::start(api));
    println!("memory over {requests} requests, every tenth with tools that were not seen before:");
    let share = requests / READINGS;
    for reading in 0..READINGS {
        let clients = (0..CLIENTS).map(|number| {
            let port = gateway.port;
            tokio::spawn(async move {
                let mut client = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                for at in 0..share / CLIENTS {
                    let is_streamed = at % 4 == 3;
                    let variant = if at % 10 == 9 {
                        (reading * CLIENTS + number) * share + at
                    } else {
                        0
                    };
                    let body = request(1_000, is_streamed, variant);
                    let query = if is_streamed { "?stream" } else { "" };
                    send(&mut client, query, &body).await;
                    // The end of a stream, and of a whole answer.
                    let end: &[u8] = if is_streamed {
                        b"\r\n0\r\n\r\n"
                    } else {
                        b"\"finish_reason\":\"tool_calls\"}]}"
                    };
                    read_until(&mut client, end).await;
                }
            })
        });
        for client in clients.collect::<Vec<_>>() {
            client.await.unwrap();
        }
        println!(
            "  after {:>8}: {:>6.1} MB",
            (reading + 1) * share,
            gateway.megabytes()
        );
    }
}

async fn send(client: &mut TcpStream, query: &str, body: &[u8]) {
    let head = format!(
        "POST /v1/chat/completions{query} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client
        .write_all(&[head.as_bytes(), body].concat())
        .await
        .unwrap();
}

async fn read_until(client: &mut TcpStream, end: &[u8]) {
    let mut all = Vec::new();
    let mut piece = vec![0; 65_536];
    loop {
        let read = client.read(&mut piece).await.unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&all));
        let from = all.len().saturating_sub(end.len());
        all.extend_from_slice(&piece[..read]);
        if memchr::memmem::find(&all[from..], end).is_some() {
            return;
        }
    }
}
