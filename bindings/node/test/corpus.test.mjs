// corpus/ is the specification: every case that the public API can express.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gate, readAnswer, readHistory } from '../index.mjs';
import { difference, run } from './support/cases.mjs';

/** Numbers as `JSON.parse` reads the corpus; digits that it loses are looked up in the text. */
const asRead = { largeIntegers: 'number' };

function gateOf(file, { tools = file.tools, effect, repair = 'none', style }) {
  const effects = effect && Object.fromEntries(new Gate(tools).tools.map((tool) => [tool.name, effect]));
  return new Gate(tools, { ...asRead, repair, style, effects });
}

/** What is wrong with the error of `work`, which is expected to have this text. */
function wrongError(work, text) {
  try {
    work();
  } catch (error) {
    return error.message.includes(text) ? undefined : `expected an error with ${text}, got ${error.message}`;
  }
  return `expected an error with ${text}`;
}

test('calls: parse, validate, repair, feedback, wire', () => {
  const count = run(['parse', 'validate', 'repair', 'feedback', 'wire'], (file, testCase) => {
    const gate = gateOf(file, testCase);
    // A text input is a line, so a call that is a JSON string is encoded as one.
    const call = testCase.line ?? (typeof testCase.call === 'string' ? JSON.stringify(testCase.call) : testCase.call);
    if (testCase.error) return wrongError(() => gate.judge(call), testCase.error);
    const verdict = gate.judge(call);
    const found = difference(testCase.expect, verdict.toJSON());
    if (found) return found;
    for (const part of testCase.contains ?? []) {
      // `5.0` and `5` are the same number in JavaScript, so an object cannot hold the first.
      const fractionless = (text) => (testCase.line ? text : text.replace(/(\d)\.0\b/g, '$1'));
      const blankless = (text) => fractionless(text).replaceAll(' ', '');
      if (!blankless(verdict.line).includes(blankless(part))) return `${part} is not in ${verdict.line}`;
    }
    for (const [provider, expected] of Object.entries(testCase.renders ?? {})) {
      try {
        assert.deepEqual(verdict.render(provider), expected);
      } catch (error) {
        return `${provider}: ${error.message}`;
      }
    }
    return undefined;
  });
  assert.ok(count >= 1200, `only ${count} calls`);
});

test('tools', () => {
  const count = run(['tools'], (file, testCase) => {
    const tools = testCase.text ?? JSON.stringify(testCase.file);
    if (testCase.error) return wrongError(() => new Gate(tools), testCase.error);
    const actual = new Gate(tools, asRead).tools;
    const expected = testCase.expect.map((tool, at) => {
      const reason = actual[at]?.quarantined;
      const isNamed = typeof tool.quarantined === 'string' && reason?.includes(tool.quarantined);
      return isNamed ? { ...tool, quarantined: reason } : tool;
    });
    return difference(expected, actual);
  });
  assert.ok(count >= 40, `only ${count} tool files`);
});

test('rescue', () => {
  const count = run(['rescue'], (file, testCase) => {
    const gate = gateOf(file, testCase);
    const rescue = () => (testCase.line === undefined ? gate.rescue(testCase.text) : gate.rescueLine(testCase.line));
    if (testCase.error) return wrongError(rescue, testCase.error);
    const { calls, rest, noCall } = rescue();
    const actual = noCall ? { no_call: noCall } : { calls: calls.map((call) => call.toJSON()), rest };
    return difference(testCase.expect, actual);
  });
  assert.ok(count >= 60, `only ${count} messages`);
});

test('answers and histories', () => {
  const count = run(['answers'], (file, testCase) => {
    if (testCase.history) {
      const { entries, unanswered } = readHistory(testCase.history);
      return difference(testCase.unanswered, unanswered) ?? difference(testCase.expect, entries.map(withReasons));
    }
    const body = testCase.body_text ?? testCase.body;
    if (testCase.error) return wrongError(() => readAnswer(body), testCase.error);
    return difference(testCase.expect, rounded(readAnswer(body)).map(withReasons));
  });
  assert.ok(count >= 25, `only ${count} answers`);
});

/** The cases quote only the reason why a call cannot be read. */
function withReasons(entry) {
  if (!entry.calls) return entry;
  const calls = entry.calls.map((call) => (call.error ? { error: call.error.split(/[:,]/)[1].trim() } : call));
  return { ...entry, calls };
}

/** With numbers as `JSON.parse` reads them. */
function rounded(value) {
  return JSON.parse(JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? Number(member) : member)));
}

/** Opens a call line and closes it with the recorded outcome. */
function settle(gate, line, session, about = {}) {
  const { output, is_error: isError, turn, round, session: own, ...call } = line;
  const ticket = gate.open(call, { session: own ?? session, turn, round });
  if (!ticket.ok) return ticket.settled;
  if (about.failed) return ticket.fail(about.failed, about);
  return output === undefined && !isError ? ticket.abandon() : ticket.close(output === undefined ? '' : output, { isError, ...about });
}

