// What a JavaScript programmer relies on beyond the corpus: values that are preserved, errors, events, threads.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { CallwrightError, Gate } from '../index.mjs';

const require = createRequire(import.meta.url);
const index = require.resolve('../index.js');

const search = {
  name: 'search',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string' }, limit: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
    required: ['query'],
  },
};
const gate = new Gate([search]);

const folder = mkdtempSync(join(tmpdir(), 'callwright-'));

test('import and require see one implementation', () => {
  assert.equal(require('../index.js').Gate, Gate);
});

test('valid arguments that came as an object go back as that object', () => {
  const args = { query: 'lamp' };
  assert.equal(gate.judge('search', args).arguments, args);
  assert.equal(gate.open({ tool: 'search', arguments: args }).arguments, args);
  const repaired = gate.judge('search', { query: 'lamp', limit: '5' });
  assert.deepEqual(repaired.arguments, { query: 'lamp', limit: 5 });
  assert.equal(repaired.verdict, 'repaired');
});

test('a verdict by parts and a verdict by line are the same', () => {
  for (const args of ['{"query": "a"}', ' {"query":"a","limit":"5"} ', '{"limit": 1}', '{"query": "la', '', 'null']) {
    const byLine = gate.judge({ tool: 'search', arguments: args });
    const byParts = gate.judge('search', args);
    assert.deepEqual(byParts.toJSON(), byLine.toJSON(), args);
    assert.equal(byParts.verdict, byLine.verdict);
    assert.deepEqual(byParts.render('openai_chat'), byLine.render('openai_chat'));
  }
  const free = new Gate([{ name: 'now', inputSchema: { type: 'object' } }]);
  for (const args of ['{ }', 'null', null, {}]) {
    const byParts = free.judge('now', args);
    assert.deepEqual(byParts.toJSON(), free.judge({ tool: 'now', arguments: args }).toJSON());
    assert.deepEqual(byParts.arguments, {});
  }
});

test('integers beyond 2^53 keep their digits', () => {
  const line = '{"tool":"search","arguments":{"query":"a 12345678901234567890 b","limit":12345678901234567890,"n":[-9007199254740993,1e30,0.12345678901234567]}}';
  const bigint = gate.judge(line).arguments;
  assert.deepEqual(bigint, { query: 'a 12345678901234567890 b', limit: 12345678901234567890n, n: [-9007199254740993n, 1e30, 0.12345678901234567] });
  const text = new Gate([search], { largeIntegers: 'text' }).judge(line).arguments;
  assert.equal(text.limit, '12345678901234567890');
  const number = new Gate([search], { largeIntegers: 'number' }).judge(line).arguments;
  assert.equal(number.limit, 12345678901234567000);
  // And back: a BigInt is written with its digits.
  assert.match(gate.judge('search', { query: 'a', limit: 2n ** 64n, tags: 'x' }).line, /18446744073709551616/);
  assert.throws(() => new Gate([search], { largeIntegers: 'float' }), CallwrightError);
});

test('members named like those of the prototype are members like any other', () => {
  const verdict = gate.judge('{"tool":"search","arguments":{"query":"a","__proto__":{"x":1},"n":12345678901234567890}}');
  assert.deepEqual(Object.keys(verdict.arguments), ['query', '__proto__', 'n']);
  assert.equal({}.x, undefined);
});

test('values that JSON cannot hold are errors that name the place', () => {
  const cycle = { query: 'a' };
  cycle.self = cycle;
  const wrong = [
    [{ query: NaN }, /query: JSON has no NaN/],
    [{ query: 'a', n: { x: [Infinity] } }, /n\.x\.0: JSON has no Infinity/],
    [{ query: '\ud800' }, /query: .*surrogate/],
    [{ query: () => 1 }, /query: JSON has no function/],
    [cycle, /cycle/],
  ];
  for (const [args, message] of wrong) assert.throws(() => gate.judge('search', args), message);
  assert.throws(() => gate.judge('search', '{"query": "\ud800"}'), /surrogate/);
});

