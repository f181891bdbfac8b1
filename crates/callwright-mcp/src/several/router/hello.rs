//! What servers say of themselves, as if one server had said it.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::standing::Standing;

/// What a server says of itself, in answer to `initialize` or to `server/discover`.
#[derive(Debug, Deserialize)]
pub(super) struct Hello {
    #[serde(default, rename = "protocolVersion")]
    version: String,
    #[serde(default, rename = "supportedVersions")]
    versions: Vec<String>,
    #[serde(default)]
    pub(super) capabilities: Value,
    instructions: Option<String>,
}

/// What can be asked of one among several servers. Others, such as `experimental`, have methods that nobody could route.
const ROUTED: [&str; 7] = [
    "tools",
    "prompts",
    "resources",
    "logging",
    "completions",
    "tasks",
    "extensions",
];

/// The answer to `initialize`. `asked` is the protocol that the client wants: it is the one if any server speaks it, since
/// newer protocols only add to older ones, and else the newest that a server answered with.
pub(super) fn initialized(standing: &[Standing], asked: Option<&str>) -> String {
    let versions = || hellos(standing).map(|(_, hello)| hello.version.as_str());
    let version = asked
        .filter(|asked| versions().any(|version| version == *asked))
        .or_else(|| versions().max())
        .or(asked);
    let mut result = Map::new();
    result.insert("protocolVersion".into(), json!(version.unwrap_or_default()));
    result.insert("capabilities".into(), capabilities(standing));
    result.insert("serverInfo".into(), our_name());
    if let Some(instructions) = instructions(standing) {
        result.insert("instructions".into(), json!(instructions));
    }
    Value::Object(result).to_string()
}

/// The answer to `server/discover`, with the protocols that all of them speak.
pub(super) fn discovered(standing: &[Standing]) -> String {
    let mut versions: Option<Vec<String>> = None;
    for (_, hello) in hellos(standing) {
        match &mut versions {
            None => versions = Some(hello.versions.clone()),
            Some(versions) => versions.retain(|version| hello.versions.contains(version)),
        }
    }
    let mut result = Map::new();
    result.insert("resultType".into(), json!("complete"));
    result.insert(
        "supportedVersions".into(),
        json!(versions.unwrap_or_default()),
    );
    result.insert("capabilities".into(), capabilities(standing));
    if let Some(instructions) = instructions(standing) {
        result.insert("instructions".into(), json!(instructions));
    }
    // Servers come and go, so what we say of them holds for now only.
    result.insert("ttlMs".into(), json!(0));
    result.insert("cacheScope".into(), json!("private"));
    let meta = json!({"io.modelcontextprotocol/serverInfo": our_name()});
    result.insert("_meta".into(), meta);
    Value::Object(result).to_string()
}

fn our_name() -> Value {
    json!({"name": "callwright", "version": env!("CARGO_PKG_VERSION")})
}

fn hellos(standing: &[Standing]) -> impl Iterator<Item = (&Standing, &Hello)> {
    let there = standing.iter().filter(|standing| standing.gone.is_none());
    there.filter_map(|standing| Some((standing, standing.hello.as_ref()?)))
}

/// All that any of them can do. A server that has not said so yet may have tools, prompts and resources.
fn capabilities(standing: &[Standing]) -> Value {
    let mut all = json!({"tools": {"listChanged": true}});
    let is_alone = standing.len() == 1;
    for (_, hello) in hellos(standing) {
        let Value::Object(members) = &hello.capabilities else {
            continue;
        };
        for (key, value) in members {
            if is_alone || ROUTED.contains(&key.as_str()) {
                unite(&mut all[key.as_str()], value);
            }
        }
    }
    let is_late = |standing: &Standing| standing.gone.is_none() && standing.hello.is_none();
    let are_late = standing.iter().any(is_late);
    for key in ["prompts", "resources"] {
        // A server that ends or comes later changes the lists.
        if are_late || all.get(key).is_some() {
            unite(&mut all[key], &json!({"listChanged": true}));
        }
    }
    all
}

/// What either has; where both say something, more is more.
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

/// What each of them says to the model, with the beginning of its tools' names above.
fn instructions(standing: &[Standing]) -> Option<String> {
    let said = hellos(standing).filter_map(|(standing, hello)| {
        let said = hello.instructions.as_deref()?.trim();
        let (name, prefix) = (&standing.name, &standing.prefix);
        (!said.is_empty()).then(|| format!("# {name} ({prefix}*)\n\n{said}"))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join("\n\n"))
}
