use crate::check::fault::OutputFault;
use crate::json::Value;
use crate::tool::Tool;

pub(in crate::check) fn truncated_text(output: &Value<'_>) -> Option<OutputFault> {
    None
}
