//! Finds the request members that matter while the bytes pass.
//!
//! Takes a body piece by piece, however it is cut. Keeps the text of a few members and remembers where the last
//! messages of the conversation are; the rest is skipped, strings at memory speed, so that a megabyte of history
//! costs less than sending it. Never changes the body and never checks its syntax: a body that is not JSON is for the
//! provider to reject.

use memchr::memchr2;

use super::members::{IDS, MEMBERS, RequestMember, RequestMembers, TOOLS_ELSEWHERE, history_keys};
use crate::text_calls::TakenIds;

/// How many messages at the end of a conversation are remembered. Two hundred rounds, the most that are replayed, fit
/// with several parallel calls in each.
const MOST_MESSAGES: usize = 2_048;

/// The longest key or word that matters here, with room to spare. Longer strings are not kept.
const LONGEST_WORD: usize = 64;

/// How many ids are remembered: more calls than fit into the context of any model.
const MOST_IDS: usize = 16_384;

/// Scans a body as it passes.
#[derive(Debug, Default)]
pub(crate) struct RequestScan {
    /// How many bytes have passed.
    passed: usize,
    /// How many objects and arrays are open; one directly inside the body's object.
    depth: usize,
    string: Option<OpenString>,
    /// The next string in the body's object is a key.
    expects_key: bool,
    /// How the current value in the body's object is used.
    value: ValueUse,
    /// Where the current message began.
    message: Option<usize>,
    id: IdPlace,
    found: RequestMembers,
    /// Something needs more careful parsing: a duplicate member, a key with escapes.
    is_odd: bool,
}

#[derive(Debug, Default)]
struct OpenString {
    /// Its beginning, as far as it came in earlier pieces.
    before: Vec<u8>,
    /// The next byte belongs to an escape.
    is_escaped: bool,
    has_escapes: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ValueUse {
    /// Its key is not known yet, or it is skipped.
    #[default]
    Skipped,
    /// It is to be kept, and has not begun.
    Wanted(RequestMember),
    /// It is being kept, as the last of the members.
    Kept,
    /// It is the conversation.
    History,
}

/// Whether the next string in the conversation is an id.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum IdPlace {
    #[default]
    Elsewhere,
    /// The last string may be the key of an id.
    AfterKey,
    /// The key of an id and a colon have passed.
    AfterColon,
}

