//! Sentences about calls that may not run now, and about those that had better not be repeated.

use crate::admit::Reason;
use crate::classify::{Next, Notice, Objection};
use crate::text::quoted;
use crate::tool::Effect;

use super::NAME;

/// The longest wait that is advised, in seconds. Who waits longer had better ask.
const LONGEST_WAIT: u32 = 300;

/// Why a call does not run now. `original` is what it is refused for anyway.
pub(in crate::feedback) fn objection(objection: &Objection, original: Option<&str>) -> String {
    let tool = quoted(&objection.tool, NAME);
    let (count, ago) = (times(objection.count), ago(objection.rounds_ago));
    let rounds = rounds(objection.count);
    let what = match (original, objection.last.as_str()) {
        (Some(original), _) => format!(": {}", original.trim_end_matches('.')),
        (None, "") => String::new(),
        (None, last) => format!(": {last}"),
    };
    match objection.reason {
        Reason::Budget if objection.rounds_ago == 0 => {
            format!("This very call was made {count} in this turn, as often as it may be.")
        }
        Reason::Budget if objection.failed => {
            format!("This very call was made {count} in this turn and failed{ago}{what}.")
        }
        Reason::Budget if matches!(objection.effect, Effect::Write | Effect::Destructive) => {
            format!(
                "{tool} ran with these very arguments{ago} and is not run twice. It answered{what}."
            )
        }
        Reason::Budget => {
            format!("This very call was made {count} in this turn. It answered{ago}{what}.")
        }
        Reason::Transient => {
            format!("This very call failed {count} in a row for a reason that passes.")
        }
        Reason::RepeatedCall if original.is_some() => {
            format!("This very call was refused {count} in a row{what}.")
        }
        Reason::RepeatedCall => {
            format!("This very call failed the same way {count} in a row, last{ago}{what}.")
        }
        Reason::RepeatedResult => {
            format!("This very call brought the same result {count} in a row, last{ago}{what}.")
        }
        Reason::Cycle => {
            format!("The last {rounds} only repeated earlier calls. This one brought{ago}{what}.")
        }
        Reason::ErrorStreak => {
            format!(
                "{tool} failed the same way in {rounds} in a row, whatever the arguments{what}."
            )
        }
        Reason::UnknownTools => {
            let why = original.map_or_else(String::new, |original| format!(" {original}"));
            format!("The last {rounds} called tools that do not exist.{why}")
        }
        Reason::ToolCalls => {
            format!("{tool} was called {count} in this turn, as often as it may be.")
        }
        Reason::TurnCalls => format!("This turn has used up its {} calls.", objection.count),
        Reason::Refusals => format!("{} calls of this turn were refused.", objection.count),
        Reason::Stopped => "The user has said stop.".to_owned(),
    }
}

/// What to do instead, on the last rung of the ladder.
pub(in crate::feedback) fn escalated_hint(next: Next) -> Option<&'static str> {
    match next {
        Next::AskUser => Some("Ask the user how to go on before you send it again."),
        Next::Stop => Some("Stop here: report what you have and what is missing."),
        Next::RetryLater => Some("Leave it for now and come back to it later."),
        _ => None,
    }
}

/// What a user can answer, with the words for it.
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

/// What is told with a result.
pub(in crate::feedback) fn notice(notice: &Notice) -> String {
    let tool = quoted(&notice.tool, NAME);
    let (count, rounds) = (times(notice.count), rounds(notice.count));
    match notice.reason {
        Reason::Transient => {
            let seconds = 1_u32
                .checked_shl(notice.count.saturating_sub(1))
                .map_or(LONGEST_WAIT, |seconds| seconds.clamp(1, LONGEST_WAIT));
            format!("This failure passes: wait {seconds} s, then send the same call again.")
        }
        Reason::RepeatedCall => {
            format!(
                "This very call has failed the same way {count} in a row. Change it, or do something else."
            )
        }
        Reason::RepeatedResult => {
            format!(
                "This very call has brought the same result {count} in a row. Nothing has changed."
            )
        }
        Reason::Cycle => {
            format!("The last {rounds} only repeated earlier calls, with the same results.")
        }
        Reason::ErrorStreak => {
            format!("{tool} has failed the same way in {rounds} in a row, whatever the arguments.")
        }
        Reason::UnknownTools => format!("The last {rounds} called tools that do not exist."),
        Reason::ToolCalls => format!("{tool} was called {count} in this turn."),
        Reason::TurnCalls => format!("This turn has made {} calls.", notice.count),
        Reason::Budget | Reason::Refusals | Reason::Stopped => {
            format!("This very call was made {count} in this turn.")
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
