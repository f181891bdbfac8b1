//! A violation, in the form that goes into its cluster.

use callwright::failure::{Class, Failure};
use callwright::json::{Path, Value};
use callwright::secrecy::Secrecy;
use callwright::tool::Tool;
use callwright::validate::Issue;

use super::place::place;
use super::shape::{measure, shape};
use crate::summary::{ClusterKey, Side, ValueShape, ViolationCode};

/// Shown instead of a secret.
const MASKED: &str = "[masked]";

/// How many violations of one call are counted. A thousand wrong items are one mistake.
const MOST_FAULTS: usize = 32;

/// Values up to this many bytes of JSON are kept.
const LONGEST_VALUE: usize = 200;

/// How much of an unreadable text is shown, in characters.
const SHOWN: usize = 160;

/// One violation of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) key: ClusterKey,
    /// The value as JSON, without secrets; empty for a missing key.
    pub(crate) value: String,
    /// Whether the value is complete.
    pub(crate) whole: bool,
    /// See [`measure`].
    pub(crate) measure: Option<f64>,
}

/// What the schema objects to in arguments.
pub(super) fn of_arguments(
    tool: &Tool,
    issues: &[Issue],
    arguments: &Value<'_>,
    secrecy: &Secrecy,
) -> Vec<Fault> {
    let schema = tool.spec().input_schema.as_deref();
    let shown = |value: &Value<'_>, at: &Path| secrecy.value(value, at).to_string();
    faults(tool, Side::Input, issues, arguments, schema, &shown)
}

/// What the schema objects to in a result.
pub(super) fn of_result(
    tool: &Tool,
    issues: &[Issue],
    arguments: &Value<'_>,
    result: &Value<'_>,
) -> Vec<Fault> {
    let schema = tool.spec().output_schema.as_deref();
    let secrecy = Secrecy::of_arguments(tool, arguments).with_result(tool, result);
    let shown = |value: &Value<'_>, at: &Path| secrecy.result_value(value, at).to_string();
    faults(tool, Side::Output, issues, result, schema, &shown)
}

/// A failure unrelated to the schema. `text` is what could not be read, if it may be shown.
pub(super) fn of_failure(tool: &str, side: Side, failure: &Failure, text: Option<&str>) -> Fault {
    let (value, whole) = text.map_or((String::new(), true), |text| {
        let beginning: String = text.chars().take(SHOWN).collect();
        let whole = beginning.len() == text.len();
        (Value::String(beginning.into()).to_string(), whole)
    });
    Fault {
        key: ClusterKey {
            tool: tool.to_owned(),
            side,
            path: String::new(),
            issue: failure.code_name().into(),
            shape: ValueShape::Missing,
        },
        value,
        whole,
        measure: None,
    }
}

/// Whether a failure of a result says that the result is bad, rather than that the tool failed.
pub(super) fn is_about_result(failure: &Failure) -> bool {
    matches!(
        failure.class(),
        Class::SchemaMismatch | Class::PartialData | Class::SemanticGarbage
    )
}

fn faults(
    tool: &Tool,
    side: Side,
    issues: &[Issue],
    whole: &Value<'_>,
    schema: Option<&serde_json::Value>,
    shown: &dyn Fn(&Value<'_>, &Path) -> String,
) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for issue in issues {
        if faults.len() >= MOST_FAULTS {
            break;
        }
        let value = whole.at(&issue.path);
        let json = value.map(|value| shown(value, &issue.path));
        let is_masked = match (value, &json) {
            (Some(value), Some(json)) => json.contains(MASKED) && *json != value.to_string(),
            // A key that is a secret, or below one.
            _ => issue.path.segments().any(|key| key.contains(MASKED)),
        };
        let key = ClusterKey {
            tool: tool.name().to_owned(),
            side,
            path: place(&issue.path, Some(whole), schema),
            issue: ViolationCode::Schema(issue.code),
            shape: if is_masked {
                ValueShape::Masked
            } else {
                shape(value, issue.code)
            },
        };
        // If several items are wrong in the same way, the first is enough.
        if faults.iter().any(|fault| fault.key == key) {
            continue;
        }
        let json = json.unwrap_or_default();
        let is_whole = json.len() <= LONGEST_VALUE;
        faults.push(Fault {
            key,
            measure: value.filter(|_| !is_masked).and_then(measure),
            value: if is_whole {
                json
            } else {
                json.chars().take(SHOWN).collect()
            },
            whole: is_whole,
        });
    }
    faults
}