test('loops', async () => {
  const conversations = [];
  const count = run(['loops'], (file, testCase) => {
    const { tools = file.tools, effects = file.effects, policy: admission, ledger } = testCase;
    // A server that cannot be reached is in redis.test.mjs.
    if (ledger) return undefined;
    const known = new Gate(tools).tools.map((tool) => tool.name);
    const declared = Object.entries(effects ?? {}).filter(([name]) => known.includes(name));
    const gate = new Gate(tools, { ...asRead, admission, effects: Object.fromEntries(declared) });
    conversations.push(converse(gate, testCase));
    return undefined;
  });
  const failures = (await Promise.all(conversations)).filter(Boolean);
  assert.deepEqual(failures, []);
  assert.ok(count >= 200, `only ${count} conversations`);
});

/** Steps of one conversation, in order. */
async function converse(gate, testCase) {
  let refused;
  for (const [at, step] of testCase.calls.entries()) {
    if (step.reply) {
      const { allow_tool: allowTool } = step.reply;
      await gate.answer('s', step.reply === 'stop' ? 'stop' : allowTool ? { allowTool } : { allowOnce: refused });
      continue;
    }
    for (let time = 1; time <= (step.times ?? 1); time++) {
      const settled = settle(gate, step.call, 's');
      refused = settled.question ?? refused;
      const found = difference(step.expect, settled.toJSON());
      if (found) return `${testCase.name}: call ${at}, time ${time}: ${found}`;
    }
  }
  return undefined;
}

test('output', () => {
  const count = run(['output'], (file, testCase) => {
    const { tools = file.tools, policy: output, advice, style, failed, finding } = testCase;
    // A policy rejects limits that are too small for a message; these cases are about where text is truncated.
    if (output?.max_bytes < 100) return wrongError(() => new Gate(tools, { policy: { output } }), 'max_bytes');
    const gate = new Gate(tools, { ...asRead, style, policy: { output, advice } });
    const settled = settle(gate, testCase.call, undefined, { failed, finding });
    const found = difference(testCase.expect, settled.toJSON());
    if (found) return found;
    if (testCase.shown !== undefined && settled.text !== testCase.shown) return `expected to show ${testCase.shown}, got ${settled.text}`;
    if (testCase.is_error !== undefined && settled.isError !== testCase.is_error) return `expected isError to be ${testCase.is_error}`;
    const secret = failed?.for_operator;
    if (secret && (settled.text.includes(secret) || settled.line.includes(secret))) return 'a detail for the operator is shown';
    return undefined;
  });
  assert.ok(count >= 180, `only ${count} results`);
});

test('policy', () => {
  const count = run(['policy'], (file, testCase) => {
    const policyText = [testCase.policy].flat().join('\n');
    const open = () => new Gate(file.tools ?? [], { ...asRead, policyText });
    if (testCase.error) return wrongError(open, [testCase.error].flat().join('\n'));
    const gate = open();
    for (const [tool, expected] of Object.entries(testCase.settings ?? {})) {
      const found = difference(expected, gate.settings(tool), `/${tool}`);
      if (found) return found;
    }
    const warnings = testCase.warnings && [...testCase.warnings].sort();
    const found = difference(testCase.admission, gate.admission) ?? difference(warnings, gate.warnings);
    if (found) return found;
    for (const [at, step] of (testCase.calls ?? []).entries()) {
      const line = settle(gate, step.call, 's').toJSON();
      const wrong = difference(step.expect, line) ?? difference(step.notes, line.output_notes ?? []);
      if (wrong) return `call ${at}: ${wrong}`;
    }
    return undefined;
  });
  assert.ok(count >= 220, `only ${count} policies`);
});

test('present', () => {
  const count = run(['present'], (file, testCase) => {
    const tool = { ...file.tool, ...testCase.tool };
    const policyText = testCase.policy && [testCase.policy].flat().join('\n');
    const gate = new Gate([tool], { ...asRead, policyText, receipts: testCase.receipts });
    const call = { tool: 'lookup', arguments: testCase.arguments ?? { id: 7 } };
    let settled;
    for (let round = 0; round < (testCase.times ?? 1); round++) {
      settled = settle(gate, { ...call, round, output: testCase.answer, is_error: testCase.failed }, 's');
    }
    return difference(testCase.expect, { ...settled.presented, text: settled.text });
  });
  assert.ok(count >= 20, `only ${count} settled calls`);
});

test('fingerprint', () => {
  let opened = 0;
  run(['fingerprint'], (file, { tool, schema: inputSchema, volatile, arguments: args, fingerprint }) => {
    if (tool === '') return wrongError(() => new Gate([{ name: tool }]), 'no `name`');
    const gate = new Gate([{ name: tool, inputSchema }], { policy: { loops: { volatile } } });
    const ticket = gate.open({ tool, arguments: args });
    // An unreadable call is never opened, so no ticket has its fingerprint.
    if (!ticket.ok) return undefined;
    opened += 1;
    return difference(fingerprint, ticket.fingerprint);
  });
  assert.ok(opened >= 25, `only ${opened} vectors`);
});
