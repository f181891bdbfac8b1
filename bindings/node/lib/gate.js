'use strict';
// The gate: its tools and its methods.

const { readFileSync } = require('node:fs');

const native = require('./native.js');
const { CallwrightError, checked, milliseconds, rethrown } = require('./errors.js');
const { fromText, toText, wholeText } = require('./json.js');
const { policyText } = require('./policy.js');
const { Ticket } = require('./ticket.js');
const { Verdict } = require('./verdict.js');

/** Options passed to the core unchanged, under its names. */
const CORE_OPTIONS = {
  repair: 'repair',
  style: 'style',
  receipts: 'receipts',
  maxBytes: 'max_bytes',
  maxDepth: 'max_depth',
  effects: 'effects',
  admission: 'admission',
  sessions: 'sessions',
  ledger: 'ledger',
  keepOutput: 'keep_output',
};

const OWN_OPTIONS = ['policy', 'policyText', 'record', 'on', 'largeIntegers'];

const LARGE_INTEGERS = ['bigint', 'text', 'number'];

/** Gates with sinks, whose last events are delivered when the process ends. */
const gatesWithSinks = new Set();

class Gate {
  #largeIntegers;

  constructor(tools, options = {}) {
    const { largeIntegers = 'bigint', record, on = {}, ledger } = options;
    if (!LARGE_INTEGERS.includes(largeIntegers)) {
      throw new CallwrightError(`unknown largeIntegers ${largeIntegers}; known are ${LARGE_INTEGERS.join(', ')}`);
    }
    this.#largeIntegers = largeIntegers;
    const file = typeof record === 'string' ? { path: record } : record;
    const text = typeof tools === 'string' ? wholeText(tools, 'tools') : toText(tools);
    const listeners = Object.entries(on).map(([wants, listener]) => ({
      wants: snakeCase(wants),
      function: harmless(listener, wants, largeIntegers),
    }));
    /** The addon's own object; only for this package. */
    Object.defineProperty(this, 'native', {
      value: checked(() => new native.NativeGate(text, coreOptions(options), file, listeners, ledger?.native)),
    });
    if (file) handOverAtExit(this);
  }

  /** Judges a call by itself: a call line or a provider's call, as an object or as text; or a tool's name and its arguments. */
  judge(call, args) {
    if (arguments.length > 1) return this.#judgeParts(wholeText(call, 'the name of the tool'), args);
    const line = typeof call === 'string' ? wholeText(call, 'the call') : toText(call);
    const text = checked(() => this.native.judgeLine(line));
    return new Verdict(this, text, undefined, line);
  }

  #judgeParts(tool, args) {
    // A mistyped member is undefined too, so this must not count as a call without arguments.
    if (args === undefined) throw new TypeError('the arguments are undefined; pass null if the model sent none');
    const text =
      typeof args === 'string'
        ? this.native.judge(tool, wholeText(args, 'the arguments'))
        : checked(() => this.native.judgeValue(tool, toText(args)));
    // `null` means no arguments, as in a call line.
    return new Verdict(this, text, tool, args ?? {});
  }

  /** Extracts calls that the model wrote into a message as text, and judges them. */
  rescue(message) {
    if (typeof message !== 'string') return this.rescueLine(toText(message));
    return this.#rescued(this.native.rescue(wholeText(message, 'the message')));
  }

  #rescued(text) {
    const { calls, rest, no_call: noCall, why } = this.read(text);
    if (noCall) return { calls: [], rest: undefined, noCall, why };
    const verdicts = calls.map((line) => new Verdict(this, toText(line), undefined, undefined));
    return { calls: verdicts, rest, noCall: undefined, why: undefined };
  }

  /** The same for a log line that contains a message, in any format. */
  rescueLine(line) {
    return this.#rescued(checked(() => this.native.rescueLine(wholeText(line, 'the line'))));
  }

  /**
   * Judges a call and asks whether it may run now. A call without a session is not part of a conversation. `objections`
   * are the complaints of your own types about arguments that the schema accepts: such a call is refused with them.
   */
  open(call, place, objections) {
    const opened = checked(() => this.native.open(...asked(call, place, objections)));
    return new Ticket(this, opened, sentObject(call));
  }

  /** The same without blocking the event loop, for sessions on a server. */
  async openAsync(call, place, objections) {
    const question = asked(call, place, objections);
    try {
      return new Ticket(this, await this.native.openAsync(...question), sentObject(call));
    } catch (error) {
      throw rethrown(error);
    }
  }

  /** Whether sessions are on a server, so that calls are opened and closed with `openAsync` and `closeAsync`. */
  get waits() {
    return this.native.waits;
  }

  /** A user's answer to a question that a refusal asked: `{allowOnce: fingerprint}`, `{allowTool: name}` or `'stop'`. */
  async answer(session, reply) {
    const { allowOnce: allow_once, allowTool: allow_tool } = reply ?? {};
    if (reply !== 'stop' && [allow_once, allow_tool].filter((name) => typeof name === 'string').length !== 1) {
      throw new TypeError("a reply must be 'stop', { allowOnce: fingerprint } or { allowTool: name }");
    }
    const known = reply === 'stop' ? reply : { allow_once, allow_tool };
    const text = checked(() => toText(known));
    await checked(() => this.native.answer(wholeText(session, 'the session'), text));
  }

  /** The tools as the gate read them. */
  get tools() {
    return this.read(this.native.tools());
  }

  /** The tools as a provider's API accepts them. */
  declare(provider) {
    return this.read(checked(() => this.native.declare(provider)));
  }

  /** What the policy says about a tool. */
  settings(tool) {
    return this.read(checked(() => this.native.settings(tool)));
  }

  /** The thresholds for repeated calls. */
  get admission() {
    return this.read(this.native.admission());
  }

  /** Warnings: quarantined tools, names in the policy that match no tool. */
  get warnings() {
    return this.native.warnings();
  }

  /** Waits until all events so far are delivered; `false` if that took too long. */
  async flush(timeoutMs = 5000) {
    return this.native.flush(milliseconds('timeoutMs', timeoutMs));
  }

  /** How many events each sink got and lost. */
  get sinkStats() {
    return this.read(this.native.sinkStats());
  }

  /** Reads the addon's JSON; only for this package. */
  read(text) {
    return fromText(text, this.#largeIntegers);
  }
}

