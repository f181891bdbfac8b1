// A real MCP client, the official one for TypeScript, that uses every feature of the official example server and prints
// what it got.
//
// mcp_everything.mjs NODE_MODULES URL, or NODE_MODULES COMMAND ARGUMENTS...

import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const [modules, server, ...rest] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

function show(what, result) {
  // Times and session names differ from run to run.
  const text = JSON.stringify(result ?? null)
    .replace(/\d+:\d+:\d+( [AP]M)?|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "SESSION");
  console.log(what, text);
}

async function attempt(what, work) {
  try {
    show(what, await work());
  } catch (error) {
    show(`${what} failed:`, error.message);
  }
}

const capabilities = { sampling: {}, elicitation: {}, roots: {} };
const client = new Client({ name: "typescript", version: "1" }, { capabilities });
client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///tmp/root" }] }));
client.setRequestHandler("elicitation/create", (request) => {
  show("asked", request.params);
  return { action: "decline" };
});
client.setRequestHandler("sampling/createMessage", (request) => {
  show("sampled", request.params);
  return { role: "assistant", content: { type: "text", text: "sampled" }, model: "none" };
});

const transport = server.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(server))
  : new StdioClientTransport({ command: server, args: rest, stderr: "inherit" });
await client.connect(transport);
show("server", [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
// The server adds some of its tools once it knows the client's capabilities.
await sleep(500);

const calls = [
  ["echo", { message: "hello ✓ \u2028 \"quoted\"" }],
  ["get-sum", { a: 2, b: 3.5 }],
  ["get-annotated-message", { messageType: "error", includeImage: true }],
  ["get-resource-links", { count: 2 }],
  ["get-resource-reference", { resourceType: "Text", resourceId: 2 }],
  ["get-structured-content", { location: "Chicago" }],
  ["get-tiny-image", {}],
  ["get-roots-list", {}],
  ["toggle-subscriber-updates", {}],
  ["trigger-sampling-request", { prompt: "hi", maxTokens: 10 }],
  ["trigger-elicitation-request", {}],
];
await attempt("ping", () => client.ping());
await attempt("tools", () => client.listTools());
for (const [name, given] of calls) {
  await attempt(name, () => client.callTool({ name, arguments: given }));
}
const dynamic = { uri: "demo://resource/dynamic/text/1" };
await attempt("resources", () => client.listResources());
await attempt("templates", () => client.listResourceTemplates());
await attempt("read", () => client.readResource({ uri: "demo://resource/static/document/features.md" }));
await attempt("read", () => client.readResource(dynamic));
await attempt("read", () => client.readResource({ uri: "demo://nothing" }));
await attempt("subscribe", () => client.subscribeResource(dynamic));
await attempt("unsubscribe", () => client.unsubscribeResource(dynamic));
await attempt("prompts", () => client.listPrompts());
await attempt("prompt", () => client.getPrompt({ name: "args-prompt", arguments: { city: "Oslo" } }));
const ref = { type: "ref/prompt", name: "completable-prompt" };
await attempt("complete", () => client.complete({ ref, argument: { name: "department", value: "E" } }));
await attempt("level", () => client.setLoggingLevel("debug"));
const long = { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } };
// The last one may arrive together with the result, and then the client does not report it.
const onprogress = (progress) => progress.progress < progress.total && show("progress", progress);
await attempt("long", () => client.callTool(long, { onprogress }));
const longer = { ...long, arguments: { duration: 60, steps: 2 } };
await attempt("longer", () => client.callTool(longer, { timeout: 300 }));
await attempt("after", () => client.callTool({ name: "echo", arguments: { message: "still here" } }));
await client.close();
