//! Sentences about calls that may not run now, and about calls that should not be repeated.

use crate::text::quoted;
use crate::vocabulary::{Cause, Failure, Next, Notice, Objection, Reason};

use super::NAME;

/// The longest wait that is recommended, in seconds. Beyond that, asking the user is better.
const LONGEST_WAIT: u32 = 300;

/// Why a call does not run now. `original` is the reason for which it is refused in any case.
pub(in crate::feedback) fn objection(objection: &Objection, original: Option<&str>) -> String {
    let tool = quoted(&objection.tool, NAME);
    let (count, ago) = (times(objection.count), ago(objection.rounds_ago));
    let rounds = rounds(objection.count);
    // The end of the sentence.
    let what = match (original, objection.last.as_str()) {
        (Some(said), _) | (None, said) if !said.is_empty() => format!(": {}", ended(said)),
        _ => ".".to_owned(),
    };
    // A separate sentence, left out if nothing is remembered.
    let and_it = |returned: &str| match what.as_str() {
        "." => String::new(),
        what => format!(" {returned}{what}"),
    };
    match objection.reason {
        Reason::Budget if objection.count == 0 => format!("{tool} may not be called in this turn."),
        Reason::Budget if objection.rounds_ago == 0 => {
            format!("This exact call was made {count} in this turn, the most that is allowed.")
        }
        Reason::Budget if objection.failed => {
            format!("This exact call was made {count} in this turn and failed{ago}{what}")
        }
        Reason::Budget if objection.once => {
            let again = match objection.count {
                1 => format!("{ago} and is not run twice"),
                _ => format!(" {count}, last{ago}, and is not run again"),
            };
            let answered = and_it("It answered");
            format!("{tool} ran with exactly these arguments{again}.{answered}")
        }
        Reason::Budget => {
            let answered = and_it(&format!("It answered{ago}"));
            format!("This exact call was made {count} in this turn.{answered}")
        }
        Reason::Transient => {
            format!("This exact call failed {count} in a row for a temporary reason{what}")
        }
        Reason::RepeatedCall if original.is_some() => {
            format!(
                "This exact call was refused {}{what}",
                in_a_row(objection.count)
            )
        }
        Reason::RepeatedCall if objection.count < 2 => {
            format!("This exact call failed{ago}, and nothing has changed since{what}")
        }
        Reason::RepeatedCall => {
            format!("This exact call failed the same way {count} in a row, last{ago}{what}")
        }
        Reason::RepeatedResult if objection.count < 2 => {
            let returned = and_it("It returned");
            format!("This exact call ran{ago}, and nothing has changed since.{returned}")
        }
        Reason::RepeatedResult => {
            format!("This exact call returned the same result {count} in a row, last{ago}{what}")
        }
        Reason::Cycle => {
            let returned = and_it(&format!("This one returned{ago}"));
            format!("The last {rounds} only repeated earlier calls.{returned}")
        }
        Reason::ErrorStreak if objection.count < 2 => {
            format!("{tool} failed in the last round, and nothing has changed since{what}")
        }
        Reason::ErrorStreak if original.is_some() => {
            format!("{tool} was called wrongly in the same way in {rounds} in a row{what}")
        }
        Reason::ErrorStreak => {
            format!("{tool} failed the same way in {rounds} in a row, whatever the arguments{what}")
        }
        Reason::UnknownTools => {
            let why = original.map_or_else(String::new, |original| format!(" {}", ended(original)));
            format!("The last {rounds} called tools that do not exist.{why}")
        }
        Reason::ToolCalls if objection.count == 0 => {
            format!("{tool} may not be called in this turn.")
        }
        Reason::ToolCalls => {
            format!("{tool} was called {count} in this turn, the most that is allowed.")
        }
        Reason::TurnCalls => {
            let calls = calls(objection.count);
            format!("This turn has made {calls}, the most that is allowed.")
        }
        Reason::Refusals => {
            let calls = calls(objection.count);
            format!("{calls} had to be refused in this turn, so no more are run.")
        }
        Reason::Stopped => "The user said to stop.".to_owned(),
    }
}

