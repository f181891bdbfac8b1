'use strict';
// A guard between language models and their tools. docs/node.md has the guide, index.d.ts the reference.

const native = require('./lib/native.js');
const { CallwrightError, ToolError, TransientError, checked } = require('./lib/errors.js');
const { Gate } = require('./lib/gate.js');
const { fromText, toText } = require('./lib/json.js');
const { Summary, replay } = require('./lib/replay.js');
const { Settled, Verdict } = require('./lib/verdict.js');
const { Ticket } = require('./lib/ticket.js');
const { ToolDefinition, tool } = require('./lib/tool.js');
const { Toolbox } = require('./lib/toolbox.js');

/** The calls and texts in a provider's whole response, one answer for each choice. */
function readAnswer(body) {
  return fromText(checked(() => native.readAnswer(typeof body === 'string' ? body : toText(body))));
}

/** The contents of a request or its list of messages, and the tools whose calls have no result yet. */
function readHistory(request) {
  return fromText(checked(() => native.readHistory(typeof request === 'string' ? request : toText(request))));
}

module.exports = {
  CallwrightError,
  Gate,
  Settled,
  Summary,
  Ticket,
  ToolDefinition,
  ToolError,
  Toolbox,
  TransientError,
  Verdict,
  readAnswer,
  readHistory,
  replay,
  tool,
};