test('wrong types at the boundary are exceptions', () => {
  assert.throws(() => gate.judge(5), CallwrightError);
  assert.throws(() => gate.judge(undefined), TypeError);
  assert.throws(() => gate.judge('search', Symbol('x')), TypeError);
  assert.throws(() => gate.judge('not a call'), /not JSON/);
  assert.throws(() => gate.judge({}), CallwrightError);
  assert.throws(() => new Gate('['), /not JSON/);
  assert.throws(() => new Gate([search, search]), /two tools/);
  assert.throws(() => new Gate([search], { polcy: 1 }), /unknown option polcy; known are repair/);
  assert.throws(() => new Gate([search], { sessions: 'ten' }), {
    message: 'sessions: expected a whole number, got "ten"',
  });
  assert.throws(() => new Gate([search], { maxBytes: -1 }), {
    message: 'maxBytes: expected a whole number, got -1',
  });
  assert.throws(() => gate.judge('search', undefined), { message: 'the arguments are undefined; pass null if the model sent none' });
  assert.throws(() => new Gate([search], { style: 'rude' }), /unknown style `rude`/);
  assert.throws(() => new Gate([search], { policy: join(folder, 'none.toml') }), /cannot read the policy file/);
  assert.throws(() => new Gate([search], { policy: { repare: 'none' } }), /did you mean `repair`/);
  assert.throws(() => gate.open({ tool: 'search' }, { sesion: 1 }), /unknown key sesion/);
  assert.throws(() => gate.judge('search', '{}').render('openai'), /unknown provider/);
  assert.throws(() => gate.open({ tool: 'search', arguments: { query: 'a' } }).fail({ kind: 'sad' }), /unknown kind of failure `sad`; known are reported, /);
  assert.throws(() => gate.judge.call({}, 'search', '{}'), TypeError);
});

test('a policy from a file, as text and as an object means the same', () => {
  const text = 'repair = "none"\n[tool."se*"]\nvalidate = "warn"\nadvice = { timeout = "Ask \\"once\\"." }\n';
  const file = join(folder, 'callwright.toml');
  writeFileSync(file, text);
  const object = { repair: 'none', tool: { 'se*': { validate: 'warn', advice: { timeout: 'Ask "once".' } } } };
  const settings = [{ policy: file }, { policyText: text }, { policy: object }].map((options) => new Gate([search], options).settings('search'));
  assert.deepEqual(settings[0], settings[1]);
  assert.deepEqual(settings[0], settings[2]);
  assert.equal(settings[0].validate, 'warn');
});

test('sessions continue with other tools', () => {
  const call = { tool: 'search', arguments: { query: 'moved' } };
  const before = new Gate([search]);
  for (const round of [1, 2, 3]) before.open(call, { session: 's', round }).close('nothing found', { isError: true });
  const tools = [search, { name: 'other', inputSchema: { type: 'object' } }];
  const after = new Gate(tools, { ledger: before });
  assert.ok(new Gate(tools).open(call, { session: 's', round: 4 }).ok);
  assert.ok(!after.open(call, { session: 's', round: 4 }).ok);
  assert.ok(after.open({ tool: 'other', arguments: {} }, { session: 's', round: 5 }).ok);
  assert.throws(() => new Gate(tools, { ledger: {} }), CallwrightError);
});

test('a ticket is good for one outcome', () => {
  const ticket = gate.open({ tool: 'search', id: 'call_1', arguments: '{"query":"a"}' });
  assert.ok(ticket.ok);
  assert.throws(() => ticket.fail({ kind: 'reported', extra: 1 }), /^CallwrightError: failed\.extra: unknown; known are kind, /);
  const settled = ticket.close({ orders: [1, 2n ** 70n] });
  assert.deepEqual(settled.message('anthropic'), {
    type: 'tool_result',
    tool_use_id: 'call_1',
    content: '{"orders":[1,1180591620717411303424]}',
  });
  assert.throws(() => ticket.close('again'), /already closed/);
});

