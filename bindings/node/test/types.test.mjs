// The declarations: what they infer, what they reject, and that they cover all exports.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import * as callwright from '../index.mjs';
import { folderOf } from './support/frameworks.mjs';

const program = `
import { Gate, Toolbox, ToolError, replay, tool, type Verdict } from 'callwright';
import { guard } from 'callwright/ai';
import { guard as middleware } from 'callwright/langchain';
import { hooks } from 'callwright/claude-agent';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { generateText, tool as aiTool, type LanguageModel } from 'ai';
import { createAgent } from 'langchain';
import { z } from 'zod';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>) => undefined;

const typed = tool({
  name: 'search',
  input: z.object({ query: z.string(), limit: z.number().int().default(10) }),
  run: async (args, { signal }) => {
    same<typeof args, { query: string; limit: number }>(true);
    signal.throwIfAborted();
    return { found: args.limit };
  },
});

tool({
  name: 'plain',
  input: {
    type: 'object',
    properties: { id: { type: 'integer' }, status: { enum: ['open', 'paid'] }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['id'],
  },
  run: (args) => {
    same<typeof args, { id: number | bigint; status?: 'open' | 'paid'; tags?: string[] }>(true);
    // @ts-expect-error unknown argument
    args.nothing;
    return { ok: true };
  },
  check: (output, args) => (output.ok && args.id ? undefined : { class: 'partial_data', code: 'x', detail: 'y' }),
});

const toolbox = new Toolbox([typed], { policy: { tool: { search: { effect: 'read' } } }, on: { refused: (event) => event.failure?.code } });
const text: Promise<string> = toolbox.invoke({ tool: 'search', arguments: '{}' }, { session: 's', signal: AbortSignal.timeout(1) }).then((settled) => settled.text);
const verdict: Verdict<{ query: string }> = new Gate([typed]).judge('search', { query: 'a' });
// @ts-expect-error unknown style
new Gate([], { style: 'rude' });
// @ts-expect-error unknown provider
verdict.render('openai');
throw new ToolError('code', 'detail', { next: 'ask_user' });

declare const model: LanguageModel;
const g = guard({ search: aiTool({ inputSchema: z.object({ query: z.string() }), execute: async ({ query }) => query }) }, { policy: 'callwright.toml' });
await generateText({ model, tools: g.tools, repairToolCall: g.repairToolCall, prompt: 'x' });
createAgent({ model: 'x', tools: [], middleware: [middleware({ session: 's' })] });
for await (const message of query({ prompt: 'x', options: { hooks: hooks({ policy: 'callwright.toml' }) } })) void message;
for (const part of await Promise.all([replay('logs/'), replay((async function* () { yield { tool: 'x' }; })(), { part: '1' })])) part.merge(part);
void text;
`;

test('a program in TypeScript, as an ES module and as CommonJS', () => {
  const folder = join(folderOf('newest'), 'types');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(join(import.meta.dirname, '..'), join(folder, 'node_modules/callwright'));
  writeFileSync(join(folder, 'esm.mts'), program);
  writeFileSync(join(folder, 'cjs.cts'), "import { Gate } from 'callwright';\nimport { guard } from 'callwright/ai';\nnew Gate([]).judge('x', '{}').ok satisfies boolean;\nvoid guard;\n");
  const tsc = join(folderOf('newest'), 'node_modules/typescript/bin/tsc');
  const compilerOptions = { noEmit: true, strict: true, skipLibCheck: true, module: 'nodenext', target: 'es2022', types: [], lib: ['es2023', 'dom', 'dom.asynciterable', 'esnext.disposable'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['esm.mts', 'cjs.cts'] }));
  try {
    execFileSync(process.execPath, [tsc], { cwd: folder, encoding: 'utf8' });
  } catch (error) {
    assert.fail(error.stdout);
  }
});

test('all exports are declared', async () => {
  const { readFileSync } = await import('node:fs');
  const declared = ['index.d.ts', 'lib/tool.d.ts'].map((file) => readFileSync(join(import.meta.dirname, '..', file), 'utf8')).join();
  for (const name of Object.keys(callwright)) {
    if (name === 'default') continue;
    assert.match(declared, new RegExp(`export declare (class|function) ${name}\\b`), name);
  }
});
