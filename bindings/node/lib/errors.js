'use strict';
// Errors that callwright throws, and errors that tools may throw.

/**
 * A mistake in the program: a bad tool file, an unknown option, something that is not a call. A refused call is a
 * verdict, not an error.
 */
class CallwrightError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'CallwrightError';
  }
}

const NEXT = ['fix_arguments', 'retry_same', 'retry_later', 'change_approach', 'continue', 'ask_user', 'stop'];

/** A tool works but cannot do what was asked. Its own words go to the model. */
class ToolError extends Error {
  constructor(code, detail, { hint, recommendations, next, cause } = {}) {
    super(detail, { cause });
    if (next !== undefined && !NEXT.includes(next)) throw new TypeError(`unknown next step ${next}; known are ${NEXT.join(', ')}`);
    this.name = 'ToolError';
    this.code = code;
    this.hint = hint;
    this.recommendations = recommendations;
    this.next = next;
  }
}

/** A temporary failure: the call is not counted, and is retried if that does no harm. */
class TransientError extends Error {
  constructor(detail, { retryAfterMs, code, cause } = {}) {
    super(detail, { cause });
    this.name = 'TransientError';
    this.retryAfterMs = retryAfterMs;
    this.code = code;
  }
}

/** A duration, checked. */
function milliseconds(name, value) {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new TypeError(`${name} must be a number of milliseconds, not ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`);
}

/** Calls into the addon; its errors become a `CallwrightError` whose stack begins at the caller. */
function checked(work) {
  try {
    return work();
  } catch (error) {
    throw rethrown(error);
  }
}

function rethrown(error) {
  if (error instanceof TypeError || error instanceof CallwrightError) return error;
  return new CallwrightError(error.message, { cause: error });
}

module.exports = { CallwrightError, ToolError, TransientError, checked, milliseconds, rethrown };
