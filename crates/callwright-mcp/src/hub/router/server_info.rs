//! Merges what servers say about themselves, as if one server had said it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::server_state::ServerState;

/// What a server says about itself, in answer to `initialize` or `server/discover`.
#[derive(Debug, Deserialize)]
pub(super) struct ServerInfo {
    #[serde(default, rename = "protocolVersion")]
    version: String,
    #[serde(default, rename = "supportedVersions")]
    versions: Vec<String>,
    #[serde(default)]
    pub(super) capabilities: Value,
    instructions: Option<String>,
}

/// Capabilities that work for one server among several. Others, such as `experimental`, have methods that cannot be
/// routed.
const ROUTED: [&str; 7] = [
    "tools",
    "prompts",
    "resources",
    "logging",
    "completions",
    "tasks",
    "extensions",
];

/// The answer to `initialize`. The protocol is the one that the client wants if any server speaks it, since newer
/// protocols only add to older ones, and otherwise the newest one that a server answered with.
pub(super) fn initialized(servers: &[ServerState], wanted: Option<&str>) -> String {
    let versions = || introduced(servers).map(|(_, info)| info.version.as_str());
    let version = wanted
        .filter(|wanted| versions().any(|version| version == *wanted))
        .or_else(|| versions().max())
        .or(wanted);
    let mut result = Map::new();
    result.insert("protocolVersion".into(), json!(version.unwrap_or_default()));
    result.insert("capabilities".into(), capabilities(servers));
    result.insert("serverInfo".into(), our_name());
    if let Some(instructions) = instructions(servers) {
        result.insert("instructions".into(), json!(instructions));
    }
    Value::Object(result).to_string()
}

/// The answer to `server/discover`, with the protocols that all of them speak.
pub(super) fn discovered(servers: &[ServerState]) -> String {
    let mut versions: Option<Vec<String>> = None;
    for (_, info) in introduced(servers) {
        match &mut versions {
            None => versions = Some(info.versions.clone()),
            Some(versions) => versions.retain(|version| info.versions.contains(version)),
        }
    }
    let mut result = Map::new();
    result.insert("resultType".into(), json!("complete"));
    result.insert(
        "supportedVersions".into(),
        json!(versions.unwrap_or_default()),
    );
    result.insert("capabilities".into(), capabilities(servers));
    if let Some(instructions) = instructions(servers) {
        result.insert("instructions".into(), json!(instructions));
    }
    // Servers come and go, so this only holds for now.
    result.insert("ttlMs".into(), json!(0));
    result.insert("cacheScope".into(), json!("private"));
    let meta = json!({"io.modelcontextprotocol/serverInfo": our_name()});
    result.insert("_meta".into(), meta);
    Value::Object(result).to_string()
}

fn our_name() -> Value {
    json!({"name": "callwright", "version": env!("CARGO_PKG_VERSION")})
}

/// The servers that have introduced themselves.
fn introduced(servers: &[ServerState]) -> impl Iterator<Item = (&ServerState, &ServerInfo)> {
    let there = servers.iter().filter(|server| server.is_there());
    there.filter_map(|server| Some((server, server.info.as_ref()?)))
}

/// All capabilities that any server has. A server that has not answered yet may have tools, prompts and resources.
fn capabilities(servers: &[ServerState]) -> Value {
    let mut all = json!({"tools": {"listChanged": true}});
    let is_alone = servers.len() == 1;
    for (_, info) in introduced(servers) {
        let Value::Object(members) = &info.capabilities else {
            continue;
        };
        for (key, value) in members {
            if is_alone || ROUTED.contains(&key.as_str()) {
                unite(&mut all[key.as_str()], value);
            }
        }
    }
    let is_late = |server: &ServerState| server.is_there() && server.info.is_none();
    let are_late = servers.iter().any(is_late);
    for key in ["prompts", "resources"] {
        // A server that exits or answers later changes the lists.
        if are_late || all.get(key).is_some() {
            unite(&mut all[key], &json!({"listChanged": true}));
        }
    }
    all
}

/// Merges the members of both; for booleans, true wins.
fn unite(all: &mut Value, one: &Value) {
    match (all, one) {
        (Value::Object(all), Value::Object(one)) => {
            for (key, value) in one {
                unite(all.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Bool(all), Value::Bool(one)) => *all |= one,
        (all @ Value::Null, one) => *all = one.clone(),
        _ => {}
    }
}

/// The instructions of all servers for the model, each with the name and prefix of its server.
fn instructions(servers: &[ServerState]) -> Option<String> {
    let sections = introduced(servers).filter_map(|(server, info)| {
        let text = info.instructions.as_deref()?.trim();
        let (name, prefix) = (&server.name, &server.prefix);
        (!text.is_empty()).then(|| format!("# {name} ({prefix}*)\n\n{text}"))
    });
    let sections: Vec<String> = sections.collect();
    (!sections.is_empty()).then(|| sections.join("\n\n"))
}
