//! Call ids, unique within the answer and the conversation that it continues.
//!
//! Takes the ids of a conversation and the calls of an answer as they arrive; returns the new ids of calls whose id
//! is taken or missing. Deterministic: the same answer to the same conversation always gets the same ids, streamed or
//! not.

use std::collections::HashSet;

use callwright::wire::StreamedAnswer;
use serde_json::{Value, json};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128};

/// The longest id that every provider accepts back.
const LONGEST: usize = 40;

/// The length of Mistral's ids; it accepts no other length.
const MISTRAL: usize = 9;

/// The call ids used in a conversation.
#[derive(Debug, Clone, Default)]
pub struct TakenIds(pub(crate) HashSet<u64>);

impl TakenIds {
    /// Collects these ids.
    pub fn of<'a>(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let keys = ids.into_iter().map(|id| TakenIds::key(id.as_bytes()));
        TakenIds(keys.collect())
    }

    /// Ids are stored as hashes: conversations are long, and ids are only compared for equality.
    pub(crate) fn key(id: &[u8]) -> u64 {
        xxh3_64(id)
    }
}

/// The call ids of one answer.
#[derive(Debug, Default)]
pub(crate) struct CallIds {
    taken: TakenIds,
    /// The ids of this answer, each with its choice.
    used: HashSet<u64>,
    /// The state of each call's id, by its number.
    known: Vec<KnownId>,
}

#[derive(Debug, Default, Clone)]
enum KnownId {
    /// It has not arrived.
    #[default]
    None,
    /// It is kept.
    Own,
    Instead {
        id: String,
        is_told: bool,
    },
}

impl CallIds {
    pub(crate) fn new(taken: TakenIds) -> Self {
        CallIds {
            taken,
            ..CallIds::default()
        }
    }

    /// Processes the ids that have arrived.
    pub(crate) fn follow(&mut self, answer: &StreamedAnswer) {
        self.known.resize(answer.calls.len(), KnownId::None);
        for (at, call) in answer.calls.iter().enumerate() {
            let id = call.id.as_deref().filter(|id| !id.is_empty());
            let (Some(id), Some(KnownId::None)) = (id, self.known.get(at)) else {
                continue;
            };
            let free = if call.is_foreign {
                id.to_owned()
            } else {
                self.free(call.choice, id.to_owned())
            };
            self.used.insert(used_key(call.choice, &free));
            if let Some(known) = self.known.get_mut(at) {
                *known = if free == id {
                    KnownId::Own
                } else {
                    KnownId::Instead {
                        id: free,
                        is_told: false,
                    }
                };
            }
        }
    }

