// A real MCP client, the official one for TypeScript, that makes calls and prints each outcome as a line of JSON.
//
// mcp_calls.mjs NODE_MODULES CALLS COMMAND ARGUMENTS...
//
// CALLS is a JSON array of [tool, arguments].

import { createRequire } from "node:module";

const [modules, calls, command, ...args] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { Client } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const client = new Client({ name: "typescript", version: "1" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
await client.listTools();
for (const [name, given] of JSON.parse(calls)) {
  let result;
  try {
    result = await client.callTool({ name, arguments: given });
  } catch (error) {
    result = { failed: error.message };
  }
  console.log(JSON.stringify(result));
}
await client.close();
