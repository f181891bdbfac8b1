'use strict';
// What callwright throws, and what tools may throw.

/** Our own fault or the operator's: a bad tool file, an unknown option, a call that is not one. A refused call is a verdict. */
class CallwrightError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = 'CallwrightError';
  }
}

/** A tool that worked and says that it cannot do this. Its own words go to the model. */
class ToolError extends Error {
  constructor(code, detail, { hint, recommendations, next, cause } = {}) {
    super(detail, { cause });
    this.name = 'ToolError';
    this.code = code;
    this.hint = hint;
    this.recommendations = recommendations;
    this.next = next;
  }
}

/** A failure that passes by itself: the call counts nowhere, and is tried again where that does no harm. */
class TransientError extends Error {
  constructor(detail, { retryAfterMs, code, cause } = {}) {
    super(detail, { cause });
    this.name = 'TransientError';
    this.retryAfterMs = retryAfterMs;
    this.code = code;
  }
}

/** Calls into the addon; what it throws becomes a `CallwrightError` whose stack begins at the caller. */
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

module.exports = { CallwrightError, ToolError, TransientError, checked, rethrown };
