// Hooks of the Claude Agent SDK, called with payloads in the shapes its types declare: cases that a run of its program,
// as in claude-agent-sdk.mjs, does not reach.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hooks } from '../../claude-agent.mjs';

const tools = [
  {
    name: 'mcp__shop__search',
    inputSchema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } }, required: ['query'] },
  },
];

function session(options) {
  const { PreToolUse, PostToolUse, PostToolUseFailure } = hooks({ tools, ...options });
  const common = { session_id: 's', transcript_path: '/t', cwd: '/', prompt_id: 'p', permission_mode: 'default' };
  let count = 0;
  const signal = { signal: new AbortController().signal };
  return {
    pre: async (tool_name, tool_input) => {
      const tool_use_id = `toolu_${++count}`;
      const input = { ...common, hook_event_name: 'PreToolUse', tool_name, tool_input, tool_use_id };
      return (await PreToolUse[0].hooks[0](input, tool_use_id, signal)).hookSpecificOutput;
    },
    post: async (tool_name, tool_input, tool_response) => {
      const tool_use_id = `toolu_${count}`;
      const input = { ...common, hook_event_name: 'PostToolUse', tool_name, tool_input, tool_response, tool_use_id, duration_ms: 3 };
      return (await PostToolUse[0].hooks[0](input, tool_use_id, signal)).hookSpecificOutput;
    },
    failure: async (tool_name, tool_input, error) => {
      const tool_use_id = `toolu_${count}`;
      const input = { ...common, hook_event_name: 'PostToolUseFailure', tool_name, tool_input, error, tool_use_id };
      return (await PostToolUseFailure[0].hooks[0](input, tool_use_id, signal)).hookSpecificOutput;
    },
  };
}

test('a declared tool: valid passes, repairable is corrected, the rest is denied with words', async () => {
  const { pre } = session();
  assert.equal(await pre('mcp__shop__search', { query: 'lamp' }), undefined);
  const corrected = await pre('mcp__shop__search', { query: 'lamp', limit: '5' });
  assert.deepEqual(corrected, { hookEventName: 'PreToolUse', updatedInput: { query: 'lamp', limit: 5 } });
  const denied = await pre('mcp__shop__search', { limit: 'ten' });
  assert.equal(denied.permissionDecision, 'deny');
  assert.match(denied.permissionDecisionReason, /query: Required/);
});

test('trap 3: the same call that fails again and again is stopped, Bash included', async () => {
  const { pre, failure } = session();
  const notes = [];
  for (let round = 0; round < 3; round++) {
    assert.equal(await pre('Bash', { command: 'make' }), undefined);
    notes.push(await failure('Bash', { command: 'make' }, 'make: *** No targets.'));
  }
  assert.ok(notes.some((note) => note?.additionalContext), 'a notice comes before the refusal');
  const denied = await pre('Bash', { command: 'make' });
  assert.match(denied.permissionDecisionReason, /No targets/);
});

test('a tool that is not declared passes', async () => {
  const { pre, post } = session();
  assert.equal(await pre('mcp__other__thing', { anything: 1 }), undefined);
  assert.equal(await post('mcp__other__thing', { anything: 1 }, 'x'), undefined);
});

test('a result that must not be read is replaced', async () => {
  const { pre, post } = session({ policy: { output: { detect: ['error_in_disguise'] } } });
  await pre('mcp__shop__search', { query: 'lamp' });
  const shown = await post('mcp__shop__search', { query: 'lamp' }, '<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>');
  assert.match(shown.updatedToolOutput, /502/);
  await pre('mcp__shop__search', { query: 'desk' });
  assert.equal(await post('mcp__shop__search', { query: 'desk' }, '2 desks'), undefined);
});
