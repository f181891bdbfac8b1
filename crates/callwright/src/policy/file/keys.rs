//! What the keys of a policy file are called, and where each belongs.

/// A part of the file in which certain keys are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Top,
    Loops,
    Tool,
    Budget,
    Steps,
    Output,
    Check,
}

const TOP: [&str; 12] = [
    "validate",
    "repair",
    "budget",
    "attended",
    "timeout",
    "retries",
    "concurrency",
    "output",
    "advice",
    "check",
    "loops",
    "tool",
];

const LOOPS: [&str; 16] = [
    "repeated_refusal",
    "repeated_call",
    "repeated_result",
    "polling",
    "cycle",
    "error_streak",
    "unknown_tools",
    "tool_calls",
    "turn_calls",
    "most_refusals",
    "transient",
    "ask_after",
    "pollers",
    "volatile",
    "remember_results",
    "when_away",
];

const TOOL: [&str; 14] = [
    "effect",
    "idempotent",
    "validate",
    "repair",
    "budget",
    "calls",
    "poller",
    "volatile",
    "timeout",
    "retries",
    "concurrency",
    "output",
    "advice",
    "check",
];

impl Section {
    /// The keys that are known here.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Section::Top => &TOP,
            Section::Loops => &LOOPS,
            Section::Tool => &TOOL,
            Section::Budget => &["unknown", "read", "write"],
            Section::Steps => &["notice", "refuse"],
            Section::Output => &["mode", "detect", "max_bytes", "transient"],
            Section::Check => &["when", "class", "code", "detail", "hint", "next"],
        }
    }

    /// How the part is called in messages, behind a key.
    pub(super) fn place(self) -> &'static str {
        match self {
            Section::Top => "",
            Section::Loops => " in [loops]",
            Section::Tool => " of a tool",
            Section::Budget => " of a budget",
            Section::Steps => " of a threshold",
            Section::Output => " in `output`",
            Section::Check => " of a check",
        }
    }

    /// Where a key that is not known here belongs instead.
    pub(super) fn elsewhere(self, key: &str) -> Option<&'static str> {
        let at = |section: Section| self != section && section.keys().contains(&key);
        if at(Section::Top) {
            Some("stands at the top of the file, before the first [table]")
        } else if at(Section::Loops) {
            Some("belongs into [loops]")
        } else if at(Section::Tool) {
            Some("belongs into the table of a tool, such as [tool.\"*\"]")
        } else if at(Section::Output) {
            Some("belongs into [output], or into [tool.\"name\".output]")
        } else if at(Section::Check) {
            Some("belongs into [[check]], or into [[tool.\"name\".check]]")
        } else {
            None
        }
    }
}

/// Every key that a policy file may have, with the table it stands in: `""` for the top, `loops`, `tool`,
/// `output`, `check`.
pub fn known_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    [
        ("", Section::Top),
        ("loops", Section::Loops),
        ("tool", Section::Tool),
        ("output", Section::Output),
        ("check", Section::Check),
    ]
    .into_iter()
    .flat_map(|(table, section)| section.keys().iter().map(move |key| (table, *key)))
}