impl RequestScan {
    /// Scans the next piece of the body.
    pub(crate) fn read(&mut self, piece: &[u8]) {
        let mut at = 0;
        // Where the part of this piece that belongs to a kept member begins.
        let mut kept_from = 0;
        while at < piece.len() {
            if self.string.is_some() {
                at = self.read_string(piece, at);
                continue;
            }
            let byte = piece[at];
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b',' | b']' | b'}' => {
                    let is_close = byte != b',';
                    if self.depth == 2 && self.value == ValueUse::History {
                        self.end_message(at);
                    }
                    if self.depth == 1 {
                        self.end_value(piece.get(kept_from..at).unwrap_or_default());
                        self.expects_key = true;
                    }
                    self.depth = self.depth.saturating_sub(usize::from(is_close));
                    self.id = IdPlace::Elsewhere;
                }
                b':' => {
                    self.expects_key &= self.depth != 1;
                    if self.id == IdPlace::AfterKey {
                        self.id = IdPlace::AfterColon;
                    }
                }
                _ => {
                    self.begin(at, &mut kept_from);
                    match byte {
                        b'{' | b'[' => {
                            self.depth += 1;
                            self.expects_key |= self.depth == 1;
                            self.id = IdPlace::Elsewhere;
                        }
                        b'"' => self.string = Some(OpenString::default()),
                        _ => {}
                    }
                }
            }
            at += 1;
        }
        if self.value == ValueUse::Kept
            && let Some((_, text)) = self.found.members.last_mut()
        {
            text.extend_from_slice(piece.get(kept_from..).unwrap_or_default());
        }
        self.passed += piece.len();
    }

    /// The members found; `None` if the body is not one complete object, or too unusual to be scanned like this.
    pub(crate) fn end(self) -> Option<RequestMembers> {
        (self.depth == 0 && self.passed > 0 && !self.is_odd).then_some(self.found)
    }

    /// Handles a place where a value or a message may begin.
    fn begin(&mut self, at: usize, kept_from: &mut usize) {
        if let (1, false, ValueUse::Wanted(member)) = (self.depth, self.expects_key, self.value) {
            self.is_odd |= self.found.member(member).is_some();
            self.found.members.push((member, Vec::new()));
            self.value = ValueUse::Kept;
            *kept_from = at;
        }
        if self.depth == 2 && self.value == ValueUse::History && self.message.is_none() {
            self.message = Some(self.passed + at);
        }
    }

    fn end_message(&mut self, at: usize) {
        let Some(began) = self.message.take() else {
            return;
        };
        if self.found.messages.len() == MOST_MESSAGES {
            self.found.messages.pop_front();
        }
        self.found.messages.push_back(began..self.passed + at);
    }

    fn end_value(&mut self, rest: &[u8]) {
        if self.value == ValueUse::Kept
            && let Some((_, text)) = self.found.members.last_mut()
        {
            text.extend_from_slice(rest);
        }
        self.value = ValueUse::Skipped;
    }

    /// Continues a string; returns the position after it.
    fn read_string(&mut self, piece: &[u8], from: usize) -> usize {
        let Some(string) = &mut self.string else {
            return from;
        };
        let mut at = from;
        loop {
            if std::mem::take(&mut string.is_escaped) {
                at += 1;
            }
            match memchr2(b'"', b'\\', piece.get(at..).unwrap_or_default()) {
                Some(next) if piece.get(at + next) == Some(&b'\\') => {
                    string.has_escapes = true;
                    string.is_escaped = true;
                    at += next + 1;
                    if at >= piece.len() {
                        break;
                    }
                }
                Some(next) => {
                    let end = at + next;
                    self.end_string(piece.get(from..end).unwrap_or_default());
                    return end + 1;
                }
                None => break,
            }
        }
        let room = (LONGEST_WORD + 1).saturating_sub(string.before.len());
        let rest = piece.get(from..).unwrap_or_default();
        string.before.extend(rest.iter().take(room));
        piece.len()
    }

    fn end_string(&mut self, rest: &[u8]) {
        let Some(string) = self.string.take() else {
            return;
        };
        if self.depth != 1 || !self.expects_key {
            if string.before.len() + rest.len() <= LONGEST_WORD {
                let is = |mark: &&[u8]| is_word(&string.before, rest, mark);
                self.found.has_tools_elsewhere |= TOOLS_ELSEWHERE.iter().any(is);
                let is_key = self.value == ValueUse::History && IDS.iter().any(is);
                self.end_id(&string.before, rest, is_key);
            }
            return;
        }
        self.is_odd |= string.has_escapes;
        let named = MEMBERS
            .iter()
            .find(|(name, _)| is_word(&string.before, rest, name));
        self.value = match named {
            Some((_, member)) => ValueUse::Wanted(*member),
            None if history_keys().any(|name| is_word(&string.before, rest, name)) => {
                ValueUse::History
            }
            None => ValueUse::Skipped,
        };
    }
}

impl RequestScan {
    /// Handles the end of a conversation string that may be an id, or the key of one.
    fn end_id(&mut self, before: &[u8], rest: &[u8], is_key: bool) {
        let ids = &mut self.found.ids.0;
        if self.id == IdPlace::AfterColon && ids.len() < MOST_IDS {
            ids.insert(match before {
                [] => TakenIds::key(rest),
                before => TakenIds::key(&[before, rest].concat()),
            });
        }
        let is_id = std::mem::take(&mut self.id) == IdPlace::AfterColon;
        if is_key && !is_id {
            self.id = IdPlace::AfterKey;
        }
    }
}

