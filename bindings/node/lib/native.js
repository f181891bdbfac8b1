'use strict';
// Loads the addon: the one next to this package, or the one in the platform's package.

const { existsSync } = require('node:fs');
const { join } = require('node:path');

const beside = join(__dirname, '..', 'callwright.node');
const platform = `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;

/** Whether the C library is musl, with which the glibc addon does not load. */
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
