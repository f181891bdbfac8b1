// Zod 4 and other Standard Schemas as the types of a tool.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Toolbox, tool } from '../../index.mjs';
import { load, release } from '../support/frameworks.mjs';

test(`Zod ${release}: schema, transformed arguments, and its own objections with their places`, async () => {
  const { z } = await load('zod');
  const input = z.object({
    query: z.string().transform((text) => text.toUpperCase()),
    page: z.object({ size: z.number().int().refine((size) => size % 2 === 0, 'must be even') }).optional(),
    limit: z.number().int().default(10),
  });
  const search = tool({ name: 'search', input, effect: 'read', run: ({ query, limit }) => `${query} ${limit}` });
  assert.deepEqual(search.inputSchema.required, ['query']);
  const toolbox = new Toolbox([search]);
  const hear = async (args) => (await toolbox.invoke({ tool: 'search', arguments: args })).text;
  assert.equal(await hear('{"query": "lamp", "limit": "5"}'), 'LAMP 5');
  assert.equal(await hear('{"query": "lamp"}'), 'LAMP 10');
  assert.match(await hear('{"query": "lamp", "page": {"size": 3}}'), /page\.size: must be even/);
  assert.match(await hear('{"limit": 5}'), /query: Required/);
});

test(`Zod ${release}: a number that JavaScript would round is refused in words that a model knows`, async () => {
  const { z } = await load('zod');
  const input = z.object({ id: z.number(), list: z.array(z.object({ n: z.number() })).optional() });
  const toolbox = new Toolbox([tool({ name: 'find', input, effect: 'read', run: ({ id }) => `${id}` })]);
  const hear = async (args) => (await toolbox.invoke({ tool: 'find', arguments: args })).text;
  assert.equal(await hear('{"id": 9007199254740991}'), '9007199254740991');
  assert.match(
    await hear('{"id": 9007199254740993}'),
    /id: expected a number from -9007199254740991 to 9007199254740991, received 9007199254740993/,
  );
  assert.match(await hear('{"id": 1, "list": [{"n": -9007199254740993}]}'), /list\.0\.n: expected .* received -9007199254740993/);
});

test('a Standard Schema without JSON Schema says what is missing', { skip: release !== 'newest' && 'the same for all' }, async () => {
  const { object, string } = await load('valibot');
  assert.throws(() => tool({ name: 'x', input: object({ a: string() }) }), /valibot schema has no JSON Schema/);
});
