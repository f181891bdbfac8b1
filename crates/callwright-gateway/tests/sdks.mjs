// What the official SDKs read from answers that pass through the gateway: node sdks.mjs BASE_URL, JSON on stdout.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.env.CALLWRIGHT_TEST_SDK_NODE_MODULES}/x.js`));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const named = (module, name) => module[name] ?? module.default?.[name] ?? module.default;

const base = process.argv[2];
const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
};
const messages = [{ role: "user", content: "How warm is it?" }];
const heard = {};

const OpenAI = named(await load("openai"), "OpenAI");
const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: "k", maxRetries: 0 });
const chatTools = [{ type: "function", function: { name: "get_weather", parameters } }];
const ofChat = (choice) => ({
  text: choice.message.content,
  calls: choice.message.tool_calls.map((call) => [call.id, call.function.name, call.function.arguments]),
  finish: choice.finish_reason,
});
heard["chat"] = ofChat((await openai.chat.completions.create({ model: "m", messages, tools: chatTools })).choices[0]);
const chat = openai.chat.completions.stream({ model: "m", messages, tools: chatTools });
heard["chat streamed"] = ofChat((await chat.finalChatCompletion()).choices[0]);

const responseTools = [{ type: "function", name: "get_weather", parameters }];
const ofResponse = (response) => ({
  text: response.output_text,
  calls: response.output.filter((item) => item.type === "function_call").map((item) => [item.call_id, item.name, item.arguments]),
  finish: response.status,
});
const asked = { model: "m", input: "How warm is it?", tools: responseTools };
heard["responses"] = ofResponse(await openai.responses.create(asked));
heard["responses streamed"] = ofResponse(await openai.responses.stream(asked).finalResponse());

const Anthropic = named(await load("@anthropic-ai/sdk"), "Anthropic");
const anthropic = new Anthropic({ baseURL: base, apiKey: "k", maxRetries: 0 });
const request = { model: "m", max_tokens: 99, messages, tools: [{ name: "get_weather", input_schema: parameters }] };
const ofMessage = (message) => ({
  text: message.content.filter((block) => block.type === "text").map((block) => block.text).join(""),
  calls: message.content.filter((block) => block.type === "tool_use").map((block) => [block.id, block.name, JSON.stringify(block.input)]),
  finish: message.stop_reason,
});
heard["messages"] = ofMessage(await anthropic.messages.create(request));
heard["messages streamed"] = ofMessage(await anthropic.messages.stream(request).finalMessage());

const GoogleGenAI = named(await load("@google/genai"), "GoogleGenAI");
const gemini = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: base } });
const generate = {
  model: "m",
  contents: "How warm is it?",
  config: { tools: [{ functionDeclarations: [{ name: "get_weather", parametersJsonSchema: parameters }] }] },
};
const ofCandidates = async (answers) => {
  const told = { text: "", calls: [], finish: null };
  for await (const answer of answers) {
    const candidate = answer.candidates[0];
    for (const part of candidate.content?.parts ?? []) {
      told.text += part.text ?? "";
      const call = part.functionCall;
      if (call) told.calls.push([call.id, call.name, JSON.stringify(call.args)]);
    }
    told.finish = candidate.finishReason ?? told.finish;
  }
  return told;
};
heard["gemini"] = await ofCandidates([await gemini.models.generateContent(generate)]);
heard["gemini streamed"] = await ofCandidates(await gemini.models.generateContentStream(generate));

// The Vercel AI SDK reads each of these APIs with its own code.
const { generateText, streamText, tool, jsonSchema } = await load("ai");
const vercel = async (name, provider, options, make) => {
  const create = named(await load(provider), make);
  const created = create(options);
  const tools = { get_weather: tool({ inputSchema: jsonSchema(parameters) }) };
  const of = (text, calls, finish) => ({
    text,
    calls: calls.map((call) => [call.toolCallId, call.toolName, JSON.stringify(call.input)]),
    finish,
    invalid: calls.filter((call) => call.invalid).length,
  });
  const model = options.pick(created);
  const whole = await generateText({ model, prompt: "How warm is it?", tools, maxRetries: 0 });
  heard[`vercel ${name}`] = of(whole.text, whole.toolCalls, whole.finishReason);
  const stream = streamText({ model, prompt: "How warm is it?", tools, maxRetries: 0 });
  heard[`vercel ${name} streamed`] = of(await stream.text, await stream.toolCalls, await stream.finishReason);
};
await vercel("chat", "@ai-sdk/openai", { baseURL: `${base}/v1`, apiKey: "k", pick: (openai) => openai.chat("m") }, "createOpenAI");
await vercel("responses", "@ai-sdk/openai", { baseURL: `${base}/v1`, apiKey: "k", pick: (openai) => openai.responses("m") }, "createOpenAI");
await vercel("compatible", "@ai-sdk/openai-compatible", { name: "c", baseURL: `${base}/v1`, apiKey: "k", pick: (c) => c.chatModel("m") }, "createOpenAICompatible");
await vercel("messages", "@ai-sdk/anthropic", { baseURL: `${base}/v1`, apiKey: "k", pick: (anthropic) => anthropic("m") }, "createAnthropic");
await vercel("gemini", "@ai-sdk/google", { baseURL: `${base}/v1beta`, apiKey: "k", pick: (google) => google("m") }, "createGoogleGenerativeAI");
console.log(JSON.stringify(heard));