test('an MCP result says itself whether it failed', () => {
  const content = [{ type: 'text', text: 'no such index' }];
  const settled = gate.open({ tool: 'search', arguments: { query: 'a' } }).close({ content, isError: true });
  assert.equal(settled.isError, true);
  assert.match(settled.text, /no such index/);
});

test('a refused call is settled at once', () => {
  const ticket = gate.open({ tool: 'search', arguments: { limit: 1 } });
  assert.equal(ticket.ok, false);
  assert.equal(ticket.close('whatever'), ticket.settled);
  assert.match(ticket.settled.text, /query: Required/);
  assert.equal(ticket.settled.isError, true);
});

test('outputs that JSON cannot hold are refused, not thrown', () => {
  const open = () => gate.open({ tool: 'search', arguments: { query: 'a' } });
  assert.match(open().close({ mean: NaN }).text, /mean: received a value that JSON cannot hold/);
  assert.match(open().close(new Uint8Array([255])).text, /JSON cannot hold/);
  assert.equal(open().close(Buffer.from('plain')).text, 'plain');
  assert.equal(open().close().text, 'null');
});

test('events reach their listeners, and a listener that fails ends nothing', async () => {
  const seen = [];
  const warnings = [];
  process.on('warning', (warning) => warnings.push(warning.message));
  const watched = new Gate([search], {
    on: {
      any: (event) => seen.push(event),
      refused: () => {
        throw new Error('boom');
      },
      toolExecuted: async () => Promise.reject(new Error('later')),
    },
  });
  watched.open({ tool: 'search', arguments: { query: 'a' } }, { session: 's', round: 1 }).close('fine');
  watched.open({ tool: 'search', arguments: {} }, { session: 's', round: 2 });
  watched.open({ tool: 'search', arguments: { query: 'b' } }).abandon();
  assert.ok(await watched.flush());
  for (let wait = 0; wait < 200 && (seen.length < 3 || warnings.length < 2); wait++) await new Promise((done) => setTimeout(done, 10));
  assert.deepEqual(seen.map((event) => [event.verdict, event.session]), [['valid', 's'], ['refused', 's'], ['valid', null]]);
  assert.equal(seen[0].v, 1);
  assert.ok(seen[0].latency_us >= 0);
  assert.match(warnings.join(), /refused failed: Error: boom/);
  assert.match(warnings.join(), /toolExecuted failed: Error: later/);
  assert.throws(() => new Gate([search], { on: { any: 5 } }), /must be a function/);
  assert.throws(() => new Gate([search], { on: { nothing() {} } }), /unknown event/);
});

test('a listener that never ends holds nothing up', async () => {
  let begun = 0;
  const watched = new Gate([search], { on: { any: () => new Promise(() => begun++) } });
  for (let n = 0; n < 3; n++) assert.equal(watched.open({ tool: 'search', arguments: { query: 'a' } }).close('x').text, 'x');
  assert.ok(await watched.flush());
  for (let wait = 0; wait < 200 && begun < 3; wait++) await new Promise((done) => setTimeout(done, 10));
  assert.equal(begun, 3);
});

test('events are written to a file, also those of the last moment', () => {
  const record = join(folder, 'events.jsonl');
  const program = `
    const { Gate } = require(${JSON.stringify(index)});
    const gate = new Gate(${JSON.stringify([search])}, { record: ${JSON.stringify(record)}, on: { any() {} } });
    for (let n = 0; n < 100; n++) gate.open({ tool: 'search', arguments: { query: String(n) } }, { session: 's' }).close('ok ' + n);`;
  // A listener does not keep the process alive.
  execFileSync(process.execPath, ['-e', program], { timeout: 60_000 });
  const lines = readFileSync(record, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines.length, 100);
  assert.equal(lines[99].output, 'ok 99');
});

