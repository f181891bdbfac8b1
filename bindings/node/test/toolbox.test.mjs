// Tools with functions: types, timeouts, retries, aborts, and what the model gets when they throw.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';

import { Toolbox, ToolError, TransientError, tool } from '../index.mjs';

const lookup = (definition) => tool({ name: 'lookup', input: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }, ...definition });
const call = { tool: 'lookup', id: 'c1', arguments: { id: 7 } };

async function heard(definition, options, invoke = {}) {
  const events = [];
  const toolbox = new Toolbox([lookup(definition)], { ...options, on: { any: (event) => events.push(event) } });
  const settled = await toolbox.invoke(call, invoke);
  await toolbox.gate.flush();
  for (let wait = 0; wait < 100 && events.length === 0; wait++) await sleep(5);
  return { text: settled.text, isError: settled.isError, line: settled.toJSON(), event: events[0] };
}

test('a call is judged, run and answered', async () => {
  const { text, isError } = await heard({ run: ({ id }) => ({ total: id * 2 }) });
  assert.deepEqual([text, isError], ['{"total":14}', false]);
});

test('errors that a tool throws are classified', async () => {
  const thrown = async (error, definition) => heard({ ...definition, run: () => { throw error; } });
  const reported = await thrown(new ToolError('no_such_order', 'There is no order 7.', { hint: 'List the orders first.' }));
  assert.equal(reported.line.output_failure.code, 'no_such_order');
  assert.match(reported.text, /There is no order 7\. .*List the orders first\./);
  const internal = await thrown(new TypeError('secret-host: x is undefined'));
  assert.equal(internal.line.output_failure.code, 'tool_error');
  assert.doesNotMatch(internal.text + JSON.stringify(internal.line), /secret-host/);
  assert.match(internal.event.operator_detail, /TypeError: secret-host/);
  const odd = await thrown('just a text');
  assert.equal(odd.line.output_failure.code, 'tool_error');
  const rejected = await heard({ run: async () => Promise.reject(new Error('x')) });
  assert.equal(rejected.isError, true);
});

test('transient failures are tried again where that does no harm', async () => {
  let runs = 0;
  const flaky = async () => {
    runs += 1;
    if (runs < 3) throw new TransientError('busy', { retryAfterMs: 1 });
    return 'done';
  };
  const read = await heard({ effect: 'read', run: flaky });
  assert.deepEqual([read.text, runs, read.event.attempts], ['done', 3, 3]);
  runs = 0;
  const write = await heard({ effect: 'write', run: flaky });
  assert.deepEqual([write.line.output_failure.code, runs], ['transient', 1]);
  runs = 0;
  await heard({ effect: 'read', retries: 0, run: flaky });
  assert.equal(runs, 1);
});

test('a tool that takes too long is ended, and notified', async () => {
  let aborted;
  const run = (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (aborted = true)));
  const { line, text } = await heard({ timeoutMs: 30, run });
  assert.equal(line.output_failure.code, 'timeout');
  assert.match(text, /did not answer within 30 ms/);
  assert.equal(aborted, true);
  const policy = await heard({ timeoutMs: 60_000, run }, { policy: { timeout: '20ms' } });
  assert.equal(policy.line.output_failure.code, 'timeout', 'the policy counts');
});

test('an abort ends the call for its caller', async () => {
  const controller = new AbortController();
  const ended = heard({ run: () => new Promise(() => {}) }, {}, { signal: controller.signal });
  await sleep(10);
  controller.abort();
  assert.equal((await ended).isError, true);
  let ran = false;
  const never = await heard({ run: () => (ran = true) }, {}, { signal: AbortSignal.abort() });
  assert.deepEqual([never.isError, ran], [true, false]);
});

test('concurrency is limited, in order', async () => {
  let now = 0;
  let most = 0;
  const run = async () => {
    most = Math.max(most, ++now);
    await sleep(5);
    now -= 1;
    return 'ok';
  };
  const toolbox = new Toolbox([lookup({ effect: 'read', run })], { policy: { tool: { lookup: { concurrency: 2 } } } });
  const calls = Array.from({ length: 6 }, (_, id) => ({ tool: 'lookup', arguments: { id } }));
  const settled = await toolbox.invokeAll(calls, { session: 's', round: 1 });
  assert.deepEqual([settled.every(({ text }) => text === 'ok'), most], [true, 2]);
});

test('loops are stopped', async () => {
  const toolbox = new Toolbox([lookup({ run: () => { throw new ToolError('gone', 'no such order'); } })]);
  const codes = [];
  for (let round = 0; round < 5; round++) {
    const line = (await toolbox.invoke(call, { session: 's', round })).toJSON();
    codes.push(line.failure?.code ?? line.output_failure.code);
  }
  assert.deepEqual(codes, ['gone', 'gone', 'gone', 'repeated_call', 'repeated_call']);
});

test('a check finds what a schema cannot', async () => {
  const check = (output) => (output.has_more && output.rows.length === 0 ? { class: 'semantic_garbage', code: 'empty_first_page', detail: 'More pages, and none here.' } : undefined);
  const { line } = await heard({ check, run: () => ({ has_more: true, rows: [] }) });
  assert.equal(line.output_failure.code, 'empty_first_page');
});

test('wrong definitions are exceptions', () => {
  assert.throws(() => tool({ input: {} }), TypeError);
  assert.throws(() => tool({ name: 'x', effect: 'reads' }), /unknown effect/);
  for (const timeoutMs of [NaN, Infinity, 0, -1, '5']) {
    assert.throws(() => tool({ name: 'x', timeoutMs }), /x: timeoutMs must be an integer from 1 to 86400000, not /);
  }
  for (const retries of [NaN, -1, 1.5, 11]) {
    assert.throws(() => tool({ name: 'x', retries }), /x: retries must be an integer from 0 to 10, not /);
  }
  assert.throws(() => new ToolError('c', 'd', { next: 'banana' }), /unknown next step banana; known are fix_arguments/);
  assert.throws(() => new Toolbox([{ name: 'x' }]), TypeError);
  assert.throws(() => new Toolbox([tool({ name: 'x' })]), TypeError);
});

test('an odd time to wait does not reject', async () => {
  for (const retryAfterMs of [-1, 1.5, NaN, Infinity, -Infinity, undefined]) {
    const { isError } = await heard({ run: () => { throw new TransientError('busy', { retryAfterMs }); } });
    assert.equal(isError, true, String(retryAfterMs));
  }
});

test('something else than a signal is an exception before anything runs', async () => {
  let runs = 0;
  const toolbox = new Toolbox([lookup({ run: () => { runs += 1; } })]);
  await assert.rejects(toolbox.invoke(call, { signal: {} }), /signal must be an AbortSignal/);
  assert.equal(runs, 0);
});

test('a tool learns why its result is no longer needed', async () => {
  const reasons = [];
  const run = (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => reasons.push(signal.reason)));
  await heard({ run, timeoutMs: 20 });
  const caller = new AbortController();
  const stopped = heard({ run }, {}, { signal: caller.signal });
  await sleep(20);
  caller.abort(new Error('the user stopped'));
  await stopped;
  assert.deepEqual(reasons.map((reason) => [reason.name, reason.message]), [
    ['TimeoutError', 'the tool took too long'],
    ['Error', 'the user stopped'],
  ]);
});
