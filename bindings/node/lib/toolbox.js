'use strict';
// Tools with their functions: judges a call, runs it, judges its result.
//
// How long a call may take, and whether it is tried again, is the core's word (`runPlan`, `retryWait`); here are only
// the clock and the promise.

const { setTimeout: sleep } = require('node:timers/promises');

const { CallwrightError, ToolError, TransientError } = require('./errors.js');
const { Gate } = require('./gate.js');
const { ToolDefinition } = require('./tool.js');

class Toolbox {
  #tools = new Map();
  #running = new Map();

  constructor(tools, options = {}) {
    for (const tool of tools) {
      if (!(tool instanceof ToolDefinition) || !tool.run) throw new TypeError('a toolbox takes tools of tool(), with a function `run`');
      this.#tools.set(tool.name, tool);
    }
    // What a tool says of itself is the operator's word here: it is this program's own tool.
    const declared = tools.filter((tool) => tool.effect).map((tool) => [tool.name, tool.effect]);
    const effects = { ...Object.fromEntries(declared), ...options.effects };
    this.gate = new Gate(tools, { ...options, effects });
  }

  /** One call, from the model's words to what the model hears. It never rejects because of the call or the tool. */
  async invoke(call, { signal, ...place } = {}) {
    const { value, failed: broken, objections } = await this.#typed(call);
    const ticket = this.gate.waits
      ? await this.gate.openAsync(call, place, objections)
      : this.gate.open(call, place, objections);
    if (!ticket.ok) return ticket.settled;
    const tool = this.#tools.get(ticket.tool);
    const began = performance.now();
    const run = { tool, ticket, signal, attempts: 0, plan: this.#plan(tool), context: { id: call?.id, ...place } };
    const { failed, output, finding } = broken ? { failed: broken } : await this.#run(run, value ?? ticket.arguments);
    const about = { finding, attempts: run.attempts, latencyMs: performance.now() - began };
    const end = failed ? (this.gate.waits ? 'failAsync' : 'fail') : this.gate.waits ? 'closeAsync' : 'close';
    return ticket[end](failed ?? output, about);
  }

  /** The calls of one answer side by side, in the same round. */
  invokeAll(calls, options = {}) {
    return Promise.all(calls.map((call) => this.invoke(call, options)));
  }

  declare(provider) {
    return this.gate.declare(provider);
  }

  /**
   * The arguments as the tool's own types make them. What these object to comes before admission: such a call has not run, so it
   * counts as a refused one.
   */
  async #typed(call) {
    const verdict = this.gate.judge(call);
    const tool = verdict.ok && this.#tools.get(verdict.tool);
    if (!tool?.input?.['~standard']) return {};
    try {
      return await tool.typed(verdict.arguments);
    } catch (error) {
      return { failed: failure(error) };
    }
  }

  /** The core's plan for a tool, with what the tool itself says where the policy says nothing. */
  #plan(tool) {
    const { timeoutMs = null, retries = null } = tool;
    return this.gate.read(this.gate.native.runPlan(tool.name, timeoutMs, retries));
  }

  /** Runs a call until it has an outcome. */
  async #run(run, args) {
    for (;;) {
      const outcome = await this.#permitted(run, () => once(run, args));
      run.attempts += outcome.started ? 1 : 0;
      if (!outcome.failed) return outcome;
      const wait = this.gate.native.retryWait(
        run.tool.name,
        JSON.stringify(outcome.failed),
        run.attempts,
        run.plan.retries,
        Math.random(),
      );
      if (wait === null || run.signal?.aborted) return outcome;
      await sleep(wait, undefined, { signal: run.signal }).catch(() => undefined);
      if (run.signal?.aborted) return { failed: { kind: 'cancelled' } };
    }
  }

  /** At most so many calls of one tool at once; the others wait in order. */
  async #permitted({ tool, plan }, work) {
    if (!plan.concurrency) return work();
    const queue = this.#running.get(tool.name) ?? { free: plan.concurrency, waiting: [] };
    this.#running.set(tool.name, queue);
    if (queue.free > 0) queue.free -= 1;
    else await new Promise((turn) => queue.waiting.push(turn));
    try {
      return await work();
    } finally {
      const next = queue.waiting.shift();
      if (next) next();
      else queue.free += 1;
    }
  }
}

/** One try: within its time, and as long as its caller waits. */
async function once({ tool, ticket, signal, attempts, plan, context }, args) {
  if (signal?.aborted) return { failed: { kind: attempts ? 'cancelled' : 'not_started' }, started: false };
  const controller = new AbortController();
  let timer;
  const ended = new Promise((end) => {
    timer = setTimeout(() => end({ failed: { kind: 'timed_out', after_ms: plan.timeout_ms } }), plan.timeout_ms);
    signal?.addEventListener('abort', () => end({ failed: { kind: 'cancelled' } }), { once: true, signal: controller.signal });
  });
  const running = (async () => {
    try {
      const { tool: name, fingerprint } = ticket;
      const output = await tool.run(args, { ...context, tool: name, fingerprint, attempt: attempts, signal: controller.signal });
      return { output, finding: tool.check?.(output, args) ?? undefined };
    } catch (error) {
      return { failed: failure(error) };
    }
  })();
  const outcome = await Promise.race([running, ended]);
  clearTimeout(timer);
  // Tells a tool that is still running that its result is not waited for.
  controller.abort(new CallwrightError('the call is over'));
  return { ...outcome, started: true };
}

/** What a tool threw, in the classes of the core. Only what it says on purpose goes to the model. */
function failure(error) {
  if (error instanceof ToolError) {
    const { code, message: detail, hint, recommendations, next } = error;
    return { kind: 'reported', code, detail, hint, recommendations, next, ...told(error.cause) };
  }
  if (error instanceof TransientError) {
    return { kind: 'transient', detail: error.message, code: error.code, retry_after_ms: error.retryAfterMs, ...told(error.cause) };
  }
  return { kind: 'internal', ...told(error) };
}

/** An error with its causes, for the operator. */
function told(error) {
  const parts = [];
  for (let cause = error; cause !== undefined && parts.length < 10; cause = cause?.cause) {
    parts.push(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause));
  }
  return parts.length > 0 ? { for_operator: parts.join(': ') } : {};
}

module.exports = { Toolbox };
