// Reads the cases in corpus/ and compares expected and actual values. corpus/README.md says what a case looks like.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../../..', import.meta.url));

/** Every file of a stage: its name and its content. */
export function files(stage) {
  const folder = join(repository, 'corpus', stage);
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => [`${stage}/${name}`, JSON.parse(readFileSync(join(folder, name), 'utf8'))]);
}

/** Where `actual` disagrees with `expected`, which may be partial; `undefined` if it agrees. */
export function difference(expected, actual, place = '') {
  if (expected === undefined) return undefined;
  if (expected === null) return actual === null || actual === undefined ? undefined : told(expected, actual, place);
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return told(expected, actual, place);
    return first(expected.map((item, at) => () => difference(item, actual[at], `${place}/${at}`)));
  }
  if (typeof expected === 'object' && typeof actual === 'object' && actual !== null && !Array.isArray(actual)) {
    return first(Object.keys(expected).map((key) => () => difference(expected[key], actual[key], `${place}/${key}`)));
  }
  return expected === actual ? undefined : told(expected, actual, place);
}

function first(questions) {
  for (const question of questions) {
    const found = question();
    if (found) return found;
  }
  return undefined;
}

function told(expected, actual, place) {
  return `at ${place || '/'}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
}

/** Runs `check` on every case of some stages; an error names all that fail. Returns how many there were. */
export function run(stages, check) {
  let count = 0;
  const failures = [];
  for (const [name, file] of stages.flatMap(files)) {
    for (const testCase of file.cases) {
      count += 1;
      let why;
      try {
        why = check(file, testCase);
      } catch (error) {
        why = error.stack;
      }
      if (why) failures.push(`${name}: ${testCase.name}\n    ${why}`);
    }
  }
  if (failures.length > 0) throw new Error(`${failures.length} of ${count} cases fail:\n${failures.join('\n')}`);
  return count;
}
