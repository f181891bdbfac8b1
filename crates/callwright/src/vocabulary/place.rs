//! Where in a conversation a call is made: session, turn and round.

use serde::Serialize;

/// When in a session something happens. A call without a round is its own round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Moment {
    /// The turn: it starts with a message from the user. Turns only move forward: a call of an earlier turn than the latest is
    /// judged within the latest.
    #[serde(with = "number_as_text", skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The round: one answer of the model with all of its parallel calls.
    #[serde(with = "number_as_text", skip_serializing_if = "Option::is_none")]
    pub round: Option<u64>,
}

impl Moment {
    /// From here on the number of a turn is a name, as recordings have them: it has no order among names, and comes after every
    /// number. Programs that run tools number their turns upwards.
    pub const FIRST_NAME: u64 = 1 << 63;
}

/// Where in a conversation a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The conversation.
    pub session: &'a str,
    /// The turn and the round in it.
    pub at: Moment,
}

impl<'a> Place<'a> {
    /// A place in a conversation whose turns and rounds the caller numbers. All calls of one answer of the model share one
    /// round; a message from the user starts another turn.
    pub fn new(session: &'a str, turn: u64, round: u64) -> Self {
        let (turn, round) = (Some(turn), Some(round));
        Place {
            session,
            at: Moment { turn, round },
        }
    }

    /// The same place in the turn in which the ledger counted the call.
    pub(crate) fn in_turn(mut self, turn: Option<u64>) -> Self {
        self.at.turn = turn;
        self
    }
}

/// 64-bit numbers are text in JSON, since other parsers hold numbers as doubles.
pub(crate) mod number_as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    #[expect(clippy::ref_option, reason = "the shape that serde asks for")]
    pub(crate) fn serialize<S: Serializer>(
        number: &Option<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match number {
            Some(number) => serializer.collect_str(number),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(de::Error::custom))
            .transpose()
    }
}
