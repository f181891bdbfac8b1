//! Gemini: `generateContent`.

use serde_json::{Map, Value as Json};

use super::finish::declared_completeness;
use super::history::CallResult;
use super::members::{one_message, take_list};
use super::provider::{ProviderShape, ProviderSummary, RawAnswer, RunnableCall, Vocabulary};
use super::raw::{RawObject, UnreadableAnswer, valid_items};
use super::read_event::{EventData, Part};
use super::streamed::Extent;
use super::{each_key_once, object, present, text, tool_name, value_arguments};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::vocabulary::{ToolSpec, word_list};

pub(super) struct Gemini;

static VOCABULARY: Vocabulary = Vocabulary {
    summary: ProviderSummary {
        title: "Gemini",
        tool: r#"{"functionDeclarations": [{"name", "description", "parameters"}]}"#,
        call: r#"{"functionCall": {"name", "args"}}"#,
        message: None,
        answer: Some(r#"{"candidates": [{"content", "finishReason"}]}"#),
    },
    finished: &["STOP"],
    cut_off: word_list![MAX_TOKENS CONTINUATION SAFETY RECITATION BLOCKLIST PROHIBITED_CONTENT SPII LANGUAGE],
    history: Some("contents"),
    parts: &["parts"],
    tool_lists: &["functionDeclarations", "function_declarations"],
    // The Python SDK keeps its own names.
    input_schema: &[
        "parameters",
        "parametersJsonSchema",
        "parameters_json_schema",
    ],
    output_schema: &["responseJsonSchema", "response_json_schema"],
    hosted_tools: word_list![
        googlesearch googlesearchretrieval googlemaps codeexecution urlcontext filesearch computeruse
    ],
};

impl ProviderShape for Gemini {
    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    /// A part with a `functionCall`.
    fn is_call(&self, value: &Value<'_>) -> bool {
        value.get("functionCall").is_some()
    }

    /// Gemini gives calls an id only in some of its APIs.
    fn read_call<'a>(&self, mut value: Value<'a>) -> Result<Call<'a>, Error> {
        let mut function = value.take("functionCall").unwrap_or_default();
        each_key_once(&function)?;
        let tool = tool_name(&mut function, "name")?;
        let mut call = Call::new(tool, value_arguments(&mut function)?);
        call.id = present(&mut function, "id");
        Ok(call)
    }

    /// The candidates of a response, or a single one. A blocked prompt has none.
    fn take_answers<'a>(&self, body: &mut Value<'a>) -> Option<Vec<RawAnswer<'a>>> {
        let candidates = match take_list(body, "candidates") {
            None if body
                .get("content")
                .and_then(|content| content.get("parts"))
                .is_some() =>
            {
                vec![std::mem::take(body)]
            }
            None if body.get("promptFeedback").is_none() => return None,
            candidates => candidates.unwrap_or_default(),
        };
        let answer = |mut candidate: Value<'a>| RawAnswer {
            messages: candidate.take("content").into_iter().collect(),
            completeness: declared_completeness(&candidate),
        };
        Some(candidates.into_iter().map(answer).collect())
    }

    /// A call arrives whole, in one part.
    fn read_event<'d>(
        &self,
        data: &RawObject<'d>,
        event: &mut EventData<'d, '_>,
    ) -> Result<(), UnreadableAnswer> {
        event.answer_id(data, "responseId");
        for (number, candidate) in (0..).zip(data.list("candidates")?) {
            let candidate = RawObject::of_valid(candidate)?;
            let choice = event.choice(candidate.number("index").unwrap_or(number))?;
            let content = candidate.object("content")?;
            if let Some(list) = content.and_then(|content| content.get("parts")) {
                let mut parts = Vec::new();
                for part in valid_items(list)? {
                    parts.push((part, read_part(choice, &RawObject::of_valid(part)?, event)?));
                }
                event.part_list(choice, list, parts);
            }
            if let Some(reason) = candidate.get("finishReason") {
                event.finish(choice, reason, &[], None);
            }
        }
        Ok(())
    }

    fn text<'p>(&self, part: &'p Value<'_>) -> Option<&'p str> {
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        let is_typed = part.get("type").is_some();
        part.get("text")?
            .as_str()
            .filter(|_| !is_thought && !is_typed)
    }

    /// A part with a `functionResponse`. An error is under `error`, anything else usually under `output` or `result`.
    fn take_result<'a>(&self, part: &mut Value<'a>) -> Option<CallResult<'a>> {
        let mut response = part.take("functionResponse")?;
        let id = present(&mut response, "id");
        let tool = match response.take("name") {
            Some(Value::String(name)) => Some(name),
            _ if id.is_none() => return None,
            _ => None,
        };
        let mut output = present(&mut response, "response").unwrap_or_default();
        let only = match output.as_object() {
            Some([(key, _)]) => ["error", "output", "result"]
                .into_iter()
                .find(|only| key == only),
            _ => None,
        };
        if let Some(key) = only {
            output = present(&mut output, key).unwrap_or_default();
        }
        Some(CallResult {
            id,
            tool,
            output,
            is_error: only == Some("error"),
        })
    }

    fn render_call<'v>(&self, call: RunnableCall<'v>) -> Value<'v> {
        let function = object([
            ("id", call.id),
            ("name", text(call.tool)),
            ("args", Some(call.arguments.clone())),
        ]);
        object([("functionCall", Some(function))])
    }

    /// A part with a `functionResponse`; an error is under `error`, anything else under `output`.
    fn render_result<'v>(&self, call: &'v Call<'_>, content: String, is_error: bool) -> Value<'v> {
        let key = if is_error { "error" } else { "output" };
        let response = object([
            ("id", call.id.clone()),
            ("name", text(call.tool.as_ref())),
            ("response", Some(object([(key, text(content))]))),
        ]);
        object([("functionResponse", Some(response))])
    }

    fn round<'v>(&self, results: Vec<Value<'v>>) -> Vec<Value<'v>> {
        one_message("parts", results)
    }

    /// One of the request's `functionDeclarations`.
    fn declare(&self, mut declared: Map<String, Json>, schema: Json, _: &ToolSpec) -> Json {
        declared.insert("parameters".to_owned(), schema);
        Json::Object(declared)
    }
}

/// Returns where the part starts in the text, if it is only text.
fn read_part<'d>(
    choice: usize,
    part: &RawObject<'d>,
    event: &mut EventData<'d, '_>,
) -> Result<Option<usize>, UnreadableAnswer> {
    let Some(function) = part.object("functionCall")? else {
        let Some(said) = part
            .get("text")
            .filter(|_| part.get("thought") != Some("true"))
        else {
            event.after_text(choice);
            return Ok(None);
        };
        let start = event.say(choice, said);
        // A signature is kept, even next to an empty text.
        return Ok(start.filter(|_| part.has_only("text")));
    };
    let call = event.begin(Part::new(choice, None, None))?;
    event.identify(call, &function, "id");
    if let Some(name) = function.get("name") {
        event.name(call, name, Extent::Whole);
    }
    match function.get("args") {
        Some(arguments) => event.arguments(call, arguments, Extent::Whole, false),
        None => event.no_arguments(call, &function, "\"args\":", false),
    }
    event.end_call(call);
    // Arguments that arrive in pieces, addressed by path.
    if function.get("partialArgs").is_some() || function.get("willContinue").is_some() {
        event.is_foreign(call);
    }
    Ok(None)
}
