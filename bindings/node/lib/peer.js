'use strict';
// Packages that the program around us has and we do not depend on.

const { createRequire } = require('node:module');
const { join } = require('node:path');

/** A package beside ours, or one that the program's folder has: both happen where packages are linked. */
function peer(name) {
  try {
    return require(name);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return createRequire(join(process.cwd(), 'package.json'))(name);
  }
}

module.exports = { peer };
