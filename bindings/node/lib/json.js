'use strict';
// Converts between JavaScript values and JSON text without losing anything.
//
// `JSON.stringify` turns NaN into `null` and throws on a BigInt; `JSON.parse` rounds integers beyond 2^53, and a
// rounded id is another id. Here, anything that JSON cannot represent is an error that names the place, and integers
// keep their digits.

/** Deeper than any value that JSON readers accept; anything deeper is most likely a cycle. */
const MOST_LEVELS = 500;

/** A value that JSON cannot represent. */
class UnwritableError extends TypeError {
  constructor(path, why) {
    super(`${path.length ? path.join('.') : 'the value'}: ${why}`);
    this.name = 'UnwritableError';
    this.path = path.map((key) => `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
    this.why = why;
  }
}

/** Writes a value as JSON. `undefined` members are left out, `toJSON` counts, BigInts keep their digits. */
function toText(value) {
  return write(value, []);
}

function write(value, path) {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new UnwritableError(path, 'a string with half of a surrogate pair');
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new UnwritableError(path, `JSON has no ${value}`);
      return Object.is(value, -0) ? '-0' : String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? 'null' : writeObject(value, path);
    default:
      throw new UnwritableError(path, `JSON has no ${typeof value}`);
  }
}

function writeObject(value, path) {
  if (path.length > MOST_LEVELS) throw new UnwritableError(path.slice(0, 3), 'nested too deeply, or a cycle');
  if (typeof value.toJSON === 'function') return write(value.toJSON(path.at(-1) ?? ''), path.concat('toJSON()'));
  if (Array.isArray(value)) {
    let text = '[';
    for (let at = 0; at < value.length; at++) {
      if (at > 0) text += ',';
      path.push(at);
      text += value[at] === undefined ? 'null' : write(value[at], path);
      path.pop();
    }
    return text + ']';
  }
  let text = '{';
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined) continue;
    if (text.length > 1) text += ',';
    path.push(key);
    text += write(key, path) + ':' + write(member, path);
    path.pop();
  }
  return text + '}';
}

/** A string about to cross the boundary, where half of a surrogate pair would become another character. */
function wholeText(text, what) {
  if (typeof text !== 'string') throw new TypeError(`${what} must be a string, not ${typeof text}`);
  if (!text.isWellFormed()) throw new UnwritableError([what], 'a string with half of a surrogate pair');
  return text;
}

/** Reads JSON that the gate has written or accepted. */
function fromText(text, largeIntegers = 'bigint') {
  // Sixteen digits in a row are needed for an integer beyond 2^53.
  if (largeIntegers === 'number' || !/\d{16}/.test(text)) return JSON.parse(text);
  return new Reader(text, largeIntegers === 'text' ? String : BigInt).value();
}

const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

/** Reads JSON that is known to be valid, with integers beyond 2^53 as `large` makes them. */
class Reader {
  constructor(text, large) {
    this.text = text;
    this.large = large;
    this.at = 0;
  }

  /** The next token: [punctuation, string, number, word]. */
  next() {
    TOKEN.lastIndex = this.at;
    const found = TOKEN.exec(this.text);
    if (!found) throw new SyntaxError(`not JSON at position ${this.at}`);
    this.at = TOKEN.lastIndex;
    return found;
  }

  value(token = this.next()) {
    const [, sign, string, number, word] = token;
    if (string !== undefined) return JSON.parse(string);
    if (number !== undefined) return this.number(number);
    if (word !== undefined) return JSON.parse(word);
    return sign === '{' ? this.object() : this.array();
  }

  number(digits) {
    const value = Number(digits);
    const isExact = !/^-?\d+$/.test(digits) || Number.isSafeInteger(value);
    return isExact ? value : this.large(digits);
  }

  object() {
    const object = {};
    for (let token = this.next(); token[1] !== '}'; token = this.next()) {
      if (token[1] === ',') continue;
      const key = JSON.parse(token[2]);
      this.next();
      const value = this.value();
      // As `JSON.parse` does: also `__proto__` is a member like any other.
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
    }
    return object;
  }

  array() {
    const array = [];
    for (let token = this.next(); token[1] !== ']'; token = this.next()) {
      if (token[1] !== ',') array.push(this.value(token));
    }
    return array;
  }
}

module.exports = { UnwritableError, fromText, toText, wholeText };
