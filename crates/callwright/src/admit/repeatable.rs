//! What the name of a tool says about its repeated calls: they are steps such as key presses, they wait, or each makes
//! something.
//!
//! Takes a tool's name; returns whether equal results of equal calls may be no sign of a loop, or different ones be one. The lists fail closed: most names
//! say nothing of the kind, and their calls are counted as any other.

use crate::nearest::has_word;
use crate::vocabulary::{JOINING, LOOKING, ToolSpec, says_destroy, word_list};

/// Words in the name of a tool that sets something others read.
const CHANGING_WORDS: &[&str] = word_list![
    set update post send create change write put delete add edit mark move rename copy merge push commit install
];

/// Words in the name of a tool whose repeated call goes one step further. Nothing else in the name may say what else it does:
/// `click_to_order` orders.
const STEPPING_WORDS: &[&str] = word_list![
    press keypress hotkey keyboard click tap scroll swipe drag mouse joystick next previous prev undo redo zoom
];

/// The same in two words: `go_back`, `page_down`, `move_forward`.
const MOVING_WORDS: &[&str] =
    word_list![move go navigate page browser step walk turn jump arrow cursor];
const DIRECTIONS: &[&str] = word_list![up down left right forward backward back];

/// Words in the name of a tool whose every call creates something that others see.
const PUBLISHING_WORDS: &[&str] = word_list![
    submit publish reply notify invite share append insert register announce broadcast tweet launch trigger
];

/// The same, if they are not nouns: `email_status` looks at an email.
const MAKING_WORDS: &[&str] =
    word_list![order book comment upload schedule message email mail sms deploy];

/// Words in the name of a tool that examines something, besides those of [`LOOKING`].
const EXAMINING_WORDS: &[&str] =
    word_list![check history lookup test tests lint build verify validate];

/// Words in the name of a tool that checks whether something has happened yet.
const WAITING_WORDS: &[&str] = word_list![poll status wait await sleep progress watch heartbeat];

/// Whether repeating the call may go one step further, like the next press of a key: the name says that it does, and not that
/// it looks something up, sets a value, creates something or destroys something. Most names say neither (`ship_package`,
/// `dispense`, `tweet`), and those calls do the same once more.
pub(super) fn may_step(tool: &ToolSpec) -> bool {
    let has = |words: &[&str]| has_word(&tool.name, words);
    let steps = has(STEPPING_WORDS) || (has(MOVING_WORDS) && has(DIRECTIONS));
    // A file is moved, and so is a cursor.
    let changes = || {
        let mut words = CHANGING_WORDS.iter().filter(|word| **word != "move");
        words.any(|word| has(&[*word]))
    };
    let other = || {
        let mut others = [PUBLISHING_WORDS, MAKING_WORDS, LOOKING, EXAMINING_WORDS].into_iter();
        others.any(has)
    };
    // A step back may be an undo.
    let destroys = || says_destroy(&tool.name) && !has(&["undo"]);
    let sends_keys = || has(&["send"]) && has(&["keys"]);
    sends_keys()
        || matches!(tool.name.as_str(), "step" | "computer")
        || (steps && !changes() && !other() && !destroys())
}

/// Whether every call makes something that others see, by the tool's name: an issue, an email. Nothing in the name may say that
/// it looks something up. `send` alone may send a command to a shell, whose answers differ.
pub(super) fn makes(name: &str) -> bool {
    let has = |words: &[&str]| has_word(name, words);
    let looks = [LOOKING, EXAMINING_WORDS, WAITING_WORDS]
        .into_iter()
        .any(has);
    !looks && (has(PUBLISHING_WORDS) || has(&["create", "ship", "email", "mail", "sms", "comment"]))
}

/// Whether a call waits for something, by its name. `publish_status` and `launch_and_wait` do more than that.
pub(super) fn waits_by_name(name: &str) -> bool {
    has_word(name, WAITING_WORDS)
        && ![CHANGING_WORDS, PUBLISHING_WORDS, JOINING]
            .into_iter()
            .any(|words| has_word(name, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_recognised_by_their_names() {
        for name in [
            "press_key",
            "browser_click",
            "sendKeys",
            "computer",
            "go_back",
            "page_down",
            "mouse_move",
            "undo",
        ] {
            assert!(may_step(&ToolSpec::without_schema(name)), "{name}");
        }
        for name in [
            "drop_index",
            "kill_process",
            "execute_sql",
            "bash",
            "move_file",
            "rollback_release",
            "purge",
            "send_email",
            "set_flag",
            "search",
            "run_tests",
            "git_add",
            "book_room",
            "apply",
            "ship_package",
            "dispense",
            "tweet",
            "create_key",
            "delete_api_key",
            "forward_email",
            "click_to_order",
            "発送",
        ] {
            assert!(!may_step(&ToolSpec::without_schema(name)), "{name}");
        }
    }

    #[test]
    fn what_makes_something_is_recognised_by_its_name() {
        for name in [
            "create_issue",
            "send_email",
            "shipPackage",
            "publish",
            "add_comment",
        ] {
            assert!(makes(name), "{name}");
        }
        for name in [
            "email_status",
            "list_comments",
            "get_next_job",
            "send_command",
            "roll_dice",
        ] {
            assert!(!makes(name), "{name}");
        }
    }

    #[test]
    fn pollers_are_recognised_by_their_names() {
        for name in [
            "get_job_status",
            "waitForElement",
            "poll",
            "sleep_5",
            "TaskProgress",
            "order_status",
        ] {
            assert!(waits_by_name(name), "{name}");
        }
        for name in [
            "get_weather",
            "statuses",
            "waiter_list",
            "search",
            "update_order_status",
            "publish_status",
            "launch_and_wait",
        ] {
            assert!(!waits_by_name(name), "{name}");
        }
    }
}
