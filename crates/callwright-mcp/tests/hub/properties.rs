//! For any messages in any order: every request is answered once, and nothing panics.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::scene::{Came, Scene, request};

#[derive(Debug, Clone)]
enum Step {
    Asks(usize, usize),
    Answers {
        which: usize,
        is_error: bool,
        pages: bool,
    },
    Gone(usize),
    Time(u64),
}

const METHODS: [&str; 8] = [
    "tools/call",
    "tools/list",
    "resources/read",
    "resources/list",
    "prompts/get",
    "logging/setLevel",
    "ping",
    "made/up",
];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..METHODS.len(), 0..4_usize).prop_map(|(method, of)| Step::Asks(method, of)),
        9 => (any::<usize>(), any::<bool>(), any::<bool>())
            .prop_map(|(which, is_error, pages)| Step::Answers { which, is_error, pages }),
        1 => (0..3_usize).prop_map(Step::Gone),
        1 => (0..9_u64).prop_map(Step::Time),
    ]
}

/// Requests open at servers, and how often each client request was answered.
#[derive(Default)]
struct Seen {
    open: Vec<(usize, String)>,
    answered: HashMap<u64, usize>,
}

impl Seen {
    fn note(&mut self, came: Came) {
        self.open.extend(came.to_servers);
        for message in came.to_client {
            let message: Value = serde_json::from_str(&message).expect("JSON");
            if let Some(id) = message["id"].as_u64() {
                *self.answered.entry(id).or_default() += 1;
            }
        }
    }
}

fn answer(request: &str, is_error: bool, pages: bool) -> String {
    let request: Value = serde_json::from_str(request).expect("JSON");
    let id = &request["id"];
    if is_error {
        return json!({"id": id, "error": {"code": 1, "message": "no"}}).to_string();
    }
    let next = pages.then_some("more");
    let result =
        json!({"tools": [{"name": "t"}], "resources": [{"uri": "u://1"}], "nextCursor": next});
    json!({"id": id, "result": result}).to_string()
}

proptest! {
    #[test]
    fn every_request_is_answered_once(steps in proptest::collection::vec(step(), 0..60)) {
        let mut scene = Scene::ready(&["a", "b", "c"], &json!({"tools": {}, "resources": {}, "logging": {}}));
        let mut seen = Seen::default();
        let mut asked = 0;
        for step in steps {
            match step {
                Step::Asks(method, of) => {
                    asked += 1;
                    let name = format!("{}__t", ["a", "b", "c", "d"][of]);
                    let params = json!({"name": name, "uri": format!("u://{of}")});
                    seen.note(scene.client(&request(asked, METHODS[method], &params)));
                }
                Step::Answers { which, is_error, pages } => {
                    if seen.open.is_empty() {
                        continue;
                    }
                    let at = which % seen.open.len();
                    let (server, request) = seen.open.remove(at);
                    seen.note(scene.server(server, &answer(&request, is_error, pages)));
                }
                Step::Gone(server) => {
                    seen.open.retain(|(of, _)| *of != server);
                    seen.note(scene.gone(server, "gone"));
                }
                Step::Time(seconds) => seen.note(scene.after(seconds)),
            }
        }
        while let Some((server, request)) = seen.open.pop() {
            seen.note(scene.server(server, &answer(&request, false, false)));
        }
        for id in 1..=u64::from(asked) {
            prop_assert_eq!(seen.answered.get(&id), Some(&1), "request {}", id);
        }
        prop_assert_eq!(scene.router.deadline(), None);
    }

    #[test]
    fn nothing_panics_and_all_is_json(messages in proptest::collection::vec((0..4_usize, message()), 0..30)) {
        let mut scene = Scene::of(&["a", "b", "c"]);
        let mut all = Vec::new();
        for (from, message) in messages {
            all.push(match from {
                3 => scene.client(&message),
                server => scene.server(server, &message),
            });
        }
        all.push(scene.after(60));
        all.push(scene.gone(0, "gone"));
        for came in all {
            let to_servers = came.to_servers.iter().map(|(_, message)| message);
            for message in came.to_client.iter().chain(to_servers) {
                prop_assert!(serde_json::from_str::<Value>(message).is_ok(), "{}", message);
            }
        }
    }
}

/// Messages that are almost right.
fn message() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        Just("1"),
        Just("\"0/1\""),
        Just("\"callwright-part-1-0-0\""),
        Just("null")
    ];
    let method = prop_oneof![
        Just("initialize"),
        Just("tools/list"),
        Just("tools/call"),
        Just("resources/read"),
        Just("subscriptions/listen"),
        Just("notifications/cancelled"),
        Just("notifications/progress"),
        Just("notifications/initialized"),
        Just("server/discover"),
        Just("completion/complete"),
    ];
    let params = prop_oneof![
        Just("null"),
        Just("[]"),
        Just("7"),
        Just("{}"),
        Just(r#"{"name":"a__x","uri":"u://1"}"#),
        Just(r#"{"ref":{"name":"b__"},"requestId":1,"progressToken":"0/1"}"#),
        Just(r#"{"_meta":{"progressToken":[]}}"#),
        Just(r#"{"tools":[1,{"name":5}],"nextCursor":{}}"#),
        Just(r#"{"capabilities":7,"protocolVersion":null}"#),
    ];
    (id, method, params, 0..4_u8).prop_map(|(id, method, params, kind)| match kind {
        0 => format!(r#"{{"id":{id},"method":"{method}","params":{params}}}"#),
        1 => format!(r#"{{"method":"{method}","params":{params}}}"#),
        2 => format!(r#"{{"id":{id},"result":{params}}}"#),
        _ => format!(r#"[{{"id":{id},"error":{params}}},{params}]"#),
    })
}
