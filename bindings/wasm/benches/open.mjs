// How long 20 tools take to open, and how large the module is as a server sends it: node benches/open.mjs
// CALLWRIGHT.wasm [TOOLS.jsonl]
//
// Each round uses a new instance, as on a freshly loaded page: the engine has not compiled the module yet. By CPU time.
// A line of tools has `input_schema`; without a file the tools are generated.

import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';

import { load } from '../lib/callwright.js';

const [modulePath, toolsPath] = process.argv.slice(2);
const bytes = readFileSync(modulePath);

const madeUp = (n) => ({
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1, description: `What to look for in ${n}.` },
    limit: { type: 'integer', minimum: 1, maximum: 10 + n },
    order: { enum: ['newest', 'oldest', `by_${n}`] },
    filter: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string' } } }, additionalProperties: false },
  },
  required: ['query'],
});
const schemas = toolsPath
  ? readFileSync(toolsPath, 'utf8').trim().split('\n').map((line) => JSON.parse(line).input_schema)
  : Array.from({ length: 400 }, (_, n) => madeUp(n));

const rounds = Array.from({ length: Math.floor(schemas.length / 20) }, (_, round) => schemas.slice(round * 20, round * 20 + 20)).slice(0, 20);
const [cold, warm] = [[], []];
for (const round of rounds) {
  const tools = (mark) => JSON.stringify(round.map((inputSchema, n) => ({ name: `tool_${n}`, inputSchema: { ...inputSchema, title: mark } })));
  const callwright = await load(bytes);
  for (const [times, mark] of [[cold, 'first'], [warm, 'second']]) {
    const text = tools(mark);
    const before = process.cpuUsage();
    callwright.open(text);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
}
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1].toFixed(1);
console.log(`20 tools open in ${median(cold)} ms in a new instance, ${median(warm)} ms in one that has opened others (median of ${rounds.length})`);
console.log(`${(bytes.length / 1e6).toFixed(2)} MB, ${(brotliCompressSync(bytes).length / 1e6).toFixed(2)} MB as brotli`);
