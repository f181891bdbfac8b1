//! What stands beside calls: the conversation, the time, the model, how long it took.
//!
//! Logs have many names for these. Where several are there, the most telling one counts: `session` before `trace_id`.

use std::borrow::Cow;

use callwright::json::Value;

use super::time;
use crate::seen::At;

/// No call takes 30,000 years; sums of what is shorter stay within bounds.
const LONGEST_US: u64 = 1_000_000_000_000_000_000;

/// What is known of a record from beside its calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Context<'a> {
    session: Option<(u8, Cow<'a, str>)>,
    time: Option<(u8, i64)>,
    model: Option<(u8, Cow<'a, str>)>,
    latency_us: Option<u64>,
}

impl<'a> Context<'a> {
    /// Adds what the members of an object say; what is known already stays where it is as telling.
    pub(super) fn add(&mut self, value: &Value<'a>) {
        for (key, value) in value.as_object().unwrap_or_default() {
            // Most keys are of no interest.
            match key.as_bytes().first() {
                Some(b's' | b'c' | b't') => self.add_session_or_time(key, value),
                Some(b'm') => self.add_model(key, value),
                Some(b'l' | b'd') => self.add_latency(key, value),
                Some(b'r') if key == "request_created_at" => self.add_time(5, value),
                _ => {}
            }
        }
    }

    fn add_session_or_time(&mut self, key: &str, value: &Value<'a>) {
        match key {
            "session" => self.add_session(0, value),
            "session_id" | "sessionId" => self.add_session(1, value),
            "conversation_id" | "conversationId" | "conversation" => self.add_session(2, value),
            "thread_id" | "threadId" => self.add_session(3, value),
            "chat_id" | "chatId" => self.add_session(4, value),
            "trace_id" | "traceId" => self.add_session(9, value),
            "time" => self.add_time(0, value),
            "timestamp" => self.add_time(1, value),
            "ts" => self.add_time(2, value),
            "created_at" | "createdAt" => self.add_time(3, value),
            "start_time" | "startTime" => self.add_time(4, value),
            "created" => self.add_time(6, value),
            _ => {}
        }
    }

    pub(super) fn add_session(&mut self, rank: u8, value: &Value<'a>) {
        if self
            .session
            .as_ref()
            .is_some_and(|(known, _)| *known <= rank)
        {
            return;
        }
        let session = match value {
            Value::String(text) if !text.is_empty() => text.clone(),
            Value::Number(number) => Cow::Owned(number.as_str().to_owned()),
            // OpenAI responses: `{"conversation": {"id": …}}`.
            Value::Object(_) => match value.get("id") {
                Some(Value::String(id)) => id.clone(),
                _ => return,
            },
            _ => return,
        };
        self.session = Some((rank, session));
    }

    pub(super) fn add_time(&mut self, rank: u8, value: &Value<'a>) {
        if self.time.is_none_or(|(known, _)| known > rank)
            && let Some(time) = time::read(value)
        {
            self.time = Some((rank, time));
        }
    }

    fn add_model(&mut self, key: &str, value: &Value<'a>) {
        match (key, value) {
            ("model", Value::String(model)) => self.set_model(0, model.clone()),
            ("model_name" | "modelName" | "modelId" | "modelVersion", Value::String(model)) => {
                self.set_model(1, model.clone());
            }
            ("metadata", Value::Object(members)) => {
                for (key, value) in members {
                    match key.as_ref() {
                        "session" | "session_id" | "sessionId" => self.add_session(5, value),
                        "conversation_id" | "conversationId" => self.add_session(6, value),
                        "thread_id" | "threadId" => self.add_session(7, value),
                        "trace_id" | "traceId" => self.add_session(10, value),
                        // An agent's way to tell Anthropic of its sessions.
                        "user_id" if value.as_str().is_some_and(|id| id.contains("session_")) => {
                            self.add_session(8, value);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn set_model(&mut self, rank: u8, model: Cow<'a, str>) {
        if !model.is_empty() && self.model.as_ref().is_none_or(|(known, _)| *known > rank) {
            self.model = Some((rank, model));
        }
    }

    fn add_latency(&mut self, key: &str, value: &Value<'a>) {
        let unit = match key {
            "latency_us" | "duration_us" => 1_u32,
            "latency_ms" | "duration_ms" | "durationMs" => 1_000,
            _ => return,
        };
        let Some(number) = value.as_number() else {
            return;
        };
        let micros = match number.as_u64() {
            Some(whole) => Some(whole.saturating_mul(u64::from(unit))),
            None => whole_part(number.as_f64() * f64::from(unit)),
        };
        if let Some(micros) = micros.filter(|micros| *micros < LONGEST_US) {
            self.latency_us = Some(micros);
        }
    }

    /// This is when.
    pub(super) fn set_time(&mut self, time: i64) {
        self.time = Some((0, time));
    }

    /// Where and when, as far as known.
    pub(super) fn at(&self) -> At<'a> {
        At {
            session: self.session.as_ref().map(|(_, session)| session.clone()),
            turn: None,
            round: None,
            time: self.time.map(|(_, time)| time),
            model: self.model.as_ref().map(|(_, model)| model.clone()),
        }
    }

    /// How long the tool took. Only beside a single call: beside an answer of a model it is the model's time.
    pub(super) fn latency_us(&self) -> Option<u64> {
        self.latency_us
    }

    pub(super) fn has_session(&self) -> bool {
        self.session.is_some()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "within the bounds"
)]
fn whole_part(micros: f64) -> Option<u64> {
    (0.0..LONGEST_US as f64)
        .contains(&micros)
        .then_some(micros as u64)
}
