// Sessions on a server, shared by processes: a real Redis, and one that cannot be reached.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Gate } from '../index.mjs';
import { difference, files } from './support/cases.mjs';

let server;
let url;

before(async () => {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'callwright-redis-'));
  server = spawn('redis-server', ['--port', port, '--save', '', '--dir', folder, '--bind', '127.0.0.1'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((ready, fail) => {
    server.once('error', fail);
    server.stdout.on('data', (text) => String(text).includes('Ready to accept') && ready());
  });
  url = `redis://127.0.0.1:${port}`;
});

after(() => server?.kill());

function freePort() {
  return new Promise((found) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => found(String(port)));
    });
  });
}

const tool = { name: 'pay', inputSchema: { type: 'object' } };

test('a budget is shared by two gates, and the event loop keeps running', async () => {
  const gates = [new Gate([tool], { ledger: url }), new Gate([tool], { ledger: url })];
  assert.ok(gates[0].waits);
  assert.throws(() => gates[0].open({ tool: 'pay', arguments: {} }, { session: 's' }), /await gate.openAsync/);
  const open = (gate, round) => gate.openAsync({ tool: 'pay', arguments: { to: 'x' } }, { session: 's', round });
  const first = await open(gates[0], 1);
  assert.ok(first.ok);
  assert.throws(() => first.close('x'), /await ticket.closeAsync/);
  const settled = await first.closeAsync('paid');
  assert.equal(settled.isError, false);
  const second = await open(gates[1], 2);
  assert.equal(second.ok, false);
  assert.equal(second.settled.toJSON().failure.code, 'retry_budget_exceeded');
  await gates[1].answer('s', { allowOnce: second.settled.question });
  assert.ok((await open(gates[0], 3)).ok);
});

test('a call of no conversation needs no server', async () => {
  const gate = new Gate([tool], { ledger: url });
  const ticket = await gate.openAsync({ tool: 'pay', arguments: {} });
  assert.equal((await ticket.closeAsync('paid')).text, 'paid');
});

test('a server that cannot be reached: the cases of the corpus', async () => {
  const away = `redis://127.0.0.1:${await freePort()}`;
  let count = 0;
  for (const [name, file] of files('loops')) {
    for (const { name: about, tools = file.tools, effects = file.effects ?? {}, policy: admission, ledger, calls } of file.cases) {
      if (!ledger) continue;
      const known = new Gate(tools).tools.map((declared) => declared.name);
      const declared = Object.fromEntries(Object.entries(effects).filter(([tool]) => known.includes(tool)));
      const gate = new Gate(tools, { ledger: away, admission, effects: declared });
      for (const { call: line, expect } of calls) {
        const { output, is_error: isError, turn, round, session = 's', ...call } = line;
        const ticket = await gate.openAsync(call, { session, turn, round });
        const settled = !ticket.ok ? ticket.settled : output === undefined ? ticket.abandon() : await ticket.closeAsync(output, { isError });
        const actual = settled.toJSON();
        // The reason it cannot be reached comes from the operating system.
        const expected = JSON.parse(JSON.stringify(expect).replaceAll('no answer', ''));
        if (expected.failure?.detail) delete expected.failure.detail;
        if (expected.feedback?.includes('()') || expected.feedback === '') delete expected.feedback;
        assert.equal(difference(expected, actual), undefined, `${name}: ${about}`);
        count += 1;
      }
    }
  }
  assert.ok(count >= 4, `only ${count} calls`);
});
