//! Judges a call or a result; returns the gate's verdict as facts.
//!
//! The gate decides exactly as it does live. Every violation becomes a fault: where, what, and the shape of the
//! value.
//!
//! # Shapes
//!
//! | the value | its shape |
//! |---|---|
//! | a key that is missing | empty |
//! | where an `enum` or `const` is violated: any of at most 64 bytes | itself, as JSON: `"urgent"` |
//! | where a number is out of its range | its size: `integer of 4 digits`, `negative number of 2 digits` |
//! | where a length is out of its range | its length, by powers of two: `65 to 128 characters`, `3 to 4 items` |
//! | where a `format` or a `pattern` is violated | a sketch: `like 9999-99-99`, `like a@a.a`, for a `pattern` with words in capitals `like A-99`; of longer ones `long text` |
//! | else a text | `integer in a string`, `number in a string`, `boolean in a string`, `null in a string`, `object in a string`, `array in a string`, `broken JSON in a string`, `date in a string`, `date-time in a string`, `empty string`, `string` |
//! | else a list | `empty array`, `array of string`, `array of several types` |
//! | else | `null`, `boolean`, `integer`, `number` (with a fraction), `object`, `empty object` |

mod fault;
mod place;
mod shape;

use std::borrow::Cow;

use callwright::call::Arguments;
use callwright::check::{Checked, Detector, Output, OutputVerdict, Ran};
use callwright::failure::{Class, Code, Failure};
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::policy::OutputSettings;
use callwright::repair::RepairPolicy;
use callwright::tool::Tool;
use callwright::validate::SchemaCache;
use callwright::wire::recorded_outcome;
use callwright::{Call, Error, Gate, Policy, ToolSpec, Verdict};

pub(crate) use self::fault::Fault;
pub(crate) use self::shape::measure;
use crate::conversation::CallEnd;
use crate::seen::{ToolAnswer, short};
use crate::summary::Side;

/// One set of tools, ready to judge calls of them.
#[derive(Debug)]
pub struct Judge {
    gate: Gate,
    /// The same without repair: finds what is wrong with a call as sent. It also detects disguised errors, since few
    /// logs mark errors.
    plain: Gate,
}

/// The verdict on a call.
#[derive(Debug)]
pub(crate) struct JudgedCall<'c> {
    pub(crate) verdict: Verdict<'c>,
    /// What is wrong with the arguments as sent.
    pub(crate) faults: Vec<Fault>,
    /// The verdict on the result, if it is known.
    pub(crate) result: Option<JudgedResult<'c>>,
}

/// The verdict on a result.
#[derive(Debug)]
pub(crate) struct JudgedResult<'c> {
    pub(crate) checked: Checked<'c>,
    /// What is wrong with the result.
    pub(crate) faults: Vec<Fault>,
    /// Whether the tool reports a failure, openly or in disguise.
    pub(crate) failed: bool,
}

impl JudgedResult<'_> {
    /// How the call ended.
    pub(crate) fn end(&self) -> CallEnd {
        if self.failed {
            CallEnd::Wrong
        } else {
            CallEnd::Fine
        }
    }

    /// About how many bytes the model got.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = match &self.checked.output {
            Some(Output::Value(value)) => callwright::parse::size(value),
            Some(output) => output.text().len(),
            None => 0,
        };
        bytes as u64
    }
}

impl Judge {
    /// Compiles tools under a policy. Sessions are remembered in `ledger`, compiled schemas in `cache`.
    ///
    /// # Errors
    /// Fails if two tools have the same name.
    pub fn new(
        tools: Vec<ToolSpec>,
        policy: &Policy,
        ledger: std::sync::Arc<dyn callwright::admit::Ledger>,
        cache: SchemaCache,
    ) -> Result<Self, Error> {
        // Earlier results are never quoted.
        let mut policy = policy.clone();
        policy.admission.remember_results = false;
        let mut plain = policy.clone().with_repair(RepairPolicy::Never);
        plain.output.detect = Some(vec![Detector::ErrorInDisguise]);
        for tool in &mut plain.tools {
            tool.output = OutputSettings::default();
        }
        Ok(Judge {
            // It admits nothing. Its own ledger would take 50 kB.
            plain: Gate::builder()
                .tools(tools.iter().cloned())
                .policy(plain)
                .cache(cache.clone())
                .ledger(std::sync::Arc::clone(&ledger))
                .build()?,
            // What a refusal suggests to the model is not in any report.
            gate: Gate::builder()
                .tools(tools)
                .without_suggestions()
                .policy(policy)
                .cache(cache)
                .ledger(ledger)
                .build()?,
        })
    }

