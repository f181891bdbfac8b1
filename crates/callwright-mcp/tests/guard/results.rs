//! Results: unchanged, or with a note to the model.

use callwright::check::Detector;

use crate::transcript::{Play, play, with};

fn listed() -> Play {
    play(
        r#"
        C= {"id":"list","method":"tools/list"}
        S= {"id":"list","result":{"tools":[{"name":"weather","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"degrees":{"type":"number"},"token":{"type":"number","format":"password"}},"required":["degrees"]}},{"name":"find","inputSchema":{"type":"object"}}]}}
        "#,
    )
}

#[test]
fn good_results_and_errors_pass_as_they_are() {
    listed().then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"weather","arguments":{"n":1}}}
        S= { "jsonrpc":"2.0", "result": {"content":[ {"type":"text","text":"{\"degrees\":5}"} ],"structuredContent":{"degrees": 5.0}}, "id":1 }
        C= {"id":2,"method":"tools/call","params":{"name":"weather","arguments":{"n":2}}}
        S= {"id":2,"result":{"isError":true,"content":[{"type":"text","text":"no such town"}],"structuredContent":{"x":1}}}
        C= {"id":3,"method":"tools/call","params":{"name":"weather","arguments":{"n":3}}}
        S= {"id":3,"error":{"code":-32602,"message":"Unknown tool","data":{"a":[ ]}}}
        C= {"id":4,"method":"tools/call","params":{"name":"find","arguments":{"n":4}}}
        S= {"id":4,"result":{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a","name":"a"}],"_meta":{"x":1}}}
        C= {"id":5,"method":"tools/call","params":{"name":"find","arguments":{"n":5}}}
        S= {"id":5,"result":null}
        C= {"id":6,"method":"tools/call","params":{"name":"weather","task":{"ttl":60000}}}
        S= {"id":6,"result":{"task":{"taskId":"t1","status":"working"}}}
        "#,
    );
}

#[test]
fn the_content_of_a_result_that_breaks_its_schema_is_withheld() {
    listed().then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"weather","arguments":{"n":1}}}
        S> {"jsonrpc":"2.0", "x":[1 ,2],"id":1,"result":{"content":[ {"type":"text","text":"warm"} ],"structuredContent":{"degrees":"warm"},"_meta":{"a":1.0}}}
        c< {"jsonrpc":"2.0", "x":[1 ,2],"id":1,"result":{"content":[{"type":"text","text":"The result does not fit its schema: degrees: expected number, received string \"warm\". The arguments are not the cause: use another tool or tell the user."}],"isError":true,"_meta":{"a":1.0}}}
        C= {"id":2,"method":"tools/call","params":{"name":"weather","arguments":{"n":2}}}
        S> {"id":2,"result":{"isError":false,"structuredContent":{}}}
        c< {"id":2,"result":{"content":[{"type":"text","text":"The result does not fit its schema: degrees: Required (number). The arguments are not the cause: use another tool or tell the user."}],"isError":true}}
        C= {"id":3,"method":"tools/call","params":{"name":"weather","arguments":{"n":3}}}
        S> {"id":3,"result":{"content":[ ],"structuredContent":{"degrees":1,"token":"secret-value"}}}
        c< {"id":3,"result":{"content":[{"type":"text","text":"The result does not fit its schema: token: expected number, received string (hidden). The arguments are not the cause: use another tool or tell the user."}],"isError":true}}
        "#,
    );
}

#[test]
fn a_result_that_is_too_long_is_cut_with_a_note() {
    with(|settings| settings.policy.output.max_bytes = Some(100)).then(
        r#"
        C= {"id":"list","method":"tools/list"}
        S= {"id":"list","result":{"tools":[{"name":"find","inputSchema":{"type":"object"}},{"name":"typed","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}
        C= {"id":1,"method":"tools/call","params":{"name":"find","arguments":{"n":1}}}
        S> {"id":1,"result":{"content":[{"type":"text","text":"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789and more"}],"_meta":{"a":1}}}
        c< {"id":1,"result":{"content":[{"type":"text","text":"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"},{"type":"text","text":"The result has 108 bytes; these are the first 100. Continue with what you have, or ask for less at once."}],"isError":false,"_meta":{"a":1}}}
        C= {"id":2,"method":"tools/call","params":{"name":"typed","arguments":{"n":2}}}
        S> {"id":2,"result":{"content":[{"type":"text","text":"short"}],"structuredContent":{"long":"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"}}}
        c< {"id":2,"result":{"content":[{"type":"text","text":"{\"long\":\"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"},{"type":"text","text":"The result has 111 bytes; these are the first 100. Continue with what you have, or ask for less at once."}],"isError":true}}
        "#,
    );
}

#[test]
fn a_picture_is_not_a_long_text() {
    let picture = "iVBORw0KGgo".repeat(200);
    with(|settings| settings.policy.output.max_bytes = Some(200)).then(&format!(
        r#"
        C= {{"id":"list","method":"tools/list"}}
        S= {{"id":"list","result":{{"tools":[{{"name":"find","inputSchema":{{"type":"object"}}}}]}}}}
        C= {{"id":3,"method":"tools/call","params":{{"name":"find","arguments":{{"n":3}}}}}}
        S= {{"id":3,"result":{{"content":[{{"type":"image","data":"{picture}","mimeType":"image/png"}}]}}}}
        "#
    ));
}

#[test]
fn a_partial_result_keeps_its_content_and_gets_a_note() {
    with(|settings| settings.policy.output.detect = Some(vec![Detector::MorePages])).then(
        r#"
        C= {"id":"list","method":"tools/list"}
        S= {"id":"list","result":{"tools":[{"name":"find","inputSchema":{"type":"object"}}]}}
        C= {"id":1,"method":"tools/call","params":{"name":"find","arguments":{"n":1}}}
        S> {"id":1,"result":{"content":[{"type":"text","text":"{\"items\":[1,2],\"has_more\":true}"}],"isError":false}}
        c< {"id":1,"result":{"content":[{"type":"text","text":"{\"items\":[1,2],\"has_more\":true}"},{"type":"text","text":"There is more. Continue with what you have, or ask for the rest."}],"isError":false}}
        "#,
    );
}

#[test]
fn an_answer_may_have_the_id_as_a_text_or_as_a_number() {
    listed().then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"weather","arguments":{"n":1}}}
        S> {"id":"1","result":{"content":[],"structuredContent":{"degrees":"warm"}}}
        c< {"id":"1","result":{"content":[{"type":"text","text":"The result does not fit its schema: degrees: expected number, received string \"warm\". The arguments are not the cause: use another tool or tell the user."}],"isError":true}}
        C= {"id":"2","method":"tools/call","params":{"name":"weather","arguments":{"n":2}}}
        C= {"id":2,"method":"tools/call","params":{"name":"find","arguments":{"n":2}}}
        S= {"id":2,"result":{"content":[],"structuredContent":{"degrees":"warm"}}}
        S> {"id":2,"result":{"content":[],"structuredContent":{"degrees":"warm"}}}
        c< {"id":2,"result":{"content":[{"type":"text","text":"The result does not fit its schema: degrees: expected number, received string \"warm\". The arguments are not the cause: use another tool or tell the user."}],"isError":true}}
        "#,
    );
}
