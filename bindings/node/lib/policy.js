'use strict';
// A policy as an object: the keys of the policy file, without the file. It is written as TOML and read by the same
// policy reader, so both forms mean the same and report the same mistakes.

const { CallwrightError } = require('./errors.js');

/** An object as TOML, one member per line. */
function policyText(policy) {
  const lines = Object.entries(policy).filter(([, value]) => value !== undefined);
  return lines.map(([key, value]) => `${quoted(key)} = ${written(value, key)}\n`).join('');
}

/** A JSON string is a TOML string, except for the one control character that JSON does not escape. */
function quoted(text) {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}

function written(value, place) {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  if (Array.isArray(value)) return `[${value.map((item, at) => written(item, `${place}.${at}`)).join(', ')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{ ${members.map(([key, member]) => `${quoted(key)} = ${written(member, `${place}.${key}`)}`).join(', ')} }`;
  }
  throw new CallwrightError(`policy: ${place} is ${value}; a policy may contain strings, numbers, booleans, lists and objects`);
}

module.exports = { policyText };
