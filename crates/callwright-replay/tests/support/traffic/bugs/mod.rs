//! Mistakes, in about the mix that recorded calls show: wrong types first, then missing keys, nulls, unknown keys,
//! broken JSON, made-up tools and made-up values.
//!
//! Most are refused by their tool. Some are not, but are still mistakes: a number that is clamped, a key that is
//! ignored, a boolean in quotes that is read as true whatever it says, a broken program that makes the same mistake
//! three thousand times within an hour. Several are in exactly the same place as an edge case.

mod popular;
mod rare;

use serde_json::json;

use super::pattern::{Burst, Damage, Pattern};

use Damage::{CutResult, Set, SetResult, Tool};

/// All bugs, not numbered yet.
pub(crate) fn bugs() -> Vec<Pattern> {
    let mut all = popular::popular();
    all.extend(rare::rare());
    all.extend(of_results_and_programs());
    all
}

fn of_results_and_programs() -> Vec<Pattern> {
    let bug = Pattern::bug;
    vec![
        bug("get_customer", 0.012, 0.0, ("/customer_id", "required"), SetResult("", |_, _| json!({})),
            "an id that is well-formed and wrong: the answer is empty, and the model looks for another").noticed(0.8),
        bug("run_sql", 0.01, 0.0, ("", "truncated_response"), CutResult, "a long result that was cut off").noticed(0.5),
        bug("get_metrics", 0.006, 0.0, ("", "truncated_response"), CutResult, "a long result that was cut off").noticed(0.3),
        bug("get_metrics", 0.12, 1.0, ("/aggregation", "enum"), Set("/aggregation", |_, _| json!("average")),
            "one model's habit: always the same wrong word, always refused").only_from(&[4]),
        bug("get_metrics", 0.0, 1.0, ("/step", "type"), Set("/step", |_, _| json!(60)),
            "a dashboard that was deployed with a mistake: refused thousands of times within an hour")
            .in_a_burst(Burst { share: 0.003, day: 6, hour: 10, sessions: 5 }),
        bug("deploy_service", 0.0, 0.0, ("/environment", "enum"), Set("/environment", |_, _| json!("prod")),
            "a script with a mistake that the server lets pass, thousands of times within an hour; what it did there is not recorded")
            .in_a_burst(Burst { share: 0.003, day: 11, hour: 14, sessions: 4 }),
        bug("*", 0.002, 1.0, ("", "unknown_tool"),
            Tool(&["browse_web", "ask_user", "python", "searchDatabase", "ProxyRead", "todo_write", "unknown", "final_answer"]),
            "tools that were not offered"),
    ]
}