test('worker threads have their own gates, and may end at any time', async () => {
  const program = `
    const { parentPort } = require('node:worker_threads');
    const { Gate } = require(${JSON.stringify(index)});
    const gate = new Gate(${JSON.stringify([search])}, { on: { any: (event) => parentPort.postMessage(event.verdict) } });
    gate.open({ tool: 'search', arguments: { query: 'a' } }).close('x');
    setInterval(() => gate.open({ tool: 'search', arguments: {} }), 1);`;
  const workers = Array.from({ length: 4 }, () => new Worker(program, { eval: true }));
  const first = await Promise.all(workers.map((worker) => new Promise((done, fail) => worker.once('message', done).once('error', fail))));
  assert.deepEqual(first, ['valid', 'valid', 'valid', 'valid']);
  await Promise.all(workers.map((worker) => worker.terminate()));
  assert.equal(gate.judge('search', '{"query":"a"}').verdict, 'valid');
});

test('a process forked after the import has its own gates', async () => {
  const record = join(folder, 'forked.jsonl');
  const program = join(folder, 'forked.cjs');
  writeFileSync(
    program,
    `const { Gate } = require(${JSON.stringify(index)});
    const { fork } = require('node:child_process');
    const gate = new Gate(${JSON.stringify([search])}, { record: ${JSON.stringify(record)}, on: { any() {} } });
    const child = process.argv[2] === 'child' ? undefined : fork(__filename, ['child']);
    for (let n = 0; n < 100; n++) gate.open({ tool: 'search', arguments: { query: 'a' } }, { session: 's' + n }).close('ok');
    child?.on('exit', (code) => (process.exitCode = code));`,
  );
  const ended = spawnSync(process.execPath, [program], { timeout: 60_000 });
  assert.equal(ended.status, 0, ended.stderr.toString());
  assert.equal(readFileSync(record, 'utf8').trim().split('\n').length, 200);
});

test('a process that ends in the middle ends quietly', () => {
  const program = `
    const { Gate } = require(${JSON.stringify(index)});
    const gate = new Gate(${JSON.stringify([search])}, { on: { any() {} } });
    for (let n = 0; n < 1000; n++) gate.open({ tool: 'search', arguments: { query: 'a' } });
    process.exit(3);`;
  const ended = spawnSync(process.execPath, ['-e', program], { timeout: 60_000 });
  assert.equal(ended.status, 3, ended.stderr.toString());
});

test('deep and long arguments are refused, not fatal', () => {
  const deep = '{"query":'.repeat(100_000);
  assert.equal(gate.judge('search', deep).verdict, 'refused');
  assert.equal(gate.judge('search', `{"query":"${'x'.repeat(9 << 20)}"}`).failure.code, 'arguments_too_large');
  assert.throws(() => gate.judge(deep), CallwrightError);
});

test('what is wrong with an outcome is named', async () => {
  const opened = () => gate.open({ tool: 'search', arguments: { query: 'lamp' } });
  assert.throws(() => opened().close('x', { attempts: 'two' }), {
    message: 'attempts: expected a whole number, got "two"',
  });
  assert.throws(() => opened().close('x', { latencyMs: 'soon' }), {
    message: 'latencyMs must be a number of milliseconds, not "soon"',
  });
  assert.throws(() => opened().fail({ kind: 'reported', detail: 5 }), {
    message: 'failed.detail: expected a string, got 5',
  });
  for (const reply of [undefined, 'go', {}, { allowTool: 5 }, { allowOnce: 'a', allowTool: 'b' }]) {
    await assert.rejects(gate.answer('s', reply), { message: /^a reply must be 'stop', / });
  }
  await assert.rejects(gate.flush('soon'), { message: 'timeoutMs must be a number of milliseconds, not "soon"' });
});
