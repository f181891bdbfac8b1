//! The model's answers, in order: each is a mistake that gateway users have reported.

/// One answer of the model.
pub(crate) struct Turn {
    pub(crate) mistake: &'static str,
    /// The deltas of the answer, each as JSON.
    pub(crate) deltas: &'static [&'static str],
    /// `None` if it is missing, along with the end of the stream.
    pub(crate) finish: Option<&'static str>,
    /// How many records the gateway writes.
    pub(crate) records: usize,
}

const CALLS: Option<&str> = Some("tool_calls");
const STOP: Option<&str> = Some("stop");

pub(crate) const TURNS: [Turn; 26] = [
    Turn {
        mistake: "a number as text",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\","}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"\"days\":\"3\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "two calls with one index, and `stop` beside them",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_2","function":{"name":"get_weather","arguments":"{\"city\":\"Lyon\"}"}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"call_3","function":{"name":"get_weather","arguments":"{\"city\":\"Nice\"}"}}]}"#,
        ],
        finish: STOP,
        records: 2,
    },
    Turn {
        mistake: "no index",
        deltas: &[
            r#"{"tool_calls":[{"id":"call_4","function":{"name":"get_weather","arguments":"{\"city\":\"Turin\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "an index that leaves a gap",
        deltas: &[
            r#"{"tool_calls":[{"index":2,"id":"call_5","function":{"name":"get_weather","arguments":"{\"city\":\"Milan\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "id and name again with every piece",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_6","function":{"name":"get_weather","arguments":"{\"city\":"}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"call_6","function":{"name":"get_weather","arguments":"\"Verona\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "an empty id and name with every later piece",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_7","function":{"name":"get_weather","arguments":"{\"city\":"}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":"\"Genoa\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "two calls with one id",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_8","function":{"name":"get_weather","arguments":"{\"city\":\"Parma\"}"}}]}"#,
            r#"{"tool_calls":[{"index":1,"id":"call_8","function":{"name":"get_weather","arguments":"{\"city\":\"Modena\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 2,
    },
    Turn {
        mistake: "an id that an earlier call has",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"get_weather","arguments":"{\"city\":\"Bologna\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "several calls in one",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_9","function":{"name":"get_weather","arguments":"{\"city\":\"Florence\"}{\"city\":\"Siena\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 2,
    },
    Turn {
        mistake: "arguments as an object",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_10","function":{"name":"get_weather","arguments":{"city":"Pisa"}}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "arguments encoded twice",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_11","function":{"name":"get_weather","arguments":"\"{\\\"city\\\":\\\"Lucca\\\"}\""}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "Python instead of JSON",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_12","function":{"name":"get_weather","arguments":"{'city': 'Rome', 'days': 2,}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "a name with the prefix of a template",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_13","function":{"name":"functions.get_weather","arguments":"{\"city\":\"Naples\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "no finish reason, and no end of the stream",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_14","function":{"name":"get_weather","arguments":"{\"city\":\"Salerno\"}"}}]}"#,
        ],
        finish: None,
        records: 1,
    },
    Turn {
        mistake: "a call as text, in a fence",
        deltas: &[
            r#"{"content":"```json\n{\"name\": \"get_weather\", "}"#,
            r#"{"content":"\"arguments\": {\"city\": \"Bari\"}}\n```"}"#,
        ],
        finish: STOP,
        records: 1,
    },
    Turn {
        mistake: "a call as text, in tags, and no end of the stream",
        deltas: &[
            r#"{"content":"<tool_call>{\"name\": \"get_weather\", "}"#,
            r#"{"content":"\"arguments\": {\"city\": \"Lecce\"}}</tool_call>"}"#,
        ],
        finish: None,
        records: 1,
    },
    Turn {
        mistake: "words around a call of a tool that only reads",
        deltas: &[
            r#"{"content":"Let me look.\n<tool_call>{\"name\": \"get_weather\", "}"#,
            r#"{"content":"\"arguments\": {\"city\": \"Taranto\"}}</tool_call>"}"#,
        ],
        finish: STOP,
        records: 1,
    },
    Turn {
        mistake: "words around a call of another tool: it stays text",
        deltas: &[
            r#"{"content":"Shall I send <tool_call>{\"name\": \"send_postcard\", "}"#,
            r#"{"content":"\"arguments\": {\"to\": \"Anna\"}}</tool_call>?"}"#,
        ],
        finish: STOP,
        records: 0,
    },
    Turn {
        mistake: "a call in its thoughts: it stays there",
        deltas: &[
            r#"{"reasoning_content":"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Cosenza\"}}</tool_call>"}"#,
            r#"{"content":"One moment."}"#,
        ],
        finish: STOP,
        records: 0,
    },
    Turn {
        mistake: "a city is missing: the model is asked again",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_15","function":{"name":"get_weather","arguments":"{\"days\":2}"}}]}"#,
        ],
        finish: CALLS,
        records: 2,
    },
    Turn {
        mistake: "a tool that does not exist: the call passes as it came",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_16","function":{"name":"book_ferry","arguments":"{\"to\":\"Palermo\"}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "a call that was made before",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_17","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\",\"days\":3}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "the same again",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_18","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\",\"days\":3}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "and again: the call becomes words, which end the loop",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_19","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\",\"days\":3}"}}]}"#,
        ],
        finish: CALLS,
        records: 1,
    },
    Turn {
        mistake: "cut off by the token limit: it passes as it came",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_20","function":{"name":"get_weather","arguments":"{\"city\":\"Messi"}}]}"#,
        ],
        finish: Some("length"),
        records: 1,
    },
    Turn {
        mistake: "none, but the API rejects what the cut call left in the conversation, until it is mended",
        deltas: &[r#"{"content":"Sunny "}"#, r#"{"content":"everywhere."}"#],
        finish: STOP,
        records: 0,
    },
];
