'use strict';
// Packages that the surrounding program has but we do not depend on.

const { createRequire } = require('node:module');
const { join } = require('node:path');

/** A package next to ours, or one in the program's folder: both happen when packages are linked. */
function peer(name) {
  try {
    return require(name);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return createRequire(join(process.cwd(), 'package.json'))(name);
  }
}

module.exports = { peer };
