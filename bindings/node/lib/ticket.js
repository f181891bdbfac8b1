'use strict';
// A call between `open` and `close`: permission to run it once, or the refusal.

const { checked, milliseconds, rethrown } = require('./errors.js');
const { UnwritableError, toText } = require('./json.js');
const { Settled } = require('./verdict.js');

class Ticket {
  #gate;
  #native;
  #read;
  #settled;
  #sent;
  #opened = performance.now();

  constructor(gate, native, sent) {
    this.#gate = gate;
    this.#native = native;
    this.#sent = sent;
    this.ok = native.isOpen;
    this.#read = gate.read(native.line());
    if (!this.ok) this.#settled = new Settled(gate, native.closeUnknown());
  }

  /** The tool to run; its name may differ from what the model wrote. */
  get tool() {
    return this.#read.tool;
  }

  /** The arguments to run it with: the same object that was passed in, if nothing was changed. */
  get arguments() {
    const isAsSent = this.ok && !this.#read.edited;
    return isAsSent && this.#sent ? this.#sent : this.#read.arguments;
  }

  /** The call's identity: equal for the same tool and arguments. */
  get fingerprint() {
    return this.#read.fingerprint ?? this.#settled?.question;
  }

  /** What the model gets, once the call has ended. */
  get settled() {
    return this.#settled;
  }

  /** Ends the call with the tool's answer. A refused call stays refused. */
  close(output, about = {}) {
    return this.#end({ ...written(output), ...outcome(about) });
  }

  /** Ends the call with how the tool failed. */
  fail(failed, about = {}) {
    return this.#end({ failed: JSON.stringify(failed), ...outcome(about) });
  }

  closeAsync(output, about = {}) {
    return this.#endAsync({ ...written(output), ...outcome(about) });
  }

  failAsync(failed, about = {}) {
    return this.#endAsync({ failed: JSON.stringify(failed), ...outcome(about) });
  }

  /** Ends the call without an outcome: it continues elsewhere. Abandoning a ticket has the same effect, later. */
  abandon() {
    this.#settled ??= new Settled(this.#gate, checked(() => this.#native.closeUnknown()));
    return this.#settled;
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    if (!this.#settled) this.abandon();
  }

  #end(members) {
    if (!this.ok) return this.#settled;
    const native = checked(() => this.#native.close(this.#outcomeText(members)));
    return (this.#settled = new Settled(this.#gate, native));
  }

  async #endAsync(members) {
    if (!this.ok) return this.#settled;
    try {
      const native = await this.#native.closeAsync(this.#outcomeText(members));
      return (this.#settled = new Settled(this.#gate, native));
    } catch (error) {
      throw rethrown(error);
    }
  }

  /** The outcome as JSON. Its members are already JSON. */
  #outcomeText(members) {
    members.latency_us ??= Math.round((performance.now() - this.#opened) * 1000);
    members.attempts ??= 1;
    return `{${Object.entries(members).map(([key, text]) => `"${key}":${text}`).join(',')}}`;
  }
}

/** A tool's answer. A value that JSON cannot represent is the tool's fault, and the gate says so. */
function written(output) {
  try {
    return { output: toText(output instanceof Uint8Array ? decoded(output) : (output ?? null)) };
  } catch (error) {
    if (!(error instanceof UnwritableError)) throw error;
    return { unwritable: JSON.stringify({ path: error.path, why: error.why }) };
  }
}

/** Bytes that should be text. */
function decoded(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnwritableError([], 'bytes that are not UTF-8');
  }
}

function outcome({ isError, finding, attempts, latencyMs }) {
  const members = {};
  if (isError) members.is_error = 'true';
  if (finding) members.finding = JSON.stringify(finding);
  if (attempts !== undefined) members.attempts = JSON.stringify(attempts);
  if (latencyMs !== undefined) members.latency_us = String(Math.round(milliseconds('latencyMs', latencyMs) * 1000));
  return members;
}

module.exports = { Ticket };
