// The frameworks that test/install.mjs has put under target/: where they are, and which releases.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { repository } from './cases.mjs';

/** Which releases the tests run with. */
export const releases = ['newest', 'oldest'];

/** Imports a package of a release. */
export async function load(release, name) {
  const folder = join(repository, 'target/node-frameworks', release);
  if (!existsSync(join(folder, 'node_modules'))) throw new Error('run `node test/install.mjs` first');
  const require = createRequire(join(folder, 'package.json'));
  return import(pathToFileURL(resolved(require, name)).href);
}

/** Where `import` would find it: packages without a `require` side have only that. */
function resolved(require, name) {
  try {
    return createRequire(require.resolve.paths(name)[0] + '/x.mjs').resolve(name, { conditions: new Set(['import', 'node', 'default']) });
  } catch {
    return require.resolve(name);
  }
}
