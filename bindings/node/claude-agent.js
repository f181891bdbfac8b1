'use strict';
// The guard for the Claude Agent SDK: hooks that judge every tool call before it runs, and its result after.
//
// Only declared tools are judged by a schema. The SDK's own tools are counted, so loops are stopped; any other tool
// passes. A hook never allows what the user's permissions would ask about: it corrects the input, or denies.

const { Gate } = require('./lib/gate.js');

/** The SDK's own tools and their effects, as far as the names show. Their schemas are the SDK's business. */
const BUILT_IN = {
  Bash: 'unknown',
  BashOutput: 'read',
  Edit: 'unknown',
  Glob: 'read',
  Grep: 'read',
  KillShell: 'unknown',
  ListMcpResources: 'read',
  NotebookEdit: 'unknown',
  Read: 'read',
  ReadMcpResource: 'read',
  WebFetch: 'read',
  WebSearch: 'read',
  Write: 'unknown',
};

/** Hooks for `query({ options: { hooks: hooks() } })`. `tools` are those of your MCP servers, under the names that Claude sees. */
function hooks({ tools = [], effects = {}, ...options } = {}) {
  const declared = new Gate(tools).tools.map((tool) => tool.name);
  const builtIn = Object.keys(BUILT_IN).filter((name) => !declared.includes(name));
  const known = new Set([...declared, ...builtIn]);
  const list = typeof tools === 'string' ? JSON.parse(tools) : tools;
  const gate = new Gate([...(Array.isArray(list) ? list : (list.tools ?? [list])), ...builtIn.map((name) => ({ name }))], {
    ...options,
    effects: { ...Object.fromEntries(builtIn.map((name) => [name, BUILT_IN[name]])), ...effects },
  });
  const tickets = new Map();

  /** The conversation; a subagent has its own, since its calls are not those of the main one. */
  const place = ({ session_id: session, agent_id: agent, prompt_id: turn }) => ({
    session: agent ? `${session}/${agent}` : session,
    turn,
  });

  async function before(input, id) {
    if (!known.has(input.tool_name)) return {};
    const call = { tool: input.tool_name, id: input.tool_use_id ?? id, arguments: input.tool_input ?? {} };
    const ticket = gate.waits ? await gate.openAsync(call, place(input)) : gate.open(call, place(input));
    if (!ticket.ok) {
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: ticket.settled.text } };
    }
    tickets.set(call.id, ticket);
    if (ticket.arguments === call.arguments) return {};
    return { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: ticket.arguments } };
  }

  function end(id, how, outcome, about) {
    const ticket = tickets.get(id);
    tickets.delete(id);
    if (!ticket) return undefined;
    return gate.waits ? ticket[`${how}Async`](outcome, about) : ticket[how](outcome, about);
  }

  async function after(input, id) {
    const settled = await end(input.tool_use_id ?? id, 'close', input.tool_response ?? null, { latencyMs: input.duration_ms });
    if (!settled) return {};
    const { content, note } = settled.presented;
    // The output of the SDK's own tools has its own format, so notes are put next to it, unless it must not be read.
    if (content === 'kept') return note === null ? {} : { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: note } };
    return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: settled.text } };
  }

  async function failed(input, id) {
    const settled = await end(input.tool_use_id ?? id, 'close', input.error ?? '', { isError: true, latencyMs: input.duration_ms });
    const note = settled?.toJSON().notice?.detail;
    return note ? { hookSpecificOutput: { hookEventName: 'PostToolUseFailure', additionalContext: note } } : {};
  }

  return {
    PreToolUse: [{ hooks: [before] }],
    PostToolUse: [{ hooks: [after] }],
    PostToolUseFailure: [{ hooks: [failed] }],
  };
}

module.exports = { hooks };
