//! The ledger on a cluster of three nodes.

use std::fs;

use super::*;

/// Three nodes that share the slots, once they know each other.
fn start() -> Option<Vec<Server>> {
    let mut nodes = Vec::new();
    for slots in ["0 5460", "5461 10922", "10923 16383"] {
        let port = loop {
            // Nodes talk to each other on a port ten thousand higher.
            let port = free_port();
            if port < 55_000 {
                break port;
            }
        };
        let folder = env::temp_dir().join(format!("callwright-cluster-{port}"));
        fs::create_dir_all(&folder).expect("a folder");
        let node = Server::spawn(
            port,
            &[
                "--port",
                &port.to_string(),
                "--cluster-enabled",
                "yes",
                "--dir",
                &folder.to_string_lossy(),
            ],
        )?;
        node.wait(|| node.query("PING").is_ok());
        let added = node.query(&format!("CLUSTER ADDSLOTSRANGE {slots}"));
        added.expect("free slots");
        nodes.push(node);
    }
    for node in &nodes[1..] {
        let meet = format!("CLUSTER MEET 127.0.0.1 {}", node.port);
        nodes[0].query(&meet).expect("it is there");
    }
    for node in &nodes {
        let is_ok = || {
            let info = node.query("CLUSTER INFO").unwrap_or_default();
            info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
        };
        node.wait(is_ok);
    }
    Some(nodes)
}

#[test]
fn sessions_are_spread_over_the_nodes() {
    let Some(nodes) = start() else {
        return;
    };
    let addresses = [nodes[0].address(), nodes[1].address()];
    let addresses = addresses.each_ref().map(String::as_str);
    let ledger = RedisLedger::cluster(&addresses, patient()).expect("addresses");
    let here = MemoryLedger::default();
    for number in 0..60 {
        let session = format!("{{chat}} {number} {{");
        for _ in 0..5 {
            let there = ledger.open(&session, &ask()).expect("it is there");
            assert_eq!(there, here.open(&session, &ask()).expect("memory"));
        }
        let saved = ledger.save(&session).expect("it is there");
        assert_eq!(saved, here.save(&session).expect("memory"));
    }
    let steps = [Step::Call {
        tool: 0,
        argument: 0,
        outcome: Some((Success::Ok, 0)),
        poller: false,
        changes: true,
        straggler: None,
    }];
    for number in 0..60 {
        let session = format!("chat {number}");
        assert_eq!(
            play(&ledger, &session, &steps),
            play(&here, &session, &steps)
        );
    }
    for node in &nodes {
        let size = node.query("DBSIZE").expect("it is there");
        assert_ne!(size, "int(0)", "each node has sessions");
    }
    assert_eq!(ledger.failed(), 0);
    for node in &nodes {
        let folder = env::temp_dir().join(format!("callwright-cluster-{}", node.port));
        let _ = fs::remove_dir_all(folder);
    }
}
