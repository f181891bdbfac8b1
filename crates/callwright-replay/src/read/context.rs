//! What is recorded besides calls: the conversation, the time, the model, the duration.
//!
//! Logs have many names for these. If several are present, the most specific one counts: `session` before `trace_id`.

use std::borrow::Cow;

use callwright::json::Value;

use super::time;
use crate::seen::At;

/// No call takes 30,000 years; sums of shorter ones stay within bounds.
const LONGEST_US: u64 = 1_000_000_000_000_000_000;

/// What is known about a record from outside its calls. Of several values, the one with the lowest rank counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Context<'a> {
    session: Option<(u8, Cow<'a, str>)>,
    time: Option<(u8, i64)>,
    model: Option<(u8, Cow<'a, str>)>,
    latency_us: Option<u64>,
}

/// The meaning of a member next to a call, with the rank of its name.
enum Meaning {
    Session(u8),
    Time(u8),
    Model(u8),
    /// In units of this many microseconds.
    Latency(u32),
    Metadata,
}

fn meaning(key: &str) -> Option<Meaning> {
    // Most keys have no meaning here, as their first letter shows.
    if !matches!(
        key.as_bytes().first()?,
        b'c' | b'd' | b'l' | b'm' | b'r' | b's' | b't'
    ) {
        return None;
    }
    Some(match key {
        "session" => Meaning::Session(0),
        "session_id" | "sessionId" => Meaning::Session(1),
        "conversation_id" | "conversationId" | "conversation" => Meaning::Session(2),
        "thread_id" | "threadId" => Meaning::Session(3),
        "chat_id" | "chatId" => Meaning::Session(4),
        "trace_id" | "traceId" => Meaning::Session(9),
        "time" => Meaning::Time(0),
        "timestamp" => Meaning::Time(1),
        "ts" => Meaning::Time(2),
        "created_at" | "createdAt" => Meaning::Time(3),
        "start_time" | "startTime" => Meaning::Time(4),
        "request_created_at" => Meaning::Time(5),
        "created" => Meaning::Time(6),
        "model" => Meaning::Model(0),
        "model_name" | "modelName" | "modelId" | "modelVersion" => Meaning::Model(1),
        "latency_us" | "duration_us" => Meaning::Latency(1),
        "latency_ms" | "duration_ms" | "durationMs" => Meaning::Latency(1_000),
        "metadata" => Meaning::Metadata,
        _ => return None,
    })
}

impl<'a> Context<'a> {
    /// Adds what the members of an object say; known values are kept if their rank is at least as low.
    pub(super) fn add(&mut self, value: &Value<'a>) {
        for (key, value) in value.as_object().unwrap_or_default() {
            match meaning(key) {
                Some(Meaning::Session(rank)) => self.add_session(rank, value),
                Some(Meaning::Time(rank)) => self.add_time(rank, value),
                Some(Meaning::Model(rank)) => {
                    if let Value::String(model) = value {
                        self.set_model(rank, model.clone());
                    }
                }
                Some(Meaning::Latency(unit)) => self.add_latency(unit, value),
                Some(Meaning::Metadata) => self.add_metadata(value),
                None => {}
            }
        }
    }

    fn add_metadata(&mut self, metadata: &Value<'a>) {
        for (key, value) in metadata.as_object().unwrap_or_default() {
            match key.as_ref() {
                "session" | "session_id" | "sessionId" => self.add_session(5, value),
                "conversation_id" | "conversationId" => self.add_session(6, value),
                "thread_id" | "threadId" => self.add_session(7, value),
                // Where an agent puts its session for Anthropic.
                "user_id" if value.as_str().is_some_and(|id| id.contains("session_")) => {
                    self.add_session(8, value);
                }
                "trace_id" | "traceId" => self.add_session(10, value),
                _ => {}
            }
        }
    }

    pub(super) fn add_session(&mut self, rank: u8, value: &Value<'a>) {
        let known = self.session.as_ref().map(|(known, _)| *known);
        if known.is_some_and(|known| known <= rank) {
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

    fn add_time(&mut self, rank: u8, value: &Value<'a>) {
        if self.time.is_none_or(|(known, _)| known > rank)
            && let Some(time) = time::read(value)
        {
            self.time = Some((rank, time));
        }
    }

    pub(super) fn set_model(&mut self, rank: u8, model: Cow<'a, str>) {
        if !model.is_empty() && self.model.as_ref().is_none_or(|(known, _)| *known > rank) {
            self.model = Some((rank, model));
        }
    }

    fn add_latency(&mut self, unit: u32, value: &Value<'a>) {
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

    /// Sets the time, overriding anything else.
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

    /// How long the tool took. Only next to a single call: next to a model's answer it is the model's time.
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
