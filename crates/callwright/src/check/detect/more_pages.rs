use crate::check::fault::OutputFault;
use crate::json::Value;
use crate::tool::Tool;

pub(in crate::check) fn more_pages(
    tool: &Tool,
    arguments: &Value<'_>,
    output: &Value<'_>,
) -> Option<OutputFault> {
    None
}
