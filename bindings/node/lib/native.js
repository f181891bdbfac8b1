'use strict';
// Loads the addon: the one beside this package, or the one of the platform's own package.

const { existsSync } = require('node:fs');
const { join } = require('node:path');

const beside = join(__dirname, '..', 'callwright.node');
const platform = `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;

/** Whether the C library is musl, for which glibc's addon does not load. */
function isMusl() {
  if (process.platform !== 'linux') return false;
  return !process.report.getReport().header.glibcVersionRuntime;
}

function load() {
  if (existsSync(beside)) return require(beside);
  const name = `@callwright/${platform}`;
  try {
    return require(name);
  } catch (cause) {
    throw new Error(
      `callwright has no addon for ${platform}: neither ${beside} nor the package ${name} is there. ` +
        'Install without `--no-optional`, or build it as docs/node.md says.',
      { cause },
    );
  }
}

module.exports = load();
