// The frameworks that test/install.mjs installs under target/. A process tests one release of them: see
// frameworks.test.mjs.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { repository } from './cases.mjs';

/** `newest` or `oldest`. */
export const release = process.env.CALLWRIGHT_TEST_RELEASE ?? 'newest';

export const folderOf = (name) => join(repository, 'target/node-frameworks', name);

/** Imports a package of the release. */
export async function load(name) {
  const require = createRequire(join(folderOf(release), 'package.json'));
  return import(pathToFileURL(require.resolve(name)).href);
}
