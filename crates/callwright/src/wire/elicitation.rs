//! The question to the user over MCP: `elicitation/create`, for clients that declare the capability.
//!
//! Turns a refusal with the next step `ask_user` into the parameters of the request, and the client's result into the [`Reply`]
//! for the ledger. It never talks to a client: the caller sends the request and receives the result.

use serde_json::json;

use crate::feedback::{CHOICES, Feedback};
use crate::json::Value;
use crate::vocabulary::Reply;
use crate::vocabulary::{Cause, Failure, Next};

/// The name of the form's only field.
const FIELD: &str = "answer";

/// The parameters of an `elicitation/create` request that asks the user what to do about a refused call; `None` if this refusal
/// is not a question.
pub fn elicitation(failure: &Failure, feedback: &Feedback) -> Option<Value<'static>> {
    let Cause::Objection(objection) = &failure.cause else {
        return None;
    };
    if failure.next() != Next::AskUser {
        return None;
    }
    let (values, names): (Vec<&str>, Vec<&str>) = CHOICES.iter().copied().unzip();
    let field = json!({"type": "string", "title": "What now?", "enum": values, "enumNames": names});
    let form = json!({
        "message": feedback.question(objection, failure),
        "requestedSchema": {
            "type": "object",
            "properties": {FIELD: field},
            "required": [FIELD],
        },
    });
    Some(Value::from(&form).into_owned())
}

/// The user's answer; `None` if there was none, and the call stays refused.
pub fn read_elicitation(result: &Value<'_>, failure: &Failure) -> Option<Reply> {
    let Cause::Objection(objection) = &failure.cause else {
        return None;
    };
    match result.get("action").and_then(Value::as_str)? {
        "accept" => match result.get("content")?.get(FIELD)?.as_str()? {
            "allow_once" => Some(Reply::AllowOnce(objection.fingerprint)),
            "allow_tool" => Some(Reply::AllowTool(objection.tool.clone())),
            "stop" => Some(Reply::Stop),
            _ => None,
        },
        "decline" => Some(Reply::Stop),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Ran;
    use crate::vocabulary::{Effect, Place};
    use crate::{Call, Gate, Opened, ToolSpec};

    #[test]
    fn the_user_is_asked_and_answers() {
        let pay = ToolSpec::without_schema("pay").with_effect(Effect::Destructive);
        let gate = Gate::builder().tool(pay).build().expect("one tool");
        let call = Call::from_text("pay", r#"{"to": "Ann"}"#);
        let at = |round| Place::new("s", 0, round);
        let Opened::Admitted(ticket) = gate.open(&call, at(0)) else {
            panic!("the first")
        };
        let _ = gate.close(ticket, Ran::ok("paid"));
        let Opened::Refused(refused) = gate.open(&call, at(1)) else {
            panic!("the second")
        };
        let question = elicitation(&refused.failure, &Feedback::default()).expect("a question");
        let question: serde_json::Value =
            serde_json::from_str(&question.to_string()).expect("JSON");
        assert_eq!(
            question,
            json!({
                "message": "The model wants to call \"pay\" again. \"pay\" ran with exactly these arguments 1 round ago \
                            and is not run twice. It answered: paid. What now?",
                "requestedSchema": {
                    "type": "object",
                    "properties": {"answer": {
                        "type": "string",
                        "title": "What now?",
                        "enum": ["allow_once", "allow_tool", "stop"],
                        "enumNames": ["Run it once more", "Run this tool without asking again", "Stop"],
                    }},
                    "required": ["answer"],
                },
            })
        );

        let read =
            |result: serde_json::Value| read_elicitation(&Value::from(&result), &refused.failure);
        assert_eq!(read(json!({"action": "cancel"})), None);
        assert_eq!(
            read(json!({"action": "accept", "content": {"answer": "perhaps"}})),
            None
        );
        assert_eq!(read(json!({"action": "decline"})), Some(Reply::Stop));
        let once = read(json!({"action": "accept", "content": {"answer": "allow_once"}}));
        gate.ledger()
            .answer("s", &once.expect("an answer"))
            .expect("memory");
        assert!(matches!(gate.open(&call, at(2)), Opened::Admitted(_)));
        assert!(
            matches!(gate.open(&call, at(3)), Opened::Refused(_)),
            "once is once"
        );
    }
}
