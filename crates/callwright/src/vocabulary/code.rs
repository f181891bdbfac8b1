//! The table of codes.
//!
//! One row per code: its class, what to do next, the hint for the model, its meaning, and an example. `callwright explain`
//! prints a row, `docs/codes.md` is generated from all of them, and a test fails if a row lacks a message, a hint or a corpus
//! case. A new code is a new row; nothing else has to change.

use serde::Serialize;

use super::macros::named;

/// One row per code: its documentation, its variant and its name, its class, what to do next, and its texts. The rows become
/// the enum [`Code`] and the [`TABLE`], in the order of the stages that issue them.
macro_rules! codes {
    ($(
        #[doc = $doc:literal]
        $code:ident = $name:literal, $class:ident, $next:ident,
        hint: $hint:literal,
        meaning: $meaning:literal,
        example: $example:literal;
    )+) => {
        /// The stable names of everything that can go wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $code,)+
        }

        /// All codes, in the order of the stages that issue them.
        pub const TABLE: &[CodeRow] = &[$(CodeRow {
            code: Code::$code,
            name: $name,
            class: Class::$class,
            next: Next::$next,
            hint: $hint,
            meaning: $meaning,
            example: $example,
        }),+];
    };
}

named! {
    /// The families of failures, in the order of the stages that issue them.
    #[non_exhaustive]
    pub enum Class {
        /// The call itself is wrong; nothing was run.
        Validation = "validation",
        /// The call has used up its budget.
        Budget = "budget",
        /// The model is going in circles.
        Loop = "loop",
        /// The tool ran and broke.
        Runtime = "runtime",
        /// The tool ran and reports that it cannot do this.
        Logical = "logical",
        /// The result is not what the tool declares.
        SchemaMismatch = "schema_mismatch",
        /// The result is valid, but incomplete.
        PartialData = "partial_data",
        /// The result has the right form, but makes no sense.
        SemanticGarbage = "semantic_garbage",
    }
}

named! {
    /// What the model should do next.
    #[non_exhaustive]
    pub enum Next {
        /// Send the call again with other arguments.
        FixArguments = "fix_arguments",
        /// Send the same call again, now.
        RetrySame = "retry_same",
        /// Send the same call again, later.
        RetryLater = "retry_later",
        /// Do something else.
        ChangeApproach = "change_approach",
        /// Continue with the partial result, or request the next part.
        Continue = "continue",
        /// Ask the user.
        AskUser = "ask_user",
        /// Stop.
        Stop = "stop",
    }
}

impl Next {
    /// Whether exactly the same call may be sent again; older shapes call this `retryable`.
    pub fn is_retry(self) -> bool {
        matches!(self, Next::RetrySame | Next::RetryLater)
    }
}

/// Everything about a code.
#[derive(Debug, Clone, Copy)]
pub struct CodeRow {
    /// The code.
    pub code: Code,
    /// Its stable name.
    pub name: &'static str,
    /// Its family.
    pub class: Class,
    /// What the model should do next.
    pub next: Next,
    /// The hint for the model.
    pub hint: &'static str,
    /// Its meaning, for people.
    pub meaning: &'static str,
    /// A call that triggers it.
    pub example: &'static str,
}

