"""What the official SDKs read from answers that pass through the gateway: python sdks.py BASE_URL, JSON on stdout."""

import json
import sys

import anthropic
import openai
from google import genai
from google.genai import types

base = sys.argv[1]
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
ASK = [{"role": "user", "content": "How warm is it?"}]
heard = {}

client = openai.OpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0)
tools = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]
answer = client.chat.completions.create(model="m", messages=ASK, tools=tools)
choice = answer.choices[0]


def of_chat(choice):
    calls = [[call.id, call.function.name, call.function.arguments] for call in choice.message.tool_calls]
    return {"text": choice.message.content, "calls": calls, "finish": choice.finish_reason}


heard["chat"] = of_chat(choice)
with client.chat.completions.stream(model="m", messages=ASK, tools=tools) as stream:
    for _ in stream:
        pass
    heard["chat streamed"] = of_chat(stream.get_final_completion().choices[0])


def of_response(response):
    calls = [[item.call_id, item.name, item.arguments] for item in response.output if item.type == "function_call"]
    return {"text": response.output_text, "calls": calls, "finish": response.status}


tools = [{"type": "function", "name": "get_weather", "parameters": PARAMETERS}]
heard["responses"] = of_response(client.responses.create(model="m", input="How warm is it?", tools=tools))
with client.responses.stream(model="m", input="How warm is it?", tools=tools) as stream:
    for _ in stream:
        pass
    heard["responses streamed"] = of_response(stream.get_final_response())

client = anthropic.Anthropic(base_url=base, api_key="k", max_retries=0)
tools = [{"name": "get_weather", "input_schema": PARAMETERS}]


def of_message(message):
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [[block.id, block.name, json.dumps(block.input, separators=(",", ":"))] for block in message.content if block.type == "tool_use"]
    return {"text": text, "calls": calls, "finish": message.stop_reason}


heard["messages"] = of_message(client.messages.create(model="m", max_tokens=99, messages=ASK, tools=tools))
with client.messages.stream(model="m", max_tokens=99, messages=ASK, tools=tools) as stream:
    for _ in stream:
        pass
    heard["messages streamed"] = of_message(stream.get_final_message())

client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=base))
declared = types.FunctionDeclaration(name="get_weather", parameters_json_schema=PARAMETERS)
config = types.GenerateContentConfig(
    tools=[types.Tool(function_declarations=[declared])],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)


def of_candidates(answers):
    told = {"text": "", "calls": [], "finish": None}
    for answer in answers:
        candidate = answer.candidates[0]
        for part in (candidate.content.parts if candidate.content else None) or []:
            told["text"] += part.text or ""
            if part.function_call:
                call = part.function_call
                told["calls"].append([call.id, call.name, json.dumps(call.args, separators=(",", ":"))])
        if candidate.finish_reason:
            told["finish"] = candidate.finish_reason.name
    return told


heard["gemini"] = of_candidates([client.models.generate_content(model="m", contents="How warm is it?", config=config)])
heard["gemini streamed"] = of_candidates(client.models.generate_content_stream(model="m", contents="How warm is it?", config=config))
print(json.dumps(heard))
