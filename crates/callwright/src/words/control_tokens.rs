//! The control tokens of chat templates, by name.

use super::macros::word_list;

/// The control tokens of the common chat templates. Any other word between bars may say something: `<|dry_run|>`, or
/// speak for another: `<|user|>`.
const TOKENS: &[&str] = word_list![
    im_start im_end im_sep endoftext end_of_text begin_of_text start_header_id end_header_id eot_id eom_id eot eos
    python_tag start end message channel constrain call return assistant begin_of_sentence end_of_sentence endofprompt
    tool_call tool_calls tool_sep tool_call_begin tool_call_end tool_calls_begin tool_calls_end
    tool_call_argument_begin tool_calls_section_begin tool_calls_section_end
];

/// Whether this is the name of a control token.
pub(crate) fn is_token_name(name: &str) -> bool {
    TOKENS.contains(&name.to_lowercase().replace('▁', "_").as_str())
}
