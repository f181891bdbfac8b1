#!/usr/bin/env node
'use strict';
// The command line: the program's own function, in this process. Node does nothing else here, so it may be blocked.

const { runProgram } = require('../lib/native.js');

process.exitCode = runProgram(['callwright', ...process.argv.slice(2)]);
