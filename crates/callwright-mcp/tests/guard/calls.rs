//! Calls: refused, repaired, admitted, cancelled.

use crate::transcript::{Play, play};

const LIST: &str = r#"
    C= {"id":"list","method":"tools/list"}
    S= {"id":"list","result":{"tools":[
    {"name":"search","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}},
    {"name":"login","inputSchema":{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"integer","format":"password"}},"required":["user","password"]}},
    {"name":"wipe","inputSchema":{"type":"object"}},
    {"name":"delete_all","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}
    ]}}
"#;

fn listed() -> Play {
    // A message is one line.
    let list = LIST
        .replace("[\n", "[")
        .replace(",\n    {", ",{")
        .replace("\n    ]", "]");
    play(&list)
}

#[test]
fn bad_arguments_are_answered_with_an_instruction() {
    listed().then(
        r#"
        C> {"jsonrpc":"2.0","id":"x-1","method":"tools/call","params":{"name":"search","arguments":{"limit":[]}}}
        r< "x-1" Please rewrite the input with valid arguments. Errors: query: Required; limit: expected integer, received empty array
        C> {"jsonrpc":"2.0","id":12345678901234567890123,"method":"tools/call","params":{"name":"search"}}
        r< 12345678901234567890123 Please rewrite the input with valid arguments. Errors: query: Required
        C> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":"all"}}
        r< 3 Please rewrite the input with valid arguments. Errors: Root object: expected object, received string "all", did you mean {"query":"all"}?
        C> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"serch","arguments":{"query":"x"}}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"search","inputSchema":{"type":"object"}}]}}
        r< 4 There is no tool named "serch". Did you mean "search"? Call one of the tools you were given, by its exact name.
        "#,
    );
}

#[test]
fn a_repair_changes_name_and_arguments_only() {
    listed().then(
        r#"
        C> { "params" : {"_meta":{"progressToken": 1.0}, "arguments" : {"query":"a", "limit":"10"} , "name":"search" }, "id":1 ,"method":"tools/call","extra":[1 ,2]}
        s< { "params" : {"_meta":{"progressToken": 1.0}, "arguments" : {"query":"a","limit":10} , "name":"search" }, "id":1 ,"method":"tools/call","extra":[1 ,2]}
        C> {"id":2,"method":"tools/call","params":{"name":"functions.delete_all"}}
        s< {"id":2,"method":"tools/call","params":{"name":"delete_all"}}
        C> {"id":3,"method":"tools/call","params":{"arguments":null,"name":"Wipe"}}
        s< {"id":3,"method":"tools/call","params":{"arguments":{},"name":"wipe"}}
        C> {"id":4,"method":"tools/call","params":{"name":"search","arguments":"{\"query\":\"b\"}"}}
        s< {"id":4,"method":"tools/call","params":{"name":"search","arguments":{"query":"b"}}}
        "#,
    );
}