/// Whether the two parts of a string make up this word.
fn is_word(before: &[u8], rest: &[u8], word: &[u8]) -> bool {
    before.len() + rest.len() == word.len()
        && word.strip_prefix(before).is_some_and(|end| end == rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::*;

    fn scanned(pieces: &[&[u8]]) -> Option<RequestMembers> {
        let mut scan = RequestScan::default();
        for piece in pieces {
            scan.read(piece);
        }
        scan.end()
    }

    #[test]
    fn members_and_messages_are_found_however_the_body_is_cut() {
        let body = r#" { "mx" : [1, {"tools": 7}], "model" : "a\"}b" ,"messages":[ {"role":"user","content":"\\"} , "x",[2] ],
            "tools":[{"name":"\u0041,]"}] , "parallel_tool_calls": false, "stream":true}"#;
        for cut in 0..body.len() {
            let (one, two) = body.as_bytes().split_at(cut);
            let found = scanned(&[one, two]).expect("a request");
            assert_eq!(
                found.member(RequestMember::Model),
                Some(r#""a\"}b""#),
                "{cut}"
            );
            assert_eq!(
                found.member(RequestMember::Tools),
                Some(r#"[{"name":"\u0041,]"}]"#)
            );
            assert_eq!(
                found.member(RequestMember::ParallelToolCalls),
                Some("false")
            );
            assert_eq!(found.member(RequestMember::ToolChoice), None);
            let messages: Vec<&str> = found
                .messages
                .iter()
                .map(|span| body[span.clone()].trim())
                .collect();
            assert_eq!(
                messages,
                [r#"{"role":"user","content":"\\"}"#, r#""x""#, "[2]"]
            );
            assert!(!found.has_tools_elsewhere);
        }
    }

    #[test]
    fn an_ambiguous_body_is_not_read() {
        for body in [
            "",
            r#"{"model": "m""#,
            r#"{"tools": [], "tools": []}"#,
            r#"{"t\u006fols": []}"#,
        ] {
            assert!(scanned(&[body.as_bytes()]).is_none(), "{body}");
        }
    }

    #[test]
    fn tools_in_the_conversation_are_seen() {
        let body = br#"{"input": [{"type": "additional_tools"}]}"#;
        for cut in 0..body.len() {
            let (one, two) = body.split_at(cut);
            assert!(scanned(&[one, two]).expect("a request").has_tools_elsewhere);
        }
        let said = br#"{"input": "a \"tool_addition\" is meant"}"#;
        assert!(!scanned(&[said]).expect("a request").has_tools_elsewhere);
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i32>().prop_map(Json::from),
            "[a-z\"\\\\\\[\\]{},: \u{e9}]{0,80}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
                prop::collection::vec(("[a-z\"]{0,4}", inner), 0..5).prop_map(Json::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn finds_what_a_parser_finds(tools in any_json(), choice in any_json(), messages in prop::collection::vec(any_json(), 0..6), other in any_json(), is_pretty: bool, size in 1_usize..40) {
            let request = json!({"other": other, "tools": tools, "messages": messages, "tool_choice": choice});
            let body = if is_pretty { serde_json::to_string_pretty(&request) } else { serde_json::to_string(&request) };
            let body = body.expect("JSON");
            let pieces: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
            let found = scanned(&pieces).expect("a request");
            let read = |member| serde_json::from_str::<Json>(found.member(member).expect("a member")).expect("JSON");
            prop_assert_eq!(read(RequestMember::Tools), tools);
            prop_assert_eq!(read(RequestMember::ToolChoice), choice);
            let listed: Vec<Json> = found.messages.iter().map(|span| serde_json::from_str(&body[span.clone()]).expect("JSON")).collect();
            prop_assert_eq!(listed, messages);
        }
    }
}
