// The examples in the guides: each runs, and prints what the guide says.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { repository } from './support/cases.mjs';

const folder = mkdtempSync(join(tmpdir(), 'callwright-docs-'));
mkdirSync(join(folder, 'node_modules'));
symlinkSync(join(import.meta.dirname, '..'), join(folder, 'node_modules/callwright'));

const examples = ['README.md', 'docs/node.md', 'bindings/node/README.md'].flatMap((guide) => {
  const text = readFileSync(join(repository, guide), 'utf8');
  return [...text.matchAll(/```js\n([^]*?)```/g)].map(([, code], at) => ({ name: `${guide}, example ${at + 1}`, code }));
});

examples.forEach(({ name, code }, at) => {
  test(name, () => {
    const file = join(folder, `example-${at}.mjs`);
    writeFileSync(file, code);
    const printed = execFileSync(process.execPath, [file], { encoding: 'utf8' });
    const said = [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => line);
    assert.deepEqual(printed.trim().split('\n'), said);
  });
});

test('there are examples', () => assert.ok(examples.length >= 4));
