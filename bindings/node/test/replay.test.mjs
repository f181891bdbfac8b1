// Replay: paths, iterables, parts that merge, and the same report as the program's.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Summary, replay } from '../index.mjs';
import { repository } from './support/cases.mjs';

const tools = [{ name: 'search', inputSchema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } }, required: ['query'] } }];
const records = Array.from({ length: 2000 }, (_, n) => ({
  tool: 'search',
  session: `s${n % 50}`,
  arguments: n % 7 === 0 ? { limit: n } : n % 5 === 0 ? { query: 'a', limit: String(n) } : { query: `q${n}` },
  output: `found ${n}`,
}));
const folder = mkdtempSync(join(tmpdir(), 'callwright-replay-'));
const log = join(folder, 'records.jsonl');
writeFileSync(log, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
const toolFile = join(folder, 'tools.json');
writeFileSync(toolFile, JSON.stringify(tools));

/** The numbers of a report, without the names and places of examples. */
async function calls(summary) {
  const report = await summary.report();
  return JSON.parse(JSON.stringify(report.calls ?? report.summary?.calls ?? report));
}

async function* slowly(some) {
  for (const record of some) yield record;
}

test('paths, an iterable and an async iterable count the same', async () => {
  const byPath = await calls(await replay(log, { tools }));
  const name = log;
  assert.deepEqual(await calls(await replay(records, { tools, name })), byPath);
  assert.deepEqual(await calls(await replay(slowly(records.map((record) => JSON.stringify(record))), { tools, name })), byPath);
});

test('parts by session merge to the whole, each once', async () => {
  const half = (of) => records.filter(({ session }) => Number(session.slice(1)) % 2 === of);
  const parts = await Promise.all([0, 1].map((of) => replay(half(of), { tools, part: String(of), name: log })));
  const travelled = parts.map((part) => Summary.fromBytes(part.toBytes()));
  const merged = travelled[0].merge(travelled[1]).merge(Summary.fromBytes(parts[1].toBytes()));
  const whole = await replay(records, { tools, name: log });
  assert.deepEqual((await merged.report()).calls, (await whole.report()).calls);
});

test("the program's own report", { skip: process.platform === 'win32' }, async () => {
  const program = join(repository, 'bindings/node/bin/callwright.js');
  // It exits with 1 because calls were refused.
  const { stdout, stderr } = spawnSync(process.execPath, [program, 'replay', '--tools', toolFile, '--format', 'json', log], { encoding: 'utf8', maxBuffer: 1 << 28 });
  const printed = JSON.parse(stdout || assert.fail(stderr));
  const report = await (await replay(log, { tools })).report();
  assert.deepEqual(Object.keys(report).sort(), Object.keys(printed).sort());
  assert.deepEqual(report.calls, printed.calls);
});

test('mistakes are exceptions', async () => {
  await assert.rejects(replay(join(folder, 'nothing.jsonl'), { tools }), /nothing\.jsonl/);
  await assert.rejects(replay(5, { tools }), /a replay takes/);
  await assert.rejects(replay(records, { tools: '[' }), /not JSON/);
  await assert.rejects(replay(records, { tools, policyText: 'x = 1' }), /unknown key/);
  const broken = (function* () {
    yield records[0];
    throw new RangeError('the store is away');
  })();
  await assert.rejects(replay(broken, { tools }), /the store is away/);
  assert.throws(() => Summary.fromBytes(new Uint8Array([1, 2, 3])));
});
