//! Detectors: problems that can be seen in a result without knowing its meaning. One file each.
//!
//! Each takes a call's arguments and its result (text that is not JSON as a JSON string) and returns a fault or nothing. A
//! detector only runs if a tool's policy switches it on, and it would rather miss something than object to a good result.

mod empty_result;
mod error_in_disguise;
mod more_pages;
mod names;
mod truncated_text;

pub(super) use error_in_disguise::error_in_disguise;

use crate::json::Value;
use crate::tool::Tool;
use crate::vocabulary::{Detector, OutputFault};

/// Runs one detector.
pub(super) fn look(
    detector: Detector,
    tool: &Tool,
    arguments: &Value<'_>,
    output: &Value<'_>,
) -> Option<OutputFault> {
    match detector {
        Detector::ErrorInDisguise => error_in_disguise(tool, output),
        Detector::EmptyResult => empty_result::empty_result(tool, arguments, output),
        Detector::MorePages => more_pages::more_pages(tool, arguments, output),
        Detector::TruncatedText => truncated_text::truncated_text(output),
    }
}
