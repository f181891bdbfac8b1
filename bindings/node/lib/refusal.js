'use strict';
// Feedback that a framework treats as an error: it shows `String(error)` or its message, and both are exactly this
// text.

class Refusal extends Error {
  constructor(words) {
    super(words);
    this.name = 'CallwrightRefusal';
    // A stack would lead into the guard, not to the mistake.
    this.stack = words;
  }

  toString() {
    return this.message;
  }
}

module.exports = { Refusal };
