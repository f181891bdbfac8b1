'use strict';
// The guard for LangChain.js: a middleware that judges every call before its tool runs, and every result after.
//
// Text that is not JSON never reaches a tool in LangChain: it is an invalid call, and the agent ends. So the model's
// answer is examined first, and such calls are repaired there, or added to the others with their text, which is then
// refused with feedback.

const { randomUUID } = require('node:crypto');

const { Gate } = require('./lib/gate.js');
const { peer } = require('./lib/peer.js');
const { jsonSchema } = require('./lib/tool.js');

/** The only argument of a call whose text could not be read: no tool accepts it, with or without the guard. */
const UNREADABLE = '__callwright_unreadable_arguments';

/** A middleware for `createAgent({ middleware: [guard()] })`. The tools are taken from the agent. */
function guard({ session, ...options } = {}) {
  const gates = new Gates(options);
  const whole = randomUUID();
  /** A LangGraph thread is a conversation; without one, each guard is. */
  const place = ({ state, runtime }) => ({
    session: session ?? runtime?.configurable?.thread_id ?? whole,
    ...moment(state?.messages),
  });

  return {
    name: 'callwright',

    async wrapModelCall(request, handler) {
      gates.know(request.tools);
      return readable(await handler(request));
    },

    async wrapToolCall(request, handler) {
      const { toolCall, tool } = request;
      if (tool) gates.know([tool]);
      const gate = gates.current();
      const unreadable = toolCall.args?.[UNREADABLE];
      const call = { tool: toolCall.name, id: toolCall.id, arguments: unreadable ?? toolCall.args ?? {} };
      const ticket = gate.waits ? await gate.openAsync(call, place(request)) : gate.open(call, place(request));
      if (!ticket.ok) return message(toolCall, ticket.settled.text, 'error');
      const meant = gates.tool(ticket.tool);
      const end = (how, outcome, about) => (gate.waits ? ticket[`${how}Async`](outcome, about) : ticket[how](outcome, about));
      let answer;
      try {
        const args = { ...toolCall, name: ticket.tool, args: ticket.arguments };
        answer = await handler({ ...request, tool: meant ?? tool, toolCall: args });
      } catch (error) {
        const settled = await end('fail', { kind: 'internal', for_operator: String(error) });
        // An interrupt is not a failure: it waits for a person.
        if (error?.is_bubble_up || error?.name === 'GraphInterrupt') throw error;
        return message(toolCall, settled.text, 'error');
      }
      const content = answer?.content;
      // A LangGraph command changes the state; it is not a result that a model reads.
      if (content === undefined) {
        await end('close', '');
        return answer;
      }
      const settled = await end('close', content, { isError: answer.status === 'error' });
      const { content: shown, note } = settled.presented;
      if (!settled.isError && shown === 'kept' && note === null) return answer;
      return message(toolCall, settled.text, settled.isError ? 'error' : 'success');
    },
  };
}

/** The gate of an agent. A new tool leads to a new gate, in which conversations continue. */
class Gates {
  #options;
  #tools = new Map();
  #gate;
  #isCurrent = false;

  constructor(options) {
    this.#options = options;
  }

  know(tools = []) {
    for (const tool of tools) {
      // Tools that the provider runs itself have no function here.
      if (typeof tool?.name !== 'string' || typeof tool.invoke !== 'function' || this.#tools.get(tool.name) === tool) continue;
      this.#tools.set(tool.name, tool);
      this.#isCurrent = false;
    }
  }

  tool(name) {
    return this.#tools.get(name);
  }

  current() {
    if (this.#isCurrent) return this.#gate;
    this.#gate = new Gate(
      [...this.#tools.values()].map(({ name, description, schema }) => ({
        name,
        description,
        inputSchema: schema && jsonSchema(schema, 'input', name),
      })),
      this.#gate ? { ...this.#options, ledger: this.#gate } : this.#options,
    );
    this.#isCurrent = true;
    return this.#gate;
  }
}

/** The turn is the user message being answered; the round is the answer, which parallel calls share. */
function moment(messages = []) {
  const of = (type) => messages.filter((message) => message.getType?.() === type).length;
  return { turn: of('human'), round: of('ai') };
}

/** A model answer with its unreadable calls among the others. */
function readable(answer) {
  const invalid = answer?.invalid_tool_calls ?? [];
  if (invalid.length === 0) return answer;
  for (const { id, name, args } of invalid) {
    answer.tool_calls.push({ type: 'tool_call', id, name: name ?? '', args: { [UNREADABLE]: args ?? '' } });
  }
  answer.invalid_tool_calls = [];
  return answer;
}

function message({ id, name }, content, status) {
  const { ToolMessage } = peer('@langchain/core/messages');
  return new ToolMessage({ content, tool_call_id: id ?? '', name, status });
}

module.exports = { guard };
