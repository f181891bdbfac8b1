use crate::check::fault::OutputFault;
use crate::json::Value;
use crate::tool::Tool;

pub(in crate::check) fn error_in_disguise(tool: &Tool, output: &Value<'_>) -> Option<OutputFault> {
    None
}
