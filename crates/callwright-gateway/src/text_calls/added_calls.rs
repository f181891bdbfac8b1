//! Calls added to an answer: found in its text, or split out of a call that contains several.

use callwright::wire::StreamedAnswer;

use crate::api::Api;
use crate::guard::NewCall;

/// The calls added to a choice.
#[derive(Debug)]
pub(crate) struct AddedCalls {
    /// How many bytes of the text are kept.
    pub(crate) rest: usize,
    pub(crate) calls: Vec<AddedCall>,
    /// The index of the first one among the parts of the answer, or among the calls of the choice if only calls are
    /// numbered.
    pub(crate) first_number: u64,
    /// Where in a stream they are.
    pub(crate) place: AddedPlace,
}

/// Where in a stream added calls are. They are sent once, though an answer may report its end several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddedPlace {
    /// In no event yet.
    Nowhere,
    /// In the event that is being written.
    ThisEvent,
    /// In an earlier event.
    Before,
}

/// One of them, with its assigned id.
#[derive(Debug)]
pub(crate) struct AddedCall {
    pub(crate) id: String,
    pub(crate) call: NewCall,
}

impl AddedCalls {
    /// Calls that follow everything else in a choice.
    pub(crate) fn after_all(
        api: Api,
        answer: &StreamedAnswer,
        choice: usize,
        calls: Vec<AddedCall>,
    ) -> Self {
        let of_choice = answer.calls.iter().filter(|call| call.choice == choice);
        AddedCalls {
            rest: usize::MAX,
            calls,
            first_number: match api {
                Api::Chat => u64::try_from(of_choice.count()).unwrap_or(u64::MAX),
                Api::Responses | Api::Messages | Api::Gemini => answer.number_of_parts(),
            },
            place: AddedPlace::Nowhere,
        }
    }
}
