// The guard for the Vercel AI SDK by itself; `frameworks` runs it inside the SDK.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { guard } from '../ai.mjs';

const find = { inputSchema: { jsonSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] } }, execute: () => 'found' };

/** What the model gets for the same wrong call in each of several answers. */
async function repeated(options, answers) {
  const { repairToolCall } = guard({ find }, options);
  const messages = [{ role: 'user', content: 'tea' }];
  const heard = [];
  for (let number = 0; number < answers; number++) {
    const toolCall = { toolName: 'find', toolCallId: `c${number}`, input: '{"limit": 1}' };
    messages.push({ role: 'assistant', content: [] });
    heard.push(await repairToolCall({ toolCall, messages }).then(() => 'repaired', (error) => error.message));
  }
  return heard;
}

test('a repeated mistake is noticed', async () => {
  const heard = await repeated({}, 3);
  assert.match(heard[0], /query: Required/);
  assert.equal(new Set(heard).size, 3);
  assert.match(heard[2], /refused 3 times in a row/);
});

test('without a session, mistakes are explained and not counted', async () => {
  for (const session of [() => undefined, () => { throw new Error('no context'); }]) {
    const heard = await repeated({ session }, 3);
    assert.equal(new Set(heard).size, 1);
    assert.match(heard[0], /query: Required/);
  }
});
