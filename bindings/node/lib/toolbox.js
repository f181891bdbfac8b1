'use strict';
// Tools with their functions: judges a call, runs it, judges its result.
//
// The core decides how long a call may take and whether it is retried (`runPlan`, `retryWait`); only the clock and the
// promise are here.

const { setTimeout: sleep } = require('node:timers/promises');

const { CallwrightError, ToolError, TransientError } = require('./errors.js');
const { Gate } = require('./gate.js');
const { ToolDefinition } = require('./tool.js');

class Toolbox {
  #tools = new Map();
  #running = new Map();

  constructor(tools, options = {}) {
    for (const tool of tools) {
      if (!(tool instanceof ToolDefinition) || !tool.run) throw new TypeError('a toolbox takes tools made with tool() that have a `run` function');
      this.#tools.set(tool.name, tool);
    }
    // What a tool declares about itself is trusted here: it is this program's own tool.
    const declared = tools.filter((tool) => tool.effect).map((tool) => [tool.name, tool.effect]);
    const effects = { ...Object.fromEntries(declared), ...options.effects };
    this.gate = new Gate(tools, { ...options, effects });
  }

  /** Handles one call, from the model's output to the model's input. Never rejects because of the call or the tool. */
  async invoke(call, { signal, ...place } = {}) {
    if (signal && typeof signal.addEventListener !== 'function') throw new TypeError('signal must be an AbortSignal');
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

  /** Runs the calls of one answer concurrently, in the same round. */
  invokeAll(calls, options = {}) {
    return Promise.all(calls.map((call) => this.invoke(call, options)));
  }

  declare(provider) {
    return this.gate.declare(provider);
  }

  /**
   * The arguments as converted by the tool's own types. Their objections come before admission: such a call has not
   * run, so it counts as refused.
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

  /** The core's plan for a tool; the tool's own settings count where the policy is silent. */
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

  /** Limits the concurrent calls of one tool; the others wait in order. */
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

/** One attempt: within its timeout, and as long as its caller waits. */
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
  // Signals a tool that is still running that its result is no longer needed, and why.
  controller.abort(reason(outcome.failed?.kind, signal));
  return { ...outcome, started: true };
}

/** Why a tool's result is no longer needed. */
function reason(kind, signal) {
  if (kind === 'timed_out') return new DOMException('the tool took too long', 'TimeoutError');
  return (kind === 'cancelled' && signal?.reason) || new CallwrightError('the call is over');
}

/** How long to wait, in whole milliseconds within a day. A negative wait is none; anything but a number is unknown. */
function wholeMs(wait) {
  return Number.isFinite(wait) ? Math.ceil(Math.min(Math.max(wait, 0), 86_400_000)) : undefined;
}

/** Classifies what a tool threw for the core. Only deliberate messages go to the model. */
function failure(error) {
  if (error instanceof ToolError) {
    const { code, message: detail, hint, recommendations, next } = error;
    return { kind: 'reported', code, detail, hint, recommendations, next, ...told(error.cause) };
  }
  if (error instanceof TransientError) {
    return { kind: 'transient', detail: error.message, code: error.code, retry_after_ms: wholeMs(error.retryAfterMs), ...told(error.cause) };
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
