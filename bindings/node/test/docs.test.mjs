// The examples of the guides: each runs, and prints what it says.

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

const guide = readFileSync(join(repository, 'docs/node.md'), 'utf8');
const blocks = [...guide.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code);

blocks.forEach((code, at) => {
  test(`docs/node.md, example ${at + 1}`, () => {
    const file = join(folder, `example-${at}.mjs`);
    writeFileSync(file, code);
    const printed = execFileSync(process.execPath, [file], { encoding: 'utf8' });
    const said = [...code.matchAll(/^\/\/ (.*)$/gm)].map(([, line]) => line);
    assert.deepEqual(printed.trim().split('\n'), said);
  });
});

test('there are examples', () => assert.ok(blocks.length >= 3));
