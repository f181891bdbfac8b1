use crate::check::fault::OutputFault;
use crate::json::Value;
use crate::tool::Tool;

pub(in crate::check) fn empty_result(
    tool: &Tool,
    arguments: &Value<'_>,
    output: &Value<'_>,
) -> Option<OutputFault> {
    None
}