codes! {
    /// There is no such tool.
    UnknownTool = "unknown_tool", Validation, ChangeApproach,
        hint: "Call one of the tools you were given, by its exact name.",
        meaning: "The model called a tool that does not exist. The feedback names at most the three nearest names, \
                  never the whole list.",
        example: r#"{"tool": "serch", "arguments": {}} where only `search` exists"#;

    /// The arguments are larger than allowed.
    ArgumentsTooLarge = "arguments_too_large", Validation, ChangeApproach,
        hint: "Send less at once, in several smaller calls.",
        meaning: "The arguments have more bytes, or are nested deeper, than the gate reads. Both limits are settings \
                  (8 MiB and 100 levels by default).",
        example: r#"{"tool": "write", "arguments": "[[[[…"} nested 101 deep"#;

    /// The call ends before its arguments do.
    TruncatedCall = "truncated_call", Validation, ChangeApproach,
        hint: "Send it again with less content, split into several smaller calls.",
        meaning: "The call was cut off before its arguments were complete: the provider says so (finish \
                  reason), or the text ends in the middle. It is never completed and never run.",
        example: r#"{"tool": "save", "arguments": "{\"orders\": [{\"id\": \"O-1\", \"total\""}"#;

    /// The call can be read in more than one way.
    AmbiguousCall = "ambiguous_call", Validation, FixArguments,
        hint: "Send exactly one JSON object per call.",
        meaning: "The arguments can be read in more than one way, such as two JSON objects glued together. None of \
                  the readings runs and none is dropped. Where one call may become several (`check --rescue`, the \
                  gateway), complete calls side by side that are each valid become separate calls.",
        example: r#"{"tool": "add", "arguments": "{\"x\": 1}{\"x\": 2}"}"#;

    /// The arguments are not JSON.
    InvalidJson = "invalid_json", Validation, FixArguments,
        hint: "Send the arguments as one valid JSON object.",
        meaning: "The arguments are not JSON. The feedback gives line, column, the nearest path and what \
                  was expected there.",
        example: r#"{"tool": "search", "arguments": "{\"limit\": 5,}"}"#;

    /// The arguments do not match the schema.
    InvalidArguments = "invalid_arguments", Validation, FixArguments,
        hint: "Correct the listed arguments and call the tool again.",
        meaning: "The arguments are JSON but do not fit the tool's schema. The data lists every issue, the feedback \
                  the five most useful ones.",
        example: r#"{"tool": "search", "arguments": {"limit": "abc"}} where `limit` is an integer"#;

    /// The same call has used up its budget.
    RetryBudgetExceeded = "retry_budget_exceeded", Budget, ChangeApproach,
        hint: "Do not send this call again in this turn; do something else.",
        meaning: "The same call was made as often as allowed in one turn: once if its tool is declared to change \
                  something or its name says pay, three times if nothing is declared, ten times if it only reads. A \
                  changed result, a successful change by another call or a message from the user restores the budget, \
                  and transient failures do not count. A payment that worked is not made again in the turn, whatever \
                  else changes.",
        example: "the same `send_money` a second time in one turn";

    /// Too many calls, of one tool or in total.
    CallLimitExceeded = "call_limit_exceeded", Budget, Stop,
        hint: "Stop calling tools and answer with what you have.",
        meaning: "One turn made more calls than allowed (1,000 in all and 500 of one tool by default), or 100 of its \
                  calls were refused. The limit on all calls can be changed but not removed.",
        example: "the 1,001st call since the user's last message";

    /// The user wants no more calls.
    StoppedByUser = "stopped_by_user", Budget, Stop,
        hint: "Stop calling tools until the user writes again.",
        meaning: "The user was asked and said stop. Every call of the turn is refused.",
        example: "any call after the answer `stop`";

    /// Calls cannot be counted, and this one must not run uncounted.
    LedgerUnavailable = "ledger_unavailable", Budget, RetryLater,
        hint: "Send the same call again in a little while.",
        meaning: "The ledger that counts calls cannot be reached, and the policy does not let this call run uncounted.",
        example: "a payment while the Redis server is down";

    /// The same call fails the same way.
    RepeatedCall = "repeated_call", Loop, ChangeApproach,
        hint: "It will fail again: change the arguments or do something else.",
        meaning: "The same call failed the same way three times, and nothing has changed since; or the gate has \
                  already refused it twice for the same reason.",
        example: "`read_file` of a path that does not exist, for the fourth time";

    /// The same call returns the same result.
    RepeatedResult = "repeated_result", Loop, Continue,
        hint: "Use the result you have, or do something else.",
        meaning: "The same call returned the same result three times, and nothing has changed since. Times and \
                  request ids in a result do not count. Calls that wait for something may repeat fifty times.",
        example: "`get_balance` for the fourth time, with nothing done in between";

    /// The last rounds only repeated earlier calls.
    Cycle = "cycle", Loop, ChangeApproach,
        hint: "Use the results you have, or do something that you have not done yet.",
        meaning: "Two rounds in a row only repeated earlier calls, in a cycle or in any order, and all results \
                  were the same as before.",
        example: "`list_files`, `read_file`, `list_files`, `read_file`, `list_files`";

    /// One tool fails the same way, whatever the arguments.
    ErrorStreak = "error_streak", Loop, ChangeApproach,
        hint: "The arguments are not the cause: use another tool or tell the user.",
        meaning: "One tool failed the same way in seven rounds in a row, with different arguments, and nothing new \
                  worked in between.",
        example: "`search` with an eighth query while its index is missing";

    /// The model keeps calling tools that do not exist.
    UnknownToolStreak = "unknown_tool_streak", Loop, ChangeApproach,
        hint: "Call only the tools you were given, or answer without tools.",
        meaning: "Three rounds in a row called tools that do not exist, under one name or several.",
        example: "`web_search`, then `websearch`, then `WebSearch`";

    /// A transient failure.
    Transient = "transient", Runtime, RetryLater,
        hint: "Wait, then send the same call again.",
        meaning: "The tool failed temporarily: a rate limit, an overload, a timeout. Up to ten such failures in a \
                  row count neither against the budget nor as a repetition.",
        example: "an error result that says `HTTP 429`";

    /// The tool broke.
    ToolError = "tool_error", Runtime, ChangeApproach,
        hint: "The arguments are not known to be the cause: try another way or tell the user.",
        meaning: "The tool broke. The operator gets the full error; the model gets a short line, since an unknown \
                  error may contain paths, addresses or secrets.",
        example: "a tool whose database connection was refused";

    /// The tool exceeded its time limit.
    Timeout = "timeout", Runtime, RetryLater,
        hint: "Ask for less at once, or try again later.",
        meaning: "The tool exceeded its time limit. A tool that changes something may have done so anyway, and the \
                  model is told to check before it calls again.",
        example: "a search that runs for more than its 30 seconds";

    /// The tool panicked.
    Panic = "panic", Runtime, ChangeApproach,
        hint: "Do not send the same call again: try another way or tell the user.",
        meaning: "The tool's code panicked. Other calls continue; only the operator gets the panic message.",
        example: "a tool that indexes past the end of a list";

    /// The caller went away.
    Cancelled = "cancelled", Runtime, AskUser,
        hint: "Ask the user before you call it again.",
        meaning: "The call was cancelled before it finished. Whether it took effect is not known. Every call still \
                  gets an answer, so that the history stays well formed.",
        example: "a call in progress when the user presses Ctrl-C";

    /// The tool contradicts its own declaration.
    ToolDefect = "tool_defect", Runtime, ChangeApproach,
        hint: "The arguments are not the cause: do not change them, use another tool or tell the user.",
        meaning: "The tool contradicts its own declaration: its type does not accept what its schema accepts. This \
                  is a bug in the tool; the operator gets the location and the reason.",
        example: "a schema that says `string` for a field that is an integer in Rust";

    /// The tool reports that it cannot do this.
    ToolReportedFailure = "tool_reported_failure", Logical, ChangeApproach,
        hint: "Act on what the tool says.",
        meaning: "The tool worked and says that it cannot do this, in its own words and with its own code if it has \
                  one. An error result of an MCP server is of this kind.",
        example: "`There is no customer C-17.`";

    /// The result is not JSON, although the tool declares it.
    InvalidOutputJson = "invalid_output_json", SchemaMismatch, ChangeApproach,
        hint: "The arguments are not the cause: use another tool or tell the user.",
        meaning: "The tool promises JSON but returned something else. The feedback gives line and column.",
        example: r#"{"orders": [1, 2,]} as the result of a tool with an output schema"#;

    /// The result ends in the middle.
    TruncatedResponse = "truncated_response", SchemaMismatch, ChangeApproach,
        hint: "Repeating the call will not help: ask for less at once.",
        meaning: "The tool's JSON ends in the middle. The feedback gives the path. It is never completed.",
        example: r#"{"orders": [{"id": "O-1", "total" as the result of a tool with an output schema"#;

    /// The result does not match the tool's schema.
    SchemaViolation = "schema_violation", SchemaMismatch, ChangeApproach,
        hint: "The arguments are not the cause: use another tool or tell the user.",
        meaning: "The result does not fit the schema that the tool declares. The feedback names the fields, what was \
                  expected and what was received.",
        example: r#"{"status": "lost"} where the schema allows `open` and `closed`"#;

    /// There are more pages.
    MorePagesAvailable = "more_pages_available", PartialData, Continue,
        hint: "Continue with what you have, or ask for the rest.",
        meaning: "The result is one page of several. The model gets it, and the argument to call again with for the \
                  next page.",
        example: r#"{"orders": […], "page": 1, "has_more": true}"#;

    /// The result is only a part.
    IncompleteResult = "incomplete_result", PartialData, Continue,
        hint: "Continue with what you have, or ask for the missing part.",
        meaning: "The result is incomplete: its text ends in the middle, says that something was left out, or is \
                  longer than the model may get. The part that arrived is kept.",
        example: "a text that ends with `[truncated]`";

    /// Nothing was found for the subject of the call.
    EmptyResult = "empty_result", SemanticGarbage, FixArguments,
        hint: "Check the id before you go on: look it up, or ask the user for it.",
        meaning: "The call names an id, and the tool found nothing for it. That looks like an answer but is more \
                  often a wrong id.",
        example: r#"{"orders": []} for `customer_id` "C-17""#;

    /// The result is an error, although the tool reports success.
    ErrorInDisguise = "error_in_disguise", SemanticGarbage, ChangeApproach,
        hint: "Do not treat it as data: try another way or tell the user.",
        meaning: "The tool reports success, but the result is an error: an HTML page, `HTTP 429`, `{\"error\": …}`. \
                  If the error is temporary, the model is told to try again later.",
        example: r#"{"error": "rate limit exceeded"} as a successful result"#;

    /// The result makes no sense, according to a check of the operator.
    ImplausibleResult = "implausible_result", SemanticGarbage, ChangeApproach,
        hint: "Do not rely on the result: check the arguments, or try another way.",
        meaning: "A check by the operator or the tool objects to a result that fits its schema. Such a check has its \
                  own code, detail and hint, which replace these.",
        example: "`has_more=true but page 1 returned 0 orders.`";
}

impl Code {
    /// The row of this code.
    pub fn row(self) -> &'static CodeRow {
        // The rows are in the order of the variants; the fallback keeps this free of panics.
        TABLE.get(self as usize).unwrap_or(&TABLE[0])
    }

    /// The stable name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The code with this name.
    pub fn from_name(name: &str) -> Option<Code> {
        TABLE
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.code)
    }

    /// The codes with the names closest to `name`, the closest first, at most three.
    pub fn nearest(name: &str) -> Vec<&'static str> {
        crate::nearest::nearest(name, TABLE.iter().map(|row| row.name), 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_row() {
        for row in TABLE {
            assert_eq!(row.code.row().name, row.name);
            assert_eq!(Code::from_name(row.name), Some(row.code));
            let json = serde_json::to_value(row.code).expect("a string");
            assert_eq!(
                json, row.name,
                "the serialised name is the name in the table"
            );
            assert_eq!(
                serde_json::to_value(row.next).expect("a string"),
                row.next.name()
            );
            assert_eq!(
                serde_json::to_value(row.class).expect("a string"),
                row.class.name()
            );
        }
    }
}
