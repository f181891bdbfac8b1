'use strict';
// A policy as an object: the keys of the policy file, without the file. It is written as TOML and read by the one reader of
// policies, so both forms mean the same and the same mistakes are named.

const { CallwrightError } = require('./errors.js');

/** An object as TOML, each member on a line of its own. */
function policyText(policy) {
  const lines = Object.entries(policy).filter(([, value]) => value !== undefined);
  return lines.map(([key, value]) => `${quoted(key)} = ${written(value, key)}\n`).join('');
}

/** A string of JSON is one of TOML, but for the one control character that JSON leaves as it is. */
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
  throw new CallwrightError(`policy: ${place} is ${value}; a policy holds texts, numbers, true, false, lists and objects`);
}

module.exports = { policyText };
