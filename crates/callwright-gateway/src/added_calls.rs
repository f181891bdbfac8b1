//! Calls that an answer gets besides those that came as such: out of text, or out of a call that holds several.

use callwright::wire::StreamedAnswer;

use crate::api::Api;
use crate::guard::NewCall;

/// The calls that are added to a choice.
#[derive(Debug)]
pub(crate) struct AddedCalls {
    /// How much of the text stays.
    pub(crate) rest: usize,
    pub(crate) calls: Vec<AddedCall>,
    /// The number of the first of them among the parts of the answer, or among the calls of the choice where only these are
    /// numbered.
    pub(crate) first_number: u64,
    /// Whether the client has got them.
    pub(crate) are_sent: bool,
}

/// One of them, with the id that it is given.
#[derive(Debug)]
pub(crate) struct AddedCall {
    pub(crate) id: String,
    pub(crate) call: NewCall,
}

impl AddedCalls {
    /// Calls that come after everything else in a choice.
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
            are_sent: false,
        }
    }
}
