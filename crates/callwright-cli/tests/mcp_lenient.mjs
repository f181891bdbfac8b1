// A server that accepts as a call whatever `JSON.parse` reads as one, and writes each to a file.

import { appendFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const seen = process.argv[2];
writeFileSync(seen, "");
const tools = ["get", "delete"].map((name) => ({ name, inputSchema: { type: "object" } }));

function take(message) {
  if (Array.isArray(message)) return message.forEach(take);
  if (message === null || typeof message !== "object") return;
  if (message.method === "tools/list") {
    console.log(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { tools } }));
  }
  if (message.method === "tools/call") {
    const params = message.params ?? {};
    const call = Array.isArray(params) ? params : [params.name, params.arguments];
    appendFileSync(seen, JSON.stringify([call[0] ?? null, call[1]?.n ?? null]) + "\n");
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    take(JSON.parse(line.replace(/^\ufeff/, "")));
  } catch {
    // Not JSON for this reader.
  }
}
