// The command line inside the package, and that the gate agrees with it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { Gate } from '../index.mjs';
import { files, repository } from './support/cases.mjs';

const program = join(repository, 'bindings/node/bin/callwright.js');
const run = (args, input) => spawnSync(process.execPath, [program, ...args], { input, encoding: 'utf8', maxBuffer: 1 << 28 });

test('exit codes and output are those of the program', () => {
  const example = (name) => join(repository, 'examples', name);
  const checked = run(['check', '--tools', example('tools.json'), '--format', 'json', example('calls.jsonl')]);
  assert.equal(checked.status, 1, checked.stderr);
  assert.ok(checked.stdout.trim().split('\n').every((line) => JSON.parse(line).verdict));
  assert.equal(run(['check']).status, 2);
  assert.match(run(['explain', 'truncated_call']).stdout, /truncated_call/);
  assert.match(run(['--version']).stdout, /^callwright \d/);
});

test('the corpus through the program and through the gate: the same JSON, line by line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callwright-program-'));
  let count = 0;
  for (const [name, file] of ['parse', 'validate', 'feedback', 'repair', 'wire'].flatMap(files)) {
    const plain = file.cases.filter((one) => !one.tools && !one.effect && !one.error && !one.style && (one.line ?? one.call) !== undefined);
    const groups = Map.groupBy(plain, ({ repair = 'none' }) => repair);
    for (const [repair, cases] of groups) {
      if (repair === 'by_effect') continue;
      const lines = cases.map(({ line, call }) => (line ?? JSON.stringify(call)).replaceAll('\n', ' ')).filter((line) => line.trim() !== '');
      const [tools, calls] = ['tools.json', 'calls.jsonl'].map((leaf) => join(folder, leaf));
      writeFileSync(tools, JSON.stringify(file.tools));
      writeFileSync(calls, lines.map((line) => `${line}\n`).join(''));
      const printed = run(['check', '--tools', tools, '--repair', repair, '--format', 'json', calls]).stdout.trim().split('\n');
      const gate = new Gate(file.tools, { repair });
      const own = lines.map((line) => gate.judge(line).line);
      // If a call has a session, the program also admits it; these cases have none.
      assert.deepEqual(own, printed, `${name}, ${repair}`);
      count += own.length;
    }
  }
  assert.ok(count >= 1000, `only ${count} lines`);
});
