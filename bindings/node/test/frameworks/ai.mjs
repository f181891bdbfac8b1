// The Vercel AI SDK, with a model over HTTP that makes the mistakes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { guard } from '../../ai.mjs';
import { load, release } from '../support/frameworks.mjs';
import { scriptedModel } from '../support/model.mjs';

const { generateText, jsonSchema, stepCountIs, isStepCount, tool } = await load('ai');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible');
const { z } = await load('zod');
const most = stepCountIs ?? isStepCount;

/** Runs an agent over a script. Returns the arguments its tools ran with, what the model received, and how it ended. */
async function agent(answers, { withGuard = true, options } = {}) {
  const ran = [];
  const note = (name) => async (input) => {
    ran.push([name, input]);
    return `${name} ok`;
  };
  const own = {
    search_orders: tool({
      description: 'Searches orders.',
      inputSchema: z.object({ query: z.string(), limit: z.number().int().default(10), tags: z.array(z.string()).optional() }),
      execute: note('search_orders'),
    }),
    pay: tool({ description: 'Pays.', inputSchema: jsonSchema({ type: 'object', properties: { to: { type: 'string' } }, required: ['to'] }), execute: note('pay') }),
  };
  const model = await scriptedModel(answers);
  const provider = createOpenAICompatible({ name: 'scripted', baseURL: model.url });
  const g = guard(own, options);
  const { text } = await generateText({
    model: provider('scripted'),
    prompt: 'Find my lamp.',
    stopWhen: most(10),
    tools: withGuard ? g.tools : own,
    ...(withGuard && { repairToolCall: g.repairToolCall, experimental_repairToolCall: g.repairToolCall }),
  });
  model.close();
  return { ran, text, results: model.results() };
}

test(`ai ${release}: wrong types and broken JSON are repaired, and the tool runs`, async () => {
  const { ran, text } = await agent([
    [['search_orders', '{"query": "lamp", "limit": "5", "tags": "[\\"a\\"]"}']],
    [['search_orders', "{'query': 'desk',}"]],
    'Found it.',
  ]);
  assert.deepEqual(ran, [
    ['search_orders', { query: 'lamp', limit: 5, tags: ['a'] }],
    ['search_orders', { query: 'desk', limit: 10 }],
  ]);
  assert.equal(text, 'Found it.');
});

test(`ai ${release}: the model gets our feedback for a refusal, and recovers`, async () => {
  const { ran, results } = await agent([[['search_orders', '{"limit": "ten"}']], [['search_orders', '{"query": "lamp"}']], 'ok']);
  assert.match(results[1].join(), /query: Required; limit: expected integer, received string "ten"/);
  assert.doesNotMatch(results[1].join(), /invalid_type/);
  assert.equal(ran.length, 1);
});

test(`ai ${release}: a wrong name is meant for the tool that it resembles`, async () => {
  const { ran } = await agent([[['SearchOrders', '{"query": "lamp"}']], 'ok']);
  assert.deepEqual(ran, [['search_orders', { query: 'lamp', limit: 10 }]]);
  const unknown = await agent([[['fly_to_the_moon', '{}']], 'ok']);
  assert.match(unknown.results[1].join(), /There is no tool named "fly_to_the_moon"/);
  assert.equal(unknown.ran.length, 0);
});

test(`ai ${release}: a cut-off call is not completed`, async () => {
  const { ran, results } = await agent([[['search_orders', '{"query": "la']], 'ok']);
  assert.equal(ran.length, 0);
  assert.match(results[1].join(), /cut off/);
});

test(`ai ${release}: trap 1, a parameter with a default stays optional`, async () => {
  const { ran } = await agent([[['search_orders', '{"query": "lamp"}']], 'ok']);
  assert.deepEqual(ran, [['search_orders', { query: 'lamp', limit: 10 }]]);
});

test(`ai ${release}: trap 3, valid calls are counted too`, async () => {
  const again = [['pay', '{"to": "x"}']];
  const { ran, results } = await agent([again, again, again, 'ok']);
  assert.equal(ran.length, 1);
  assert.match(results.at(-1).at(-1), /pay/);
  const without = await agent([again, again, 'ok'], { withGuard: false });
  assert.equal(without.ran.length, 2);
});
