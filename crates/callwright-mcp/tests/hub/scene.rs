//! A router, and the messages of both sides.

use std::time::{Duration, Instant};

use callwright_mcp::config::read_servers;
use callwright_mcp::hub::{Dispatch, Router, ServerGroup};
use serde_json::{Value, json};

pub(crate) struct Scene {
    pub(crate) router: Router,
    pub(crate) now: Instant,
}

/// The effects of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Came {
    pub(crate) to_client: Vec<String>,
    pub(crate) to_servers: Vec<(usize, String)>,
    pub(crate) warnings: Vec<String>,
    pub(crate) restarts: Vec<usize>,
}

impl From<Dispatch<'_>> for Came {
    fn from(dispatch: Dispatch<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let to_servers = dispatch.to_servers.iter();
        Came {
            to_client: dispatch
                .to_client
                .iter()
                .map(|message| text(message))
                .collect(),
            to_servers: to_servers
                .map(|(server, message)| (*server, text(message)))
                .collect(),
            warnings: dispatch.warnings,
            restarts: dispatch.restarts,
        }
    }
}

impl Came {
    /// The only message to the client.
    pub(crate) fn answer(&self) -> Value {
        let [answer] = &self.to_client[..] else {
            panic!("{self:?}")
        };
        serde_json::from_str(answer).expect("JSON")
    }

    /// The only message to a server.
    pub(crate) fn sent(&self) -> (usize, &str) {
        let [(server, message)] = &self.to_servers[..] else {
            panic!("{self:?}")
        };
        (*server, message)
    }
}

impl Scene {
    /// Servers with these names, which must be sorted.
    pub(crate) fn of(names: &[&str]) -> Self {
        let entries: Vec<String> = names
            .iter()
            .map(|name| format!("{}: {{\"command\": \"x\"}}", json!(name)))
            .collect();
        let text = format!("{{\"mcpServers\": {{{}}}}}", entries.join(","));
        let group = ServerGroup::new(read_servers(&text).expect("servers")).expect("a group");
        let now = Instant::now();
        Scene {
            router: Router::new(&group, now),
            now,
        }
    }

    /// The same after the handshake, with these capabilities for each.
    pub(crate) fn ready(names: &[&str], capabilities: &Value) -> Self {
        let scene = Scene::of(names);
        let asked = scene.client(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        );
        let info = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities});
        for (server, request) in &asked.to_servers {
            scene.answer(*server, request, &info);
        }
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(scene.client(ready).to_servers.len(), names.len());
        scene
    }

    pub(crate) fn client(&self, message: &str) -> Came {
        let mut dispatch = Dispatch::default();
        self.router
            .from_client(message.as_bytes(), self.now, &mut dispatch);
        dispatch.into()
    }

    pub(crate) fn server(&self, server: usize, message: &str) -> Came {
        let mut dispatch = Dispatch::default();
        self.router
            .from_server(server, message.as_bytes(), &mut dispatch);
        dispatch.into()
    }

    /// A server answers a request with a result.
    pub(crate) fn answer(&self, server: usize, request: &str, result: &Value) -> Came {
        let id = serde_json::from_str::<Value>(request).expect("JSON")["id"].clone();
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        self.server(server, &answer.to_string())
    }

    /// All servers answer their requests; returns the effects of the last answer.
    pub(crate) fn answer_all(&self, asked: &Came, results: &[Value]) -> Came {
        let mut last = Came::default();
        assert_eq!(asked.to_servers.len(), results.len(), "{asked:?}");
        for ((server, request), result) in asked.to_servers.iter().zip(results) {
            assert_eq!(last.to_client, [""; 0]);
            last = self.answer(*server, request, result);
        }
        last
    }

    pub(crate) fn gone(&self, server: usize, why: &str) -> Came {
        let mut dispatch = Dispatch::default();
        self.router.server_gone(server, why, &mut dispatch);
        dispatch.into()
    }

    pub(crate) fn after(&mut self, seconds: u64) -> Came {
        self.now += Duration::from_secs(seconds);
        let mut dispatch = Dispatch::default();
        self.router.tick(self.now, &mut dispatch);
        dispatch.into()
    }
}

pub(crate) fn request(id: u32, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}