    /// The gate that decides.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Judges a call and its result, each by itself.
    pub(crate) fn judge<'c>(
        &'c self,
        call: &'c Call<'_>,
        answer: Option<Cow<'c, ToolAnswer<'c>>>,
    ) -> JudgedCall<'c> {
        let verdict = self.gate.judge(call);
        let faults = match &verdict {
            Verdict::Valid(valid) => match valid.warning() {
                None => Vec::new(),
                Some(warning) => {
                    let secrecy = self.gate.secrecy(call, &verdict);
                    let (tool, arguments) = (valid.tool(), valid.arguments());
                    fault::of_arguments(tool, warning.issues(), arguments, &secrecy)
                }
            },
            _ => self.faults(call, &verdict),
        };
        let tool = verdict.tool();
        let result = answer.zip(tool).map(|(answer, tool)| {
            let arguments = verdict.arguments().unwrap_or(&Value::Null);
            self.result(tool, arguments, answer, !faults.is_empty())
        });
        JudgedCall {
            verdict,
            faults,
            result,
        }
    }

    /// Judges the result of a call; `closely` also looks for disguised errors.
    pub(crate) fn result<'c>(
        &self,
        tool: &Tool,
        arguments: &Value<'_>,
        answer: Cow<'c, ToolAnswer<'c>>,
        closely: bool,
    ) -> JudgedResult<'c> {
        let checked = self.gate.check(tool, arguments, ran(answer));
        let says_so = |checked: &Checked<'_>| {
            let failure = checked.failure.as_deref();
            let is_error = |failure: &Failure| {
                failure.class() == Class::Logical || failure.code == Code::ErrorInDisguise
            };
            checked.verdict == OutputVerdict::Failed || failure.is_some_and(is_error)
        };
        let in_disguise = || {
            let tool = self.plain.tool(tool.name());
            tool.zip(checked.output.clone())
                .is_some_and(|(tool, output)| {
                    says_so(&self.plain.check(tool, arguments, Ran::ok(output)))
                })
        };
        let mut faults = result_faults(tool, arguments, &checked);
        let failed = says_so(&checked) || (closely || !faults.is_empty()) && in_disguise();
        if failed {
            // That it is an error says more than which fields it lacks.
            faults.clear();
        }
        JudgedResult {
            checked,
            faults,
            failed,
        }
    }

    /// What is wrong with a call that is not valid as it is.
    #[cold]
    fn faults(&self, call: &Call<'_>, verdict: &Verdict<'_>) -> Vec<Fault> {
        let secrecy = self.gate.secrecy(call, verdict);
        if let Verdict::Refused(refused) = verdict
            && let (Some(tool), Some(arguments)) = (refused.tool(), &refused.arguments)
            && !refused.failure.issues().is_empty()
        {
            return fault::of_arguments(tool, refused.failure.issues(), arguments, &secrecy);
        }
        if let Some(failure) = verdict.failure()
            && failure.code == Code::UnknownTool
        {
            let name = secrecy.name(&call.tool);
            return vec![fault::of_failure(&name, Side::Input, failure, None)];
        }
        let plain = self.plain.judge(call);
        let Some(failure) = plain.failure() else {
            return Vec::new();
        };
        let tool = plain.tool();
        if let (Some(tool), Some(arguments)) = (tool, plain.arguments())
            && !failure.issues().is_empty()
        {
            return fault::of_arguments(tool, failure.issues(), arguments, &secrecy);
        }
        // Repair looks closer, and may know better what is wrong with a text.
        let failure = verdict.failure().unwrap_or(failure);
        let text = match &call.arguments {
            Arguments::Text(text) if tool.is_some() && secrecy.hides_nothing() => {
                Some(text.as_ref())
            }
            _ => None,
        };
        vec![fault::of_failure(&call.tool, Side::Input, failure, text)]
    }
}

/// The name of the tool that a call is about, safe to show.
pub(crate) fn shown_name<'v>(call: &'v Call<'_>, verdict: &'v Verdict<'_>) -> &'v str {
    short(match verdict {
        Verdict::Refused(refused) => refused.shown_name(call),
        _ => verdict.tool().map_or(call.tool.as_ref(), Tool::name),
    })
}

/// An answer as the tool's runner would have returned it. An owned one is not copied.
fn ran<'c>(answer: Cow<'c, ToolAnswer<'c>>) -> Ran<'c> {
    match answer {
        Cow::Borrowed(answer) => recorded_outcome(Cow::Borrowed(&answer.output), answer.is_error),
        Cow::Owned(answer) => recorded_outcome(Cow::Owned(answer.output), answer.is_error),
    }
}

fn result_faults(tool: &Tool, arguments: &Value<'_>, checked: &Checked<'_>) -> Vec<Fault> {
    let Some(failure) = checked
        .failure
        .as_deref()
        .filter(|it| fault::is_about_result(it))
    else {
        return Vec::new();
    };
    let issues = failure.issues();
    if issues.is_empty() {
        return vec![fault::of_failure(tool.name(), Side::Output, failure, None)];
    }
    match &checked.output {
        Some(Output::Value(value)) => fault::of_result(tool, issues, arguments, value),
        Some(Output::Text(text)) => match read_value(text) {
            Ok(value) => fault::of_result(tool, issues, arguments, &value),
            Err(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}
