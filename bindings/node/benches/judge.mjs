// Compares the cost of a call with the alternatives a JavaScript program has: ratios within one run, by CPU time, best
// of many interleaved rounds.
//
//     node benches/judge.mjs TOOLS.jsonl CALLS.jsonl…
//
// A line of tools has `ref` and `input_schema`, a line of calls `schema_ref` and `raw_arguments` as text. Needs a release build as
// callwright.node, and ajv as test/install.mjs installs it.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { Gate } from '../index.mjs';
import { folderOf } from '../test/support/frameworks.mjs';

/** How many calls of each kind are measured: enough that a single one does not matter. */
const MOST = 4000;

const [toolsPath, ...callsPaths] = process.argv.slice(2);
if (callsPaths.length === 0) {
  console.error('usage: node benches/judge.mjs TOOLS.jsonl CALLS.jsonl…');
  process.exit(2);
}
const require = createRequire(join(folderOf('newest'), 'package.json'));
const Ajv = require('ajv/dist/2020.js').default;
const read = (path) => readFileSync(path, 'utf8').trim().split('\n').map((line) => JSON.parse(line));

const calls = callsPaths.flatMap(read).filter((call) => typeof call.raw_arguments === 'string');
const wanted = new Set(calls.map((call) => call.schema_ref));
const schemas = new Map(read(toolsPath).filter((tool) => wanted.has(tool.ref)).map((tool) => [tool.ref, tool.input_schema]));
const texts = calls.filter((call) => schemas.has(call.schema_ref)).map((call) => [call.schema_ref, call.raw_arguments]);
const declared = JSON.stringify([...schemas].map(([name, inputSchema]) => ({ name, inputSchema })));

/** The lowest CPU time of each task in milliseconds, in interleaved rounds. */
function least(works, rounds) {
  const found = works.map(() => Infinity);
  for (let round = 0; round < rounds; round++) {
    works.forEach((work, at) => {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      found[at] = Math.min(found[at], (user + system) / 1000);
    });
  }
  return found;
}

/** ajv validators; schemas it cannot compile are skipped. */
function compiled(options) {
  const ajv = new Ajv({ strict: false, validateFormats: false, logger: false, ...options });
  const validators = new Map();
  for (const [ref, schema] of schemas) {
    try {
      validators.set(ref, ajv.compile({ ...schema, $id: undefined }));
    } catch {
      // Draft 4, or not a schema.
    }
  }
  return validators;
}

// Schemas are compiled once per process, so each round uses different ones.
const fresh = [1, 2, 3].map((salt) => declared.replaceAll('"properties"', `"title":"${salt}","properties"`));
const [openGate, openAjv] = least([() => new Gate(fresh.pop()), compiled], fresh.length);

const [first, all] = [compiled(), compiled({ allErrors: true })];
const gate = new Gate(declared);
const good = texts.filter(([ref, text]) => first.has(ref) && gate.judge(ref, text).verdict === 'valid').slice(0, MOST);
const [parse, ajv, judge, judgeArguments] = least(
  [
    () => good.forEach(([, text]) => JSON.parse(text)),
    () => good.forEach(([ref, text]) => first.get(ref)(JSON.parse(text))),
    () => good.forEach(([ref, text]) => gate.judge(ref, text).ok),
    () => good.forEach(([ref, text]) => gate.judge(ref, text).arguments),
  ],
  40,
);

const isRefusedByBoth = ([ref, text]) => {
  try {
    return first.has(ref) && !gate.judge(ref, text).ok && !first.get(ref)(JSON.parse(text));
  } catch {
    return false;
  }
};
const bad = texts.filter(isRefusedByBoth).slice(0, MOST);
const strict = new Gate(declared, { repair: 'none' });
const ajvText = ([ref, text]) => {
  const validate = all.get(ref);
  validate(JSON.parse(text));
  return validate.errors.map((error) => `${error.instancePath} ${error.message}`).join('; ');
};
const [ajvErrors, refused, refusedStrict] = least(
  [
    () => bad.forEach(ajvText),
    () => bad.forEach(([ref, text]) => gate.judge(ref, text).feedback),
    () => bad.forEach(([ref, text]) => strict.judge(ref, text).feedback),
  ],
  15,
);

const program = 'const t = performance.now(); require(process.argv[1]); console.log(performance.now() - t)';
const importing = () => Number(execFileSync(process.execPath, ['-e', program, require.resolve(join(import.meta.dirname, '..'))]));
const imports = Math.min(...Array.from({ length: 15 }, importing));

const each = (milliseconds, list) => `${((milliseconds * 1000) / list.length).toFixed(2)} µs`;
const times = (ours, theirs) => (ours / theirs).toFixed(2);
console.log(`require('callwright'): ${imports.toFixed(1)} ms`);
console.log(`${schemas.size} tools: ${openGate.toFixed(0)} ms, ajv ${openAjv.toFixed(0)} ms: ${(openAjv / openGate).toFixed(1)} times faster`);
console.log(`${good.length} valid calls: JSON.parse ${each(parse, good)}, with ajv ${each(ajv, good)}`);
console.log(`  judge(text): ${each(judge, good)}, ${times(judge, ajv)} x JSON.parse + ajv; ${times(judge, parse)} x JSON.parse`);
console.log(`  judge(text).arguments: ${each(judgeArguments, good)}, ${times(judgeArguments, ajv)} x JSON.parse + ajv`);
if (bad.length > 0) {
  console.log(`${bad.length} refused calls: ajv's errors as text ${each(ajvErrors, bad)}`);
  console.log(`  judge(text).feedback: ${each(refused, bad)}, ${times(refused, ajvErrors)} x ajv; with repair none ${each(refusedStrict, bad)}`);
}
