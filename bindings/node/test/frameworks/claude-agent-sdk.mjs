// The Claude Agent SDK with its bundled program, and a model over HTTP that makes the mistakes.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { hooks } from '../../claude-agent.mjs';
import { scriptedClaude } from '../support/claude.mjs';
import { load, release } from '../support/frameworks.mjs';

const { createSdkMcpServer, query, tool } = await load('@anthropic-ai/claude-agent-sdk');
const { z } = await load('zod');

const SORTS = ['price_asc', 'price_desc'];
const declared = [
  {
    name: 'mcp__shop__search',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string' }, sort: { type: 'string', enum: SORTS } },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  },
];

/** Runs an agent over a script. Returns what its tool ran with, what the model received, and how it ended. */
async function agent(answers) {
  const ran = [];
  const model = await scriptedClaude(answers);
  const home = mkdtempSync(join(tmpdir(), 'callwright-claude-'));
  const search = tool('search', 'Searches.', { query: z.string(), sort: z.enum(SORTS).optional() }, async (args) => {
    ran.push(args);
    return { content: [{ type: 'text', text: `found ${args.query}` }] };
  });
  let text;
  const run = query({
    prompt: 'Find my lamp.',
    options: {
      model: 'claude-scripted',
      cwd: home,
      maxTurns: 8,
      settingSources: [],
      mcpServers: { shop: createSdkMcpServer({ name: 'shop', tools: [search] }) },
      allowedTools: ['mcp__shop__search'],
      hooks: hooks({ tools: declared }),
      env: {
        PATH: process.env.PATH,
        HOME: home,
        CLAUDE_CONFIG_DIR: home,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    },
  });
  for await (const message of run) if (message.type === 'result') text = message.result;
  model.close();
  return { ran, text, results: model.results() };
}

test(`claude agent sdk ${release}: a value that is spelled otherwise is repaired, and the tool runs`, async () => {
  const { ran, text } = await agent([['mcp__shop__search', { query: 'lamp', sort: 'Price-Asc' }], 'Found it.']);
  assert.deepEqual(ran, [{ query: 'lamp', sort: 'price_asc' }]);
  assert.equal(text, 'Found it.');
});

test(`claude agent sdk ${release}: the model gets our feedback for a refusal, and recovers`, async () => {
  const { ran, results } = await agent([['mcp__shop__search', { sort: 'price_asc' }], ['mcp__shop__search', { query: 'desk' }], 'ok']);
  // Newer releases add a prefix.
  assert.match(results[0][0], /^(PreToolUse:mcp__shop__search hook error: )?Please rewrite .* query: Required$/);
  assert.deepEqual(ran, [{ query: 'desk' }]);
});

test(`claude agent sdk ${release}: trap 3, the same call again and again is stopped`, async () => {
  const again = ['mcp__shop__search', { query: 'lamp' }];
  const { ran, results } = await agent([again, again, again, again, again, again, 'ok']);
  assert.equal(ran.length, 3);
  assert.match(results[3][0], /same result 3 times in a row/);
});