/** The options of the core, as JSON. */
function coreOptions(options) {
  const core = {};
  for (const [name, value] of Object.entries(options)) {
    if (OWN_OPTIONS.includes(name) || value === undefined) continue;
    if (!CORE_OPTIONS[name]) {
      const known = [...Object.keys(CORE_OPTIONS), ...OWN_OPTIONS].join(', ');
      throw new CallwrightError(`unknown option ${name}; known are ${known}`);
    }
    core[CORE_OPTIONS[name]] = value;
  }
  // Another gate, whose sessions continue: it is passed to the addon separately.
  if (options.ledger instanceof Gate) delete core.ledger;
  // Without results, a record could not be replayed.
  if (options.record) core.keep_output = true;
  const policy = policyOf(options);
  if (policy !== undefined) core.policy = policy;
  return toText(core);
}

/** The text of a policy: from a file, given as text, or from an object. */
function policyOf({ policy, policyText: text }) {
  if (policy !== undefined && text !== undefined) throw new CallwrightError('give policy or policyText, not both');
  if (text !== undefined) return text;
  if (typeof policy === 'object' && policy !== null) return policyText(policy);
  if (policy === undefined) return undefined;
  try {
    return readFileSync(policy, 'utf8');
  } catch (error) {
    throw new CallwrightError(`cannot read the policy file ${policy}: ${error.message}`, { cause: error });
  }
}

/** A call, its place and the objections to it, in the form that the addon takes. */
function asked(call, place = {}, objections = []) {
  const line = typeof call === 'string' ? wholeText(call, 'the call') : toText(call);
  const { session, turn, round, ...unknown } = place;
  const [stray] = Object.keys(unknown);
  if (stray) throw new CallwrightError(`unknown key ${stray} in a place; known are session, turn, round`);
  const objected = objections.length > 0 ? toText(objections.map(({ path, message }) => [path, message])) : undefined;
  if (session === undefined) return [line, undefined, objected];
  // As it would be next to a recorded call, which is how the core reads it.
  return [line, toText({ tool: 'any', session, turn, round }), objected];
}

/** The arguments of a call that came as an object, so that unchanged ones are returned as they are. */
function sentObject(call) {
  const candidates = typeof call === 'object' && call !== null ? [call.arguments, call.input, call.args] : [];
  return candidates.find((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** A listener that cannot end the process: errors that it throws or rejects with become warnings. */
function harmless(listener, name, largeIntegers) {
  if (typeof listener !== 'function') throw new TypeError(`on.${name} must be a function`);
  const warn = (error) => process.emitWarning(`the listener for ${name} failed: ${error?.stack ?? error}`, 'CallwrightWarning');
  return (line) => {
    try {
      Promise.resolve(listener(fromText(line, largeIntegers))).catch(warn);
    } catch (error) {
      warn(error);
    }
  };
}

function handOverAtExit(gate) {
  if (gatesWithSinks.size === 0) process.on('exit', () => gatesWithSinks.forEach((held) => held.deref()?.native.flushNow(2000)));
  gatesWithSinks.add(new WeakRef(gate));
}

function snakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

module.exports = { Gate, policyOf };
