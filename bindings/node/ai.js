'use strict';
// The guard for the Vercel AI SDK: wraps tools so that calls are counted and results judged, and provides the callback
// that repairs calls.
//
// The SDK asks `repairToolCall` only about calls that it cannot use. So the callback repairs and explains, and the
// wrapped tools see every call: budgets, loops and results. The schema is the tool's own, never one made for a
// provider's strict mode.

const { randomUUID } = require('node:crypto');

const { Gate } = require('./lib/gate.js');
const { UnwritableError, toText } = require('./lib/json.js');
const { Refusal } = require('./lib/refusal.js');
const { jsonSchema } = require('./lib/tool.js');

/** Guards the tools of one conversation, or of those that `session` distinguishes. */
function guard(tools, { session = randomUUID(), ...options } = {}) {
  const declared = Object.entries(tools).map(([name, tool]) => declaration(name, tool));
  const calls = new Gate(declared, options);
  // Arguments reach a tool as transformed by its own schema, so they are counted, but not judged again.
  const runs = new Gate(declared.map(({ inputSchema, ...tool }) => tool), options);
  const place = (context) => ({ session: typeof session === 'function' ? session(context) : session, ...moment(context.messages) });
  const wrapped = Object.entries(tools).map(([name, tool]) => [name, guarded(runs, name, tool, place)]);
  return { tools: Object.fromEntries(wrapped), repairToolCall: repairToolCall(calls, place), gate: calls };
}

function declaration(name, tool) {
  const schema = tool.inputSchema ?? tool.parameters;
  const inputSchema = schema && schemaOf(schema, name);
  return { name, description: tool.description, inputSchema };
}

/** The SDK's own `jsonSchema()` contains one; anything else is a Standard Schema. (A lazy one is created on access.) */
function schemaOf(schema, name) {
  const known = typeof schema === 'function' ? schema() : schema;
  // A schema that is a promise would delay the start; such a tool is only judged by the SDK.
  if (typeof known.jsonSchema?.then === 'function') return undefined;
  return known.jsonSchema ?? jsonSchema(known, 'input', name);
}

/** The turn is the user message being answered; the round is the answer, which parallel calls share. */
function moment(messages = []) {
  const of = (role) => messages.filter((message) => message.role === role).length;
  return { turn: of('user'), round: of('assistant') };
}

function repairToolCall(gate, place) {
  return async ({ toolCall, messages }) => {
    const { toolName, toolCallId, input } = toolCall;
    const sent = typeof input === 'string' ? input : toText(input);
    const verdict = gate.judge(toolName, sent);
    if (!verdict.ok) {
      // Counted, so that a repeated mistake is noticed.
      const ticket = await open(gate, { tool: toolName, id: toolCallId, arguments: sent }, known(place, { toolCallId, messages }));
      throw new Refusal(ticket.settled.text);
    }
    // It is valid by its schema, so the SDK's objection comes from the schema's own check, whose message it has.
    if (verdict.verdict !== 'repaired') return null;
    return { ...toolCall, toolName: verdict.tool, input: toText(verdict.arguments) };
  };
}

/** Where a call is in its conversation. The callback knows less than a tool, so `session` may not be able to tell. */
function known(place, context) {
  try {
    const at = place(context);
    return typeof at.session === 'string' ? at : {};
  } catch {
    return {};
  }
}

/** The tool with every call counted and every result judged. */
function guarded(gate, name, tool, place) {
  if (typeof tool.execute !== 'function') return tool;
  const execute = async function (input, context) {
    const ticket = await open(gate, { tool: name, id: context.toolCallId, arguments: input }, place(context));
    if (!ticket) return tool.execute(input, context);
    if (!ticket.ok) throw new Refusal(ticket.settled.text);
    let output;
    try {
      output = await tool.execute(input, context);
    } catch (error) {
      await end(gate, ticket, 'fail', { kind: 'internal', for_operator: String(error) });
      throw error;
    }
    // A tool that streams its answer is not judged: its pieces are shown as they arrive.
    if (output?.[Symbol.asyncIterator]) return output;
    const settled = await end(gate, ticket, 'close', output);
    if (settled.isError) throw new Refusal(settled.text);
    const { content, note } = settled.presented;
    return content === 'kept' && note === null ? output : settled.text;
  };
  return { ...tool, execute };
}

/**
 * A ticket; none for arguments that cannot be counted, because JSON cannot represent what a schema turned them into.
 */
async function open(gate, call, place) {
  try {
    return gate.waits ? await gate.openAsync(call, place) : gate.open(call, place);
  } catch (error) {
    if (error instanceof UnwritableError) return undefined;
    throw error;
  }
}

function end(gate, ticket, how, outcome) {
  return gate.waits ? ticket[`${how}Async`](outcome) : ticket[how](outcome);
}

module.exports = { guard };