#[test]
fn batches_are_taken_apart_only_if_something_happens_to_them() {
    listed().then(
        r#"
        C= [{"id":1,"method":"ping"}, {"id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}]
        S= [{"id":1,"result":{}}, {"id":2,"result":{"content":[]}}]
        C> [{"id":3,"method":"ping"},{"id":4,"method":"tools/call","params":{"name":"search"}},{"id":5,"method":"ping"}]
        s< {"id":3,"method":"ping"}
        s< {"id":5,"method":"ping"}
        r< 4 Please rewrite the input with valid arguments. Errors: query: Required
        "#,
    );
}

#[test]
fn a_call_that_fails_again_and_again_is_refused_at_the_fourth() {
    listed().then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        S= {"id":1,"result":{"content":[{"type":"text","text":"no such index"}],"isError":true}}
        t  3
        C= {"id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        S> {"id":2,"result":{"content":[{"type":"text","text":"no such index"}],"isError":true}}
        c< {"id":2,"result":{"content":[{"type":"text","text":"no such index"},{"type":"text","text":"This exact call has failed the same way twice in a row. Change it, or do something else."}],"isError":true}}
        t  3
        C= {"id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        S> {"id":3,"result":{"content":[{"type":"text","text":"no such index"}],"isError":true}}
        c< {"id":3,"result":{"content":[{"type":"text","text":"no such index"},{"type":"text","text":"This exact call has failed the same way 3 times in a row. Change it, or do something else."}],"isError":true}}
        t  3
        C> {"id":4,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        r< 4 This exact call failed the same way 3 times in a row, last 1 round ago: no such index. It will fail again: change the arguments or do something else.
        # A call after a long silence: another turn.
        t  121
        C= {"id":5,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        "#,
    );
}

#[test]
fn a_cancelled_call_that_waits_is_never_sent() {
    play(
        r#"
        C> {"id":1,"method":"tools/call","params":{"name":"a"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        C> {"id":"\u00e9","method":"tools/call","params":{"name":"a"}}
        C> {"method":"notifications/cancelled","params":{"requestId":"é"}}
        C= {"method":"notifications/cancelled","params":{"requestId":99}}
        C= {"method":"notifications/cancelled","params":{}}
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"a"}]}}
        s< {"id":1,"method":"tools/call","params":{"name":"a"}}
        "#,
    );
}

#[test]
fn a_late_answer_to_a_cancelled_call_passes() {
    listed().then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        C= {"method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}
        S= {"id":1,"result":{"content":[{"type":"text","text":"late"}]}}
        S= {"id":1,"result":{"content":[{"type":"text","text":"and twice"}]}}
        "#,
    );
}

#[test]
fn answers_to_one_id_for_two_calls_pass_unjudged_and_end_the_round() {
    listed().then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        C= {"id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"b"}}}
        S= {"id":1,"result":{"content":[{"type":"text","text":"one"}]}}
        S= {"id":1,"result":{"content":[{"type":"text","text":"two"}]}}
        # Three failures, and the silence before the fourth begins a turn: nothing runs any more.
        C= {"id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}
        S= {"id":2,"error":{"code":1,"message":"no"}}
        C= {"id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}
        S= {"id":3,"error":{"code":1,"message":"no"}}
        C= {"id":4,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}
        S= {"id":4,"error":{"code":1,"message":"no"}}
        t  121
        C= {"id":5,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}
        "#,
    );
}

#[test]
fn ids_with_other_escapes_are_the_same_ids() {
    listed().then(
        r#"
        C= {"id":"a\/\u00e9","method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        S= {"id":"a/é","result":{"content":[{"type":"text","text":"no"}],"isError":true}}
        C= {"id":1.0,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        S> {"id":1,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}
        c< {"id":1,"result":{"content":[{"type":"text","text":"no"},{"type":"text","text":"This exact call has failed the same way twice in a row. Change it, or do something else."}],"isError":true}}
        "#,
    );
}

/// A destructive call that succeeded is not repeated, but a call that continues after a question is not a repetition.
#[test]
fn a_continued_call_is_not_a_repetition() {
    listed().then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"delete_all"}}
        S= {"id":1,"result":{"resultType":"input_required","inputRequests":{"q":{}},"requestState":"abc"}}
        C= {"id":2,"method":"tools/call","params":{"name":"delete_all","inputResponses":{"q":{}},"requestState":"abc"}}
        S= {"id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"gone"}]}}
        "#,
    );
}

#[test]
fn waiting_requests_learn_that_the_server_is_gone() {
    let played = listed().then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}
        C= {"id":"a\"b","method":"tools/list"}
        C= {"id":7,"method":"resources/list"}
        C= {"id":8,"method":"resources/list"}
        S= {"id":8,"result":{}}
        S= {"method":"notifications/tools/list_changed"}
        C> {"id":3,"method":"tools/call","params":{"name":"other"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        "#,
    );
    assert_eq!(
        played.server_gone("it \"died\""),
        [
            r#"{"jsonrpc":"2.0","id":"a\"b","error":{"code":-32000,"message":"it \"died\""}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"it \"died\""}}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"it \"died\""}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"it \"died\""}}"#,
        ]
    );
    assert!(!played.waits());
    assert!(played.server_gone("again").is_empty());
    played.then(
        r#"
        C> {"id":5,"method":"ping"}
        c< {"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"again"}}
        C= {"method":"notifications/x"}
        "#,
    );
}
