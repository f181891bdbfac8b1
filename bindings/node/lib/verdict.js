'use strict';
// The gate's verdict on a call, as an object. Parsed lazily.

const { checked } = require('./errors.js');
const { fromText, toText } = require('./json.js');

/** The verdict on one call. `toJSON()` is the verdict line of the contract. */
class Verdict {
  #gate;
  #text;
  #tool;
  #sent;
  #line;
  #arguments;

  /**
   * `text` is the verdict line; `null` for a valid call, which is fully described by the tool and the arguments as
   * sent.
   */
  constructor(gate, text, tool, sent) {
    this.#gate = gate;
    this.#text = text;
    this.#tool = tool;
    this.#sent = sent;
  }

  /** `valid`, `repaired`, `refused` or `unjudged`. */
  get verdict() {
    return this.#text === null ? 'valid' : this.#read().verdict;
  }

  /** Whether the call may run. */
  get ok() {
    return this.#text === null || this.#read().verdict !== 'refused';
  }

  /** The tool; for a repaired call, the one that was meant. */
  get tool() {
    return this.#text === null ? this.#tool : this.#read().tool;
  }

  get id() {
    return this.#text === null ? undefined : this.#read().id;
  }

  /** The arguments to run the tool with; for a refused call, what the model sent, if it could be read. */
  get arguments() {
    if (this.#text === null) return (this.#arguments ??= typeof this.#sent === 'string' ? this.#gate.read(written(this.#sent)) : this.#sent);
    const { verdict, arguments: read } = this.#read();
    return verdict === 'valid' && typeof this.#sent === 'object' ? this.#sent : read;
  }

  get edits() {
    return this.#read().edits;
  }

  get failure() {
    return this.#text === null ? undefined : this.#read().failure;
  }

  /** The text for the model, if the call was refused. */
  get feedback() {
    return this.#text === null ? undefined : this.#read().feedback;
  }

  get warning() {
    return this.#text === null ? undefined : this.#read().warning;
  }

  /** How the model wrote a call that was extracted from a message. */
  get rescued() {
    return this.#read().rescued;
  }

  /** The verdict in a provider's format: a call that may run as a call, a refused one as its tool result. */
  render(provider) {
    const line = this.#callLine();
    return this.#gate.read(checked(() => this.#gate.native.render(line, provider)));
  }

  /** The verdict line of the contract, as text. */
  get line() {
    if (this.#text === null) {
      const sent = typeof this.#sent === 'string' ? written(this.#sent) : toText(this.#sent);
      return `{"tool":${JSON.stringify(this.#tool)},"verdict":"valid","arguments":${sent},"edits":[]}`;
    }
    return this.#text;
  }

  toJSON() {
    return { ...this.#read() };
  }

  #read() {
    this.#line ??= this.#gate.read(this.line);
    return this.#line;
  }

  #callLine() {
    if (typeof this.#tool !== 'string') return this.#sent;
    return `{"tool":${JSON.stringify(this.#tool)},"arguments":${toText(this.#sent)}}`;
  }
}

/** Arguments that were sent as text and are valid: an object, or nothing at all, which means `{}`. */
function written(text) {
  if (text.startsWith('{') && text.endsWith('}')) return text;
  const trimmed = text.trim();
  return trimmed === '' || trimmed === 'null' ? '{}' : trimmed;
}

/** A finished call: refused, or with its outcome judged. Contains what the model gets. */
class Settled {
  #gate;
  #native;

  constructor(gate, native) {
    this.#gate = gate;
    this.#native = native;
  }

  /** What the model gets, as one text. */
  get text() {
    return this.#native.text();
  }

  /** Whether the model gets it as an error. */
  get isError() {
    return this.#native.isError;
  }

  /** The same in its parts: `content` (`kept`, `cut`, `withheld`), `shown`, `note`. */
  get presented() {
    return this.#gate.read(this.#native.presented());
  }

  /** For a call that was refused because of its history: its identity, for the user's answer. */
  get question() {
    return this.#native.question ?? undefined;
  }

  /** The tool result in a provider's format. */
  message(provider) {
    return this.#gate.read(checked(() => this.#native.render(provider)));
  }

  get line() {
    return this.#native.line();
  }

  toJSON() {
    return this.#gate.read(this.line);
  }
}

module.exports = { Settled, Verdict };
