'use strict';
// Judges and counts recorded traffic: files by their paths, or records from any iterable.

const native = require('./native.js');
const { CallwrightError, checked, rethrown } = require('./errors.js');
const { fromText, toText, wholeText } = require('./json.js');
const { policyOf } = require('./gate.js');

/** How many records cross the boundary at once: crossing costs as much as a few records. */
const BATCH = 512;

/** The counts of a replay, which can be merged with those of other parts. */
class Summary {
  #native;

  constructor(held) {
    this.#native = held;
  }

  static fromBytes(bytes) {
    return new Summary(checked(() => native.NativeSummary.fromBytes(Buffer.from(bytes))));
  }

  /** Compressed, for another process or for later. */
  toBytes() {
    return checked(() => this.#native.toBytes());
  }

  /** Adds the counts of another part, in any order; a part with an id counts once. */
  merge(other) {
    if (!(other instanceof Summary)) throw new TypeError('a summary merges with a summary');
    checked(() => this.#native.merge(other.#native));
    return this;
  }

  /** What `callwright replay --format json` prints. */
  async report() {
    return fromText(await this.#native.report());
  }
}

/** Judges and counts recorded traffic: paths, or an iterable of records as strings or objects. */
async function replay(source, { tools, name = 'records', part, ...policy } = {}) {
  const settings = [tools === undefined ? undefined : typeof tools === 'string' ? wholeText(tools, 'tools') : toText(tools), policyOf(policy), part];
  try {
    if (typeof source === 'string') return new Summary(await native.replayFiles([source], ...settings));
    if (Array.isArray(source?.paths)) return new Summary(await native.replayFiles(source.paths, ...settings));
    const counting = new native.NativeReplay(name, ...settings);
    let failure;
    try {
      await hand(counting, source);
    } catch (error) {
      failure = error;
    }
    const held = await counting.finish();
    if (failure) throw failure;
    return new Summary(held);
  } catch (error) {
    throw rethrown(error);
  }
}

/** Passes records in as fast as they are counted. */
async function hand(counting, records) {
  if (!records?.[Symbol.asyncIterator] && !records?.[Symbol.iterator]) {
    throw new CallwrightError('a replay takes a path, { paths }, or an iterable of records');
  }
  let batch = [];
  for await (const record of records) {
    batch.push(typeof record === 'string' ? wholeText(record, 'a record') : toText(record));
    if (batch.length === BATCH) {
      await counting.push(batch);
      batch = [];
    }
  }
  if (batch.length > 0) await counting.push(batch);
}

module.exports = { Summary, replay };