/// What to do instead, where that differs from the table's hint.
pub(in crate::feedback) fn objection_hint(failure: &Failure) -> Option<&'static str> {
    let Cause::Objection(objection) = &failure.cause else {
        return None;
    };
    match (failure.escalated, objection.reason) {
        (Some(Next::AskUser), _) => Some("Ask the user how to proceed before you send it again."),
        (Some(Next::Stop), _) => Some("Stop here: report what you have and what is missing."),
        (_, Reason::Transient) => Some("Leave it for now and come back to it later."),
        (_, Reason::ToolCalls) => Some("Go on without this tool, or answer with what you have."),
        // The call never reached the tool.
        (_, Reason::ErrorStreak) if objection.original.is_some() => {
            Some("Look up what the tool takes before you send it again, or do without it.")
        }
        _ => None,
    }
}

/// The answers a user can give, with their labels.
pub(crate) const CHOICES: [(&str, &str); 3] = [
    ("allow_once", "Run it once more"),
    ("allow_tool", "Run this tool without asking again"),
    ("stop", "Stop"),
];

/// The question to the user.
pub(in crate::feedback) fn question(objection: &Objection, detail: &str) -> String {
    let tool = quoted(&objection.tool, NAME);
    format!("The model wants to call {tool} again. {detail} What now?")
}

/// What the user reads instead of a call that is not repeated.
pub(in crate::feedback) fn stopped(objection: &Objection, detail: &str) -> String {
    let tool = quoted(&objection.tool, NAME);
    format!("Stopped instead of calling {tool} again. {detail}")
}

/// What is added to a result.
pub(in crate::feedback) fn notice(notice: &Notice) -> String {
    let tool = quoted(&notice.tool, NAME);
    let (count, rounds) = (times(notice.count), rounds(notice.count));
    match notice.reason {
        Reason::Transient if notice.once => {
            "This failure is temporary, and the call may have worked: find out before you send it again."
                .to_owned()
        }
        Reason::Transient => {
            let seconds = 1_u32
                .checked_shl(notice.count.saturating_sub(1))
                .map_or(LONGEST_WAIT, |seconds| seconds.clamp(1, LONGEST_WAIT));
            format!("This failure is temporary: wait {seconds} s, then send the same call again.")
        }
        Reason::RepeatedCall => {
            let failed = match notice.count {
                0 | 1 => "has failed".to_owned(),
                _ => format!("has failed the same way {count} in a row"),
            };
            format!("This exact call {failed}. Change it, or do something else.")
        }
        Reason::RepeatedResult => {
            let returned = match notice.count {
                0 | 1 => "has already returned its result".to_owned(),
                _ => format!("has returned the same result {count} in a row"),
            };
            format!("This exact call {returned}. Use it, wait, or do something else.")
        }
        Reason::Cycle => {
            format!(
                "The last {rounds} only repeated earlier calls, with the same results. Do something new, or answer."
            )
        }
        Reason::ErrorStreak => {
            let failed = match notice.count {
                0 | 1 => "has failed".to_owned(),
                _ => {
                    format!("has failed the same way in {rounds} in a row, whatever the arguments")
                }
            };
            format!("{tool} {failed}. Find the cause, or use another tool.")
        }
        Reason::UnknownTools => {
            // It follows a refusal, which already says what to do.
            format!("The last {rounds} called tools that do not exist.")
        }
        Reason::ToolCalls => {
            format!("{tool} was called {count} in this turn. Finish with it soon.")
        }
        Reason::TurnCalls => {
            let calls = calls(notice.count);
            format!("This turn has made {calls}. Finish soon.")
        }
        Reason::Budget | Reason::Refusals | Reason::Stopped => {
            format!("This exact call was made {count}, the most that is allowed. Leave it for now.")
        }
    }
}

fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// A text with one punctuation mark at its end.
fn ended(text: &str) -> String {
    let text = text.trim_end_matches('.');
    match text.chars().next_back() {
        Some('…' | '!' | '?') => text.to_owned(),
        _ => format!("{text}."),
    }
}

fn in_a_row(count: u32) -> String {
    match count {
        0 | 1 => "before".to_owned(),
        more => format!("{} in a row", times(more)),
    }
}

fn calls(count: u32) -> String {
    match count {
        0 => "no calls".to_owned(),
        1 => "1 call".to_owned(),
        more => format!("{more} calls"),
    }
}

fn rounds(count: u32) -> String {
    match count {
        1 => "round".to_owned(),
        more => format!("{more} rounds"),
    }
}

fn ago(rounds: u32) -> String {
    match rounds {
        0 => String::new(),
        1 => " 1 round ago".to_owned(),
        more => format!(" {more} rounds ago"),
    }
}
