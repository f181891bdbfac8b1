// Examples to begin with: what models really get wrong.

const search = {
  name: 'search_orders',
  description: 'Searches orders.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      status: { enum: ['open', 'paid', 'shipped'] },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['query'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true },
};

const refund = {
  type: 'function',
  function: {
    name: 'refund_order',
    description: 'Pays an order back.',
    parameters: {
      type: 'object',
      properties: { order_id: { type: 'string', pattern: '^A-\\d+$' }, amount: { type: 'number', exclusiveMinimum: 0 } },
      required: ['order_id', 'amount'],
    },
  },
};

const tools = [search, refund];

/** The arguments of a call as a model writes them: text. */
const call = (tool, args) => JSON.stringify({ tool, arguments: args }, null, 2);

export const examples = [
  { name: 'Numbers and lists as text', tools, call: call('search_orders', '{"query": "lamp", "limit": "5", "tags": "[\\"red\\"]"}') },
  { name: 'JSON as in Python', tools, call: call('search_orders', "{'query': 'lamp', 'limit': 5,}") },
  { name: 'Two mistakes, two reasons', tools, call: call('search_orders', '{"limit": "ten", "state": "open"}') },
  { name: 'Cut off in the middle', tools, call: call('search_orders', '{"query": "lamp", "tags": ["red", "gr') },
  { name: 'A near miss of a value', tools, call: call('search_orders', '{"query": "lamp", "status": "Shipped"}') },
  { name: 'A tool that pays is not guessed at', tools, call: call('refund_order', '{"order": "A-17", "amount": "12,50"}') },
  { name: 'Almost the right name', tools, call: call('SearchOrders', '{"query": "lamp"}') },
  { name: 'A call inside a message', tools, call: 'Let me look that up.\n<tool_call>\n{"name": "search_orders", "arguments": {"query": "lamp", "limit": "3"}}\n</tool_call>' },
  { name: "A provider's call", tools, call: JSON.stringify({ id: 'call_1', type: 'function', function: { name: 'search_orders', arguments: '{"query": "lamp"}' } }, null, 2) },
];
