'use strict';
// A tool: its name, the schema of its arguments, and the function that runs it.

const { CallwrightError } = require('./errors.js');
const { peer } = require('./peer.js');

const EFFECTS = { read: { readOnlyHint: true }, write: { destructiveHint: false }, destructive: { destructiveHint: true } };

/** The ranges of these settings, as in a policy file. */
const BOUNDS = { timeoutMs: [1, 86_400_000], retries: [0, 10] };

/** A tool with its function. It serialises to an MCP declaration, so a gate accepts it like any other tool. */
class ToolDefinition {
  constructor({ name, description, input = { type: 'object' }, output, effect, idempotent, timeoutMs, retries, check, run }) {
    if (typeof name !== 'string' || name === '') throw new TypeError('a tool needs a name');
    if (run !== undefined && typeof run !== 'function') throw new TypeError(`${name}: run must be a function`);
    if (effect !== undefined && effect !== 'unknown' && !EFFECTS[effect]) {
      throw new TypeError(`${name}: unknown effect ${effect}; known are unknown, ${Object.keys(EFFECTS).join(', ')}`);
    }
    for (const [option, value] of Object.entries({ timeoutMs, retries })) {
      const [least, most] = BOUNDS[option];
      if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most)) {
        throw new TypeError(`${name}: ${option} must be an integer from ${least} to ${most}, not ${String(value)}`);
      }
    }
    Object.assign(this, { name, description, effect, idempotent, timeoutMs, retries, check, run });
    this.input = input;
    this.output = output;
    this.inputSchema = jsonSchema(input, 'input', name);
    this.outputSchema = output && jsonSchema(output, 'output', name);
  }

  /** What the caller's own types turn accepted arguments into, or their objections. */
  async typed(args) {
    const validate = this.input?.['~standard']?.validate;
    if (!validate) return { value: args };
    const result = await validate(args);
    if (!result.issues) return { value: result.value };
    return { objections: result.issues.map((issue) => objection(issue, args)) };
  }

  toJSON() {
    const { name, description, inputSchema, outputSchema, effect, idempotent } = this;
    const annotations = { ...EFFECTS[effect], ...(idempotent && { idempotentHint: true }) };
    return { name, description, inputSchema, outputSchema, annotations };
  }
}

/**
 * An issue of a Standard Schema, with its place as a JSON Pointer. The model wrote a number, so it is not told of a
 * bigint, which is what a type such as `z.number()` finds in place of one that would have to be rounded.
 */
function objection({ path = [], message }, args) {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
  const sent = keys.reduce((value, key) => value?.[key], args);
  if (typeof sent === 'bigint' && /bigint/i.test(message)) {
    const most = Number.MAX_SAFE_INTEGER;
    message = `expected a number from -${most} to ${most}, received ${sent}`;
  }
  return { path: keys.map((key) => `/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`).join(''), message };
}

/** Declares a tool. The arguments of `run` have the type of `input`. */
function tool(definition) {
  return new ToolDefinition(definition);
}

/** The JSON Schema of a Zod schema, of any Standard Schema that has one, or a JSON Schema as it is. */
function jsonSchema(schema, io, name) {
  const standard = schema?.['~standard'];
  if (!standard) {
    if (typeof schema !== 'object' || schema === null) throw new TypeError(`${name}: ${io} must be a schema`);
    return schema;
  }
  const converted = ownSchema(schema, standard, io) ?? zodSchema(schema, standard, io);
  if (converted) return converted;
  throw new CallwrightError(
    `${name}: this ${standard.vendor} schema has no JSON Schema; give one as \`input\`, or use a version that has \`~standard.jsonSchema\``,
  );
}

/** Standard Schema's own method, and the one on Zod schemas. */
function ownSchema(schema, standard, io) {
  if (standard.jsonSchema?.[io]) return standard.jsonSchema[io]({ target: 'draft-2020-12' });
  if (standard.vendor === 'zod' && typeof schema.toJSONSchema === 'function') return schema.toJSONSchema({ io });
  return undefined;
}

/** Zod before it had the method: the package's function, which must exist, since the schema was made with it. */
function zodSchema(schema, standard, io) {
  if (standard.vendor !== 'zod' || !schema._zod) return undefined;
  return peer('zod').toJSONSchema(schema, { io });
}

module.exports = { ToolDefinition, jsonSchema, tool };
