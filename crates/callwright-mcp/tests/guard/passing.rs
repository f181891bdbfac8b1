//! Messages that are not about tools pass byte for byte.

use std::sync::Arc;

use callwright_mcp::guard::{Action, Guard, Now, Settings};

use crate::transcript::play;

#[test]
fn everything_else_of_the_protocol_passes() {
    play(
        r#"
        C= {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}}
        S= {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}}}
        C= {"jsonrpc":"2.0","method":"notifications/initialized"}
        C= {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///a"}}
        S= {"jsonrpc":"2.0","id":1,"result":{"contents":[]}}
        C= {"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"p"}}
        S= {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}
        C= {"jsonrpc":"2.0","id":3,"method":"completion/complete","params":{}}
        S= {"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}
        C= {"jsonrpc":"2.0","id":9,"result":{"role":"assistant","content":{"type":"text","text":"hi"}}}
        S= {"jsonrpc":"2.0","id":10,"method":"elicitation/create","params":{"message":"?"}}
        C= {"jsonrpc":"2.0","id":10,"result":{"action":"decline"}}
        S= {"jsonrpc":"2.0","id":11,"method":"roots/list"}
        C= {"jsonrpc":"2.0","id":11,"error":{"code":-32601,"message":"no"}}
        S= {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}
        S= {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"tools/call"}}
        C= {"jsonrpc":"2.0","id":12,"method":"logging/setLevel","params":{"level":"debug"}}
        C= {"jsonrpc":"2.0","id":13,"method":"x/unknown","params":[1,2],"more":{"a":[ ]}}
        C= {"jsonrpc":"2.0","id":14,"method":"ping"}
        S= {"jsonrpc":"2.0","id":14,"result":{}}
        # A server that calls a tool of the client's is not ours to judge.
        S= {"jsonrpc":"2.0","id":15,"method":"tools/call","params":{"name":"x","arguments":{}}}
        C= {"jsonrpc":"2.0","id":15,"result":{}}
        "#,
    );
}

#[test]
fn odd_writing_passes_as_it_is() {
    play(
        r#"
        C=   { "id" : "a\/b" ,"method":"pi\u006eg" , "jsonrpc":"2.0" }
        C= {"id":123456789012345678901234567890,"method":"ping"}
        S= {"id":123456789012345678901234567890,"result":{"n":1.0e5,"x":1.00}}
        C= {"id":{"a":1},"method":"ping"}
        S= Server listening on port 3000
        S= {"id":
        S= {
        S= 7
        S= {"id":1,"id":2,"result":{}}
        C= []
        S= []
        S= [{"id":4,"result":{}},{"method":"notifications/message","params":{}}]
        "#,
    );
}

#[test]
fn any_message_of_a_server_passes() {
    let guard = Guard::new(Arc::new(Settings::default()), "s");
    let mut out = Vec::new();
    let bytes: &[u8] = b"{\"id\":1,\"result\":\"\xff\"}";
    guard.from_server(bytes, Now::by_clock(), &mut out);
    guard.from_server(b"\0", Now::by_clock(), &mut out);
    assert!(
        matches!(out[..], [Action::PassToClient(one), Action::PassToClient(b"\0")] if one == bytes),
        "{out:?}"
    );
    // Blank lines pass too.
    for blank in [&b""[..], b"\n", b" \r\n"] {
        let mut out = Vec::new();
        guard.from_client(blank, Now::by_clock(), &mut out);
        assert!(
            matches!(out[..], [Action::PassToServer(same)] if same == blank),
            "{out:?}"
        );
    }
}

/// Each level of nesting used to be a recursive call.
#[test]
fn batches_within_batches_do_not_exhaust_the_stack() {
    let guard = Guard::new(Arc::new(Settings::default()), "s");
    let deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
    let mut out = Vec::new();
    guard.from_client(deep.as_bytes(), Now::by_clock(), &mut out);
    guard.from_server(deep.as_bytes(), Now::by_clock(), &mut out);
    assert!(matches!(out[0], Action::Warn(_)), "{out:?}");
    assert!(matches!(out[1], Action::ToClient(_)), "{out:?}");
    assert!(
        matches!(out[2..], [Action::PassToClient(same)] if same == deep.as_bytes()),
        "{out:?}"
    );
}
