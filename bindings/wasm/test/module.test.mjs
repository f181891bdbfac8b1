// The module in Node: the corpus, traps, and freed memory.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { CallwrightError, TrapError, load } from '../lib/callwright.js';
import { difference, run } from '../../node/test/support/cases.mjs';

const file = process.env.CALLWRIGHT_WASM;
assert.ok(file, 'CALLWRIGHT_WASM names the module; see .ci/wasm');
const bytes = readFileSync(file);
const callwright = await load(bytes);
const search = { name: 'search', inputSchema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } }, required: ['query'] } };

test('it has no imports', async () => {
  assert.deepEqual(WebAssembly.Module.imports(await WebAssembly.compile(bytes)), []);
});

test('the corpus: calls', () => {
  const count = run(['parse', 'validate', 'repair', 'feedback', 'wire'], (about, testCase) => {
    const { tools = about.tools, effect, repair = 'none', style = 'instruction', error } = testCase;
    const named = effect ? callwright.open(tools) : undefined;
    const effects = Object.fromEntries((named?.tools ?? []).map((tool) => [tool.name, effect]));
    named?.close();
    const gate = callwright.open(tools, { repair, style, effects });
    const line = testCase.line ?? JSON.stringify(testCase.call);
    try {
      const found = difference(testCase.expect, gate.judge(line));
      if (error) return `expected the error ${error}`;
      if (found) return found;
      for (const [provider, expected] of Object.entries(testCase.renders ?? {})) assert.deepEqual(gate.render(provider, line), expected);
      return undefined;
    } catch (thrown) {
      return error && thrown instanceof CallwrightError && thrown.message.includes(error) ? undefined : thrown.stack;
    } finally {
      gate.close();
    }
  });
  assert.ok(count >= 1200, `only ${count} calls`);
});

test('the corpus: rescue', () => {
  const count = run(['rescue'], (about, { tools = about.tools, repair = 'none', text, expect }) => {
    if (text === undefined) return undefined;
    const gate = callwright.open(tools, { repair });
    const found = difference(expect, gate.rescue(text));
    gate.close();
    return found;
  });
  assert.ok(count >= 60, `only ${count} messages`);
});

test('mistakes are exceptions', () => {
  assert.throws(() => callwright.open('['), CallwrightError);
  assert.throws(() => callwright.open([search], { stile: 'x' }), /unknown field `stile`/);
  const gate = callwright.open([search]);
  assert.throws(() => gate.judge('nothing'), CallwrightError);
  assert.throws(() => gate.render('openai', { tool: 'search' }), /unknown provider/);
  gate.close();
  assert.throws(() => gate.judge({ tool: 'search' }), /closed/);
});

test('a trap costs one request, not the page', () => {
  const gate = callwright.open([search]);
  // Each level evaluates the next one twice: two to the power of thirty checks of one small value.
  const levels = 30;
  const level = (n) => {
    const next = n + 1 < levels ? { $ref: `#/$defs/l${n + 1}` } : {};
    return [`l${n}`, { type: 'object', properties: { x: { allOf: [next, { allOf: [next] }] } } }];
  };
  const $defs = Object.fromEntries(Array.from({ length: levels }, (_, n) => level(n)));
  const hostile = callwright.open([{ name: 'hostile', inputSchema: { type: 'object', $defs, $ref: '#/$defs/l0' } }]);
  let value = {};
  for (let n = 0; n < levels; n++) value = { x: value };
  assert.throws(() => hostile.judge({ tool: 'hostile', arguments: value }), TrapError);
  assert.equal(gate.judge({ tool: 'search', arguments: { query: 'a' } }).verdict, 'valid');
  assert.equal(hostile.judge({ tool: 'hostile', arguments: {} }).verdict, 'valid');
});

test('memory does not grow with the number of questions', () => {
  const gate = callwright.open([search]);
  const ask = () => {
    for (let n = 0; n < 2000; n++) gate.judge({ tool: 'search', arguments: `{"query": "a${n}", "limit": "x"}` });
    return callwright.memoryBytes;
  };
  const before = ask();
  assert.equal(ask(), before);
  gate.close();
});