    /// The replacement id of a call whose own id is taken.
    pub(crate) fn instead(&self, at: usize) -> Option<&str> {
        match self.known.get(at)? {
            KnownId::Instead { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Same, and whether this is the first time it is requested.
    pub(crate) fn write_instead(&mut self, at: usize) -> Option<(&str, bool)> {
        match self.known.get_mut(at)? {
            KnownId::Instead { id, is_told } => Some((id, !std::mem::replace(is_told, true))),
            _ => None,
        }
    }

    /// Ids for the calls that a call was split into, except the first.
    pub(crate) fn of_others(
        &self,
        answer: &StreamedAnswer,
        at: usize,
        number: usize,
    ) -> Vec<String> {
        let Some(call) = answer.calls.get(at) else {
            return Vec::new();
        };
        let own = call.id.as_deref().filter(|id| !id.is_empty());
        match self.instead(at).or(own) {
            Some(id) => self.derived(call.choice, id).take(number).collect(),
            None => (at + 1..at + 1 + number)
                .map(|number| made(&json!([answer.id, call.choice, number])))
                .collect(),
        }
    }

    /// This id, or one derived from it if it is taken.
    pub(crate) fn free(&self, choice: usize, id: String) -> String {
        if self.is_free(choice, &id) {
            return id;
        }
        self.derived(choice, &id).next().unwrap_or_default()
    }

    fn is_free(&self, choice: usize, id: &str) -> bool {
        !self.taken.0.contains(&TakenIds::key(id.as_bytes()))
            && !self.used.contains(&used_key(choice, id))
    }

    /// Free ids derived from another one.
    fn derived<'i>(&'i self, choice: usize, id: &'i str) -> impl Iterator<Item = String> + 'i {
        let candidates = (2_usize..).map(move |number| derived(id, number));
        candidates.filter(move |id| self.is_free(choice, id))
    }
}

fn used_key(choice: usize, id: &str) -> u64 {
    xxh3_64_with_seed(id.as_bytes(), u64::try_from(choice).unwrap_or(u64::MAX))
}

/// An id with a number, with a length and characters that providers accept back.
pub(crate) fn derived(id: &str, number: usize) -> String {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric();
    if id.len() == MISTRAL && id.chars().all(is_letter) {
        return hash(&json!([id, number]), MISTRAL);
    }
    let derived = format!("{id}_{number}");
    if derived.len() <= LONGEST {
        derived
    } else {
        made(&json!([id, number]))
    }
}

/// An id for a call without one, as long as OpenAI's ids; equal inputs give equal ids.
pub(crate) fn made(source: &Value) -> String {
    format!("call_{}", hash(source, 24))
}

fn hash(source: &Value, length: usize) -> String {
    let mut hash = format!("{:032x}", xxh3_128(source.to_string().as_bytes()));
    hash.truncate(length);
    hash
}

#[cfg(test)]
mod tests {
    use callwright::wire::{AnswerReader, Provider};

    use super::*;

    /// The ids that an answer's calls get after a conversation.
    fn ids(taken: &[&str], sent: &[&str]) -> Vec<String> {
        let calls: Vec<_> = sent
            .iter()
            .map(|id| json!({"id": id, "function": {"name": "look", "arguments": "{}"}}))
            .collect();
        let body = json!({"choices": [{"message": {"tool_calls": calls}}]}).to_string();
        let mut reader = AnswerReader::new(Provider::OpenAiChat);
        reader.read(&body).expect("an answer");
        let mut ids = CallIds::new(TakenIds::of(taken.iter().copied()));
        ids.follow(reader.answer());
        let calls = reader.answer().calls.iter().enumerate();
        let id = |(at, call): (usize, &callwright::wire::StreamedCall)| {
            ids.instead(at)
                .map_or_else(|| call.id.clone().unwrap_or_default(), str::to_owned)
        };
        calls.map(id).collect()
    }

    #[test]
    fn a_duplicate_id_gets_a_number() {
        assert_eq!(ids(&[], &["a", "b"]), ["a", "b"]);
        assert_eq!(ids(&[], &["a", "a", "a"]), ["a", "a_2", "a_3"]);
        assert_eq!(ids(&["a"], &["a", "b"]), ["a_2", "b"]);
        assert_eq!(ids(&["a", "a_2"], &["a", "a"]), ["a_3", "a_4"]);
        // The number is taken by a later call, which then gets another one itself.
        assert_eq!(ids(&[], &["a", "a", "a_2"]), ["a", "a_2", "a_2_2"]);
        assert_eq!(ids(&[""], &["", ""]), ["", ""]);
    }

    #[test]
    fn a_new_id_is_one_that_its_provider_accepts() {
        let mistral = ids(&["abcDEF123"], &["abcDEF123"]);
        assert!(
            mistral[0].len() == 9 && mistral[0] != "abcDEF123",
            "{mistral:?}"
        );
        let long = "x".repeat(40);
        assert_eq!(ids(&[&long], &[&long])[0].len(), "call_".len() + 24);
        let kimi = "functions.bash:0";
        assert_eq!(ids(&[kimi], &[kimi]), ["functions.bash:0_2"]);
    }
}
