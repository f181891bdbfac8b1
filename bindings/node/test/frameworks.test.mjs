// Runs the tests with real frameworks in a separate process per release, so that releases never mix.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { folderOf } from './support/frameworks.mjs';

const folder = join(import.meta.dirname, 'frameworks');

for (const release of ['newest', 'oldest']) {
  for (const file of readdirSync(folder)) {
    test(`${file}, ${release}`, async () => {
      const modules = join(folderOf(release), 'node_modules');
      assert.ok(existsSync(modules), 'run `node test/install.mjs` first');
      const env = { ...process.env, CALLWRIGHT_TEST_RELEASE: release, NODE_PATH: modules };
      delete env.NODE_TEST_CONTEXT;
      const child = spawn(process.execPath, ['--test', '--test-reporter=spec', join(folder, file)], { env });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
      const status = await new Promise((ended) => child.on('close', ended));
      assert.equal(status, 0, output);
    });
  }
}
