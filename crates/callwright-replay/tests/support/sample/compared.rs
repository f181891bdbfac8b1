//! The same month, also judged by other tools.

use callwright_replay::report::Report;
use callwright_replay::summary::{Change, ChangeKey, Example, Examples, Side};

use super::{START, report};

/// The report, with all texts from the log passed through `say`.
pub(crate) fn compared(say: &dyn Fn(&str) -> String) -> Report {
    let mut report = report(say);
    report.summary.compared = true;
    for (stricter, tool, side, verdicts, path, issue, calls, value) in [
        (
            true,
            "search_orders",
            Side::Input,
            ("valid", "refused"),
            "/limit",
            "maximum",
            1_204,
            "250",
        ),
        (
            true,
            "book_room",
            Side::Input,
            ("valid", "repaired"),
            "/seats",
            "type",
            31,
            "\"4\"",
        ),
        (
            true,
            "get_weather",
            Side::Output,
            ("ok", "refused"),
            "/unit",
            "required",
            1,
            "",
        ),
        (
            false,
            "create_ticket",
            Side::Input,
            ("refused", "valid"),
            "/priority",
            "enum",
            5_310,
            "\"urgent\"",
        ),
    ] {
        let some = |text: &str| match text {
            "" => String::new(),
            text => say(text),
        };
        let key = ChangeKey {
            stricter,
            tool: say(tool),
            side,
            from: verdicts.0.to_owned(),
            to: verdicts.1.to_owned(),
            path: say(path),
            issue: issue.into(),
        };
        let mut examples = Examples::default();
        let example = Example {
            arguments: String::new(),
            value: some(value),
            whole: true,
            place: say("logs/november/05.jsonl.gz:88"),
            time: Some(START),
            session: None,
            model: None,
        };
        examples.add(7, example);
        report.summary.changes.add(key, Change { calls, examples });
    }
    report
}
