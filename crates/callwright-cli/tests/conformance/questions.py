"""Questions to the client: sent during a call in the older protocols, returned as its result in the newer one."""

import json

import mcp.types as types
from mcp.shared.message import ServerMessageMetadata

STRING = {"type": "string"}


def form(message, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def sample(prompt):
    messages = [{"role": "user", "content": {"type": "text", "text": prompt}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}}


ROOTS = {"method": "roots/list"}

# For each kind of question: the request, its result, and the capability that a client needs.
WAYS = {
    "elicitation/create": (types.ElicitRequest, types.ElicitResult, "elicitation"),
    "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult, "sampling"),
    "roots/list": (types.ListRootsRequest, types.ListRootsResult, "roots"),
}


def choice(*values, key="oneOf"):
    return {key: [{"const": value, "title": value.upper()} for value in values]}


def several(items):
    return {"type": "array", "items": items}


# A default for each type that a form can have, as the suite requires.
DEFAULTS = form(
    "Who is it?",
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)

# Every way a form can offer a choice.
CHOICES = form(
    "Which ones?",
    untitledSingle={"type": "string", "enum": ["option1", "option2"]},
    titledSingle={"type": "string", **choice("value1", "value2")},
    legacyEnum={"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["OPT1", "OPT2"]},
    untitledMulti=several({"type": "string", "enum": ["option1", "option2"]}),
    titledMulti=several(choice("value1", "value2", key="anyOf")),
)

# Questions of the tools that ask during a call, from the arguments of the call.
IN_THE_MIDDLE = {
    "test_sampling": lambda given: sample(given["prompt"]),
    "test_elicitation": lambda given: form(given["message"], username=STRING, email=STRING),
    "test_elicitation_sep1034_defaults": lambda given: DEFAULTS,
    "test_elicitation_sep1330_enums": lambda given: CHOICES,
}


async def ask_now(context, question):
    """Asks, and returns the client's answer."""
    request, result, _ = WAYS[question["method"]]
    here = ServerMessageMetadata(related_request_id=context.request_id)
    answer = await context.session.send_request(request.model_validate(question), result, metadata=here)
    return answer.model_dump_json(by_alias=True, exclude_none=True)


class Interview:
    """Rounds of questions, each the result of a call. The state that the client returns says which round it is."""

    def __init__(self, *rounds, state=True, only_if_able=False, end=""):
        self.rounds = rounds
        self.state = state
        self.only_if_able = only_if_able
        self.end = end

    def questions(self, context, number):
        asked = self.rounds[number]
        if not self.only_if_able:
            return asked
        able = context.session.client_capabilities
        return {key: one for key, one in asked.items() if getattr(able, WAYS[one["method"]][2], None) is not None}

    def next(self, context, params):
        """The next questions; or None and the last answers."""
        number = int(params.request_state or 0)
        answers = params.input_responses or {}
        if self.questions(context, number).keys() <= answers.keys():
            number += 1
        if number == len(self.rounds):
            said = {key: answer.model_dump(mode="json", exclude_none=True) for key, answer in answers.items()}
            return None, self.end + json.dumps(said)
        asked = {"resultType": "input_required", "inputRequests": self.questions(context, number)}
        return (asked | {"requestState": str(number)} if self.state else asked), None


CONFIRM = form("Shall it be done?", ok={"type": "boolean"})
NAME = form("Which name?", name=STRING)
CAPITAL = sample("Name a capital.")

INTERVIEWS = {
    "test_input_required_result_elicitation": Interview({"user_name": NAME}, state=False),
    "test_input_required_result_sampling": Interview({"capital_question": CAPITAL}, state=False),
    "test_input_required_result_list_roots": Interview({"client_roots": ROOTS}, state=False),
    "test_input_required_result_request_state": Interview({"confirm": CONFIRM}, end="state-ok "),
    "test_input_required_result_tampered_state": Interview({"confirm": CONFIRM}),
    "test_input_required_result_multiple_inputs": Interview(
        {"user_name": NAME, "greeting": sample("Greet somebody."), "client_roots": ROOTS}
    ),
    "test_input_required_result_multi_round": Interview(
        {"step1": NAME}, {"step2": form("Which color?", color=STRING)}
    ),
    "test_input_required_result_capabilities": Interview({"word": CAPITAL, "name": NAME}, only_if_able=True),
    "test_streaming_elicitation": Interview({"user_name": NAME}, state=False),
}

PROMPT_INTERVIEW = Interview({"user_context": form("What is it about?", context=STRING)}, state=False)
