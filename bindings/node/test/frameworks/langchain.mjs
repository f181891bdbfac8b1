// LangChain.js, with a model over HTTP that makes the mistakes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { guard } from '../../langchain.mjs';
import { load, release } from '../support/frameworks.mjs';
import { scriptedModel } from '../support/model.mjs';

const { createAgent, tool } = await load('langchain');
const { ChatOpenAI } = await load('@langchain/openai');
const { z } = await load('zod');

/** Runs an agent over a script. Returns what its tools ran with, what the model received, and how it ended. */
async function agent(answers, { middleware = [guard()], fails } = {}) {
  const ran = [];
  const note = (name) => async (input) => {
    ran.push([name, input]);
    if (fails) throw new Error(fails);
    return `${name} ok`;
  };
  const tools = [
    tool(note('search_orders'), {
      name: 'search_orders',
      description: 'Searches orders.',
      schema: z.object({ query: z.string(), limit: z.number().int().default(10), tags: z.array(z.string()).optional() }),
    }),
    // With a plain JSON Schema, like the tools of an MCP server.
    tool(note('pay'), { name: 'pay', description: 'Pays.', schema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } }),
  ];
  const model = await scriptedModel(answers);
  const chat = new ChatOpenAI({ model: 'scripted', apiKey: 'none', maxRetries: 0, configuration: { baseURL: model.url } });
  const { messages } = await createAgent({ model: chat, tools, middleware }).invoke({ messages: [{ role: 'user', content: 'Find my lamp.' }] });
  model.close();
  return { ran, text: messages.at(-1).content, results: model.results() };
}

test(`langchain ${release}: wrong types are repaired, and the tool runs`, async () => {
  const { ran, text } = await agent([[['search_orders', '{"query": "lamp", "limit": "5", "tags": "[\\"a\\"]"}']], 'Found it.']);
  assert.deepEqual(ran, [['search_orders', { query: 'lamp', limit: 5, tags: ['a'] }]]);
  assert.equal(text, 'Found it.');
});

test(`langchain ${release}: broken JSON is repaired, where the agent would have ended`, async () => {
  const script = () => [[['search_orders', "{'query': 'desk',}"]], 'Found it.'];
  const { ran, text } = await agent(script());
  assert.deepEqual(ran, [['search_orders', { query: 'desk', limit: 10 }]]);
  assert.equal(text, 'Found it.');
  const without = await agent(script(), { middleware: [] });
  assert.equal(without.ran.length, 0);
});

test(`langchain ${release}: the model gets our feedback for a refusal, and recovers`, async () => {
  const { ran, results } = await agent([[['pay', '{}']], [['pay', '{"to": "x"}']], 'ok']);
  assert.match(results[1].join(), /to: Required/);
  assert.deepEqual(ran, [['pay', { to: 'x' }]]);
});

test(`langchain ${release}: a cut-off call is not completed`, async () => {
  const { ran, results } = await agent([[['search_orders', '{"query": "la']], 'ok']);
  assert.equal(ran.length, 0);
  assert.match(results[1].join(), /cut off/);
});

test(`langchain ${release}: trap 1, a parameter with a default stays optional`, async () => {
  const { ran } = await agent([[['search_orders', '{"query": "lamp"}']], 'ok']);
  assert.deepEqual(ran, [['search_orders', { query: 'lamp', limit: 10 }]]);
});

test(`langchain ${release}: trap 2, a wrong name is meant for the tool that it resembles`, async () => {
  const { ran } = await agent([[['SearchOrders', '{"query": "lamp"}']], 'ok']);
  assert.deepEqual(ran, [['search_orders', { query: 'lamp', limit: 10 }]]);
  const unknown = await agent([[['fly_to_the_moon', '{}']], 'ok']);
  assert.match(unknown.results[1].join(), /There is no tool named "fly_to_the_moon"/);
});

test(`langchain ${release}: trap 3, valid calls are counted too`, async () => {
  const again = [['pay', '{"to": "x"}']];
  const { ran, results } = await agent([again, again, again, 'ok']);
  assert.equal(ran.length, 1);
  assert.match(results.at(-1).at(-1), /pay/);
});

test(`langchain ${release}: a tool's internal error goes to the operator`, async () => {
  const { results } = await agent([[['pay', '{"to": "x"}']], 'ok'], { fails: 'secret-host refused' });
  assert.doesNotMatch(results[1].join(), /secret-host/);
  assert.equal(results[1].length, 1);
});

test(`langchain ${release}: a tool that appears later does not begin the counts again`, async () => {
  const guarded = guard();
  const again = [['pay', '{"to": "x"}']];
  const late = tool(async () => 'late ok', { name: 'late', description: 'Comes later.', schema: z.object({}) });
  let asked = 0;
  // From the second request on the guard sees another tool; the agent itself does not accept tools from a middleware.
  const wrapModelCall = (request, handler) =>
    guarded.wrapModelCall(asked++ < 1 ? request : { ...request, tools: [...request.tools, late] }, () => handler(request));
  const { ran } = await agent([again, again, again, 'ok'], { middleware: [{ ...guarded, wrapModelCall }] });
  assert.equal(ran.length, 1);
});
