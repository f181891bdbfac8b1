// Speed as ratios within one run: `node test/bench.mjs` with a release build as callwright.node, on recorded calls if
// CALLWRIGHT_RECORDED_CALLS names their folder. Times are the CPU time of this process, the smallest of alternating rounds.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Gate } from '../index.mjs';
import { folderOf } from './support/frameworks.mjs';
import { createRequire } from 'node:module';

const require = createRequire(join(folderOf('newest'), 'package.json'));
const Ajv = require('ajv/dist/2020.js').default;

const data = process.env.CALLWRIGHT_RECORDED_CALLS;
if (!data || !existsSync(join(data, 'tools.jsonl'))) {
  console.error('CALLWRIGHT_RECORDED_CALLS names no folder with tools.jsonl and calls-valid.jsonl');
  process.exit(2);
}
const read = (name) => readFileSync(join(data, name), 'utf8').trim().split('\n').map((line) => JSON.parse(line));

const calls = read('calls-valid.jsonl').slice(0, 8000);
const wanted = new Set(calls.map((call) => call.schema_ref));
const tools = read('tools.jsonl').filter((tool) => wanted.has(tool.ref));
const schemas = new Map(tools.map((tool) => [tool.ref, tool.input_schema]));
const asText = (args) => (typeof args === 'string' ? args : JSON.stringify(args));
const texts = calls.filter((call) => schemas.has(call.schema_ref)).map((call) => [call.schema_ref, asText(call.raw_arguments)]);
const declared = JSON.stringify([...schemas].map(([name, inputSchema]) => ({ name, inputSchema })));

/** CPU milliseconds of some work. */
function cost(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The smallest cost of each work, in alternating rounds. */
function costs(works, rounds) {
  const least = works.map(() => Infinity);
  for (let round = 0; round < rounds; round++) works.forEach((work, at) => (least[at] = Math.min(least[at], cost(work))));
  return least;
}

const ajv = () => new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false });
function compiled() {
  const own = ajv();
  const validators = new Map();
  for (const [ref, schema] of schemas) {
    try {
      validators.set(ref, own.compile({ ...schema, $id: undefined }));
    } catch {
      validators.set(ref, () => true);
    }
  }
  return validators;
}

let salt = 0;
const [openGate, openAjv] = costs(
  [() => new Gate(declared.replaceAll('"properties"', `"title":"${salt++}","properties"`)), compiled],
  3,
);
const validators = compiled();
const gate = new Gate(declared);
const good = texts.filter(([ref, text]) => gate.judge(ref, text).verdict === 'valid');
const [parse, parseAjv, judge, judgeArguments] = costs(
  [
    () => good.forEach(([, text]) => JSON.parse(text)),
    () => good.forEach(([ref, text]) => validators.get(ref)(JSON.parse(text))),
    () => good.forEach(([ref, text]) => gate.judge(ref, text).ok),
    () => good.forEach(([ref, text]) => gate.judge(ref, text).arguments),
  ],
  15,
);
const strict = new Gate(declared, { repair: 'none' });
const bad = good.map(([ref, text]) => [ref, text.replace(/^\s*\{/, '{"no_such_key_of_this_tool":{"a":[1]},').replace(/:\s*"[^"]*"/, ':{}')]).filter(([ref, text]) => strict.judge(ref, text).verdict === 'refused').slice(0, 4000);
const [refused, refusedGuess, ajvErrors] = costs(
  [
    () => bad.forEach(([ref, text]) => strict.judge(ref, text).feedback),
    () => bad.forEach(([ref, text]) => gate.judge(ref, text).feedback),
    () =>
      bad.forEach(([ref, text]) => {
        const validate = validators.get(ref);
        validate(JSON.parse(text));
        return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`).join('; ');
      }),
  ],
  7,
);
const each = (ms, list) => `${((ms * 1000) / list.length).toFixed(2)} µs`;
console.log(`opening ${schemas.size} tools: ${openGate.toFixed(0)} ms, ajv ${openAjv.toFixed(0)} ms: ${(openAjv / openGate).toFixed(1)} times faster`);
console.log(`a valid call: ${each(judge, good)}, with its arguments ${each(judgeArguments, good)}; JSON.parse ${each(parse, good)}, with ajv ${each(parseAjv, good)}`);
console.log(`  ${(judge / parseAjv).toFixed(2)} and ${(judgeArguments / parseAjv).toFixed(2)} x JSON.parse + ajv`);
console.log(`a refused call with its message: ${each(refused, bad)}, after a search for repairs ${each(refusedGuess, bad)}; ajv's errors as text ${each(ajvErrors, bad)}`);
console.log(`  ${(refused / ajvErrors).toFixed(2)} and ${(refusedGuess / ajvErrors).toFixed(2)} x ajv`);
