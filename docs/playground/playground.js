// The page: tools on the left, a call on the right, the verdict below, as one types.
//
// The state is in the fragment of the address. Nothing that is typed becomes HTML, and nothing leaves the page.

import { CallwrightError, TrapError, load } from './callwright.js';
import { examples } from './examples.js';

const field = Object.fromEntries(['tools', 'call', 'repair', 'style', 'example', 'link', 'answer', 'tools-state', 'call-state'].map((id) => [id, document.getElementById(id)]));

/** How long to wait after a key: short enough to feel at once, long enough to skip the letters of a word. */
const PAUSE_MS = 60;

const callwright = load(fetch('callwright.wasm'));
let gate;
let gateOf;

/** An element with text or children; a string is always text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat().filter((child) => child !== undefined && child !== null));
  return made;
}

const shown = (value) => (value === undefined ? '' : JSON.stringify(value, null, 2));

/** The gate for what is on the left, opened again when that changes. */
async function currentGate() {
  const options = { repair: field.repair.value, style: field.style.value };
  const key = JSON.stringify([field.tools.value, options]);
  if (key === gateOf && gate) return gate;
  const loaded = await callwright;
  gate?.close();
  gate = undefined;
  gate = loaded.open(field.tools.value.trim() || '[]', options);
  gateOf = key;
  return gate;
}

/** What is on the right: a call, or a message that may hold some. */
function question(text) {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return { call: JSON.stringify(value) };
  } catch {
    // A text that begins like an object was meant as one, and its mistake is worth a word.
    if (text.trimStart().startsWith('{')) return { call: text };
  }
  return { message: text };
}

async function judge() {
  say('tools-state', '');
  say('call-state', '');
  let open;
  try {
    open = await currentGate();
    sayTools(open.tools);
  } catch (error) {
    return fault('tools-state', 'These tools cannot be used', error);
  }
  if (field.call.value.trim() === '') return show(element('p', { class: 'hint' }, 'Write a call on the right.'));
  const { call, message } = question(field.call.value);
  try {
    if (call !== undefined) return show(verdict(open.judge(call), () => open.explain(call)));
    const { calls, rest, no_call: reason, why } = open.rescue(message);
    if (reason) return show(card('no_call', 'no call', reason, why));
    const before = rest?.trim() ? [card('no_call', 'text', 'before the call', rest.trim())] : [];
    return show(...before, ...calls.map((line) => verdict(line)));
  } catch (error) {
    return fault('call-state', 'This is not a call', error);
  }
}

function say(id, text, isBad = false) {
  field[id].textContent = text;
  field[id].title = text;
  field[id].classList.toggle('bad', isBad);
}

function sayTools(tools) {
  const broken = tools.filter((tool) => tool.quarantined);
  const count = `${tools.length} tool${tools.length === 1 ? '' : 's'}`;
  if (broken.length > 0) say('tools-state', `${count}; ${broken[0].name}: ${broken[0].quarantined}`, true);
  else say('tools-state', count);
}

function fault(where, title, error) {
  const isOurs = error instanceof CallwrightError;
  say(where, error.message.split('\n')[0], true);
  show(card('error', error instanceof TrapError ? 'stopped' : 'error', title, isOurs ? error.message : String(error)));
}

function show(...children) {
  field.answer.replaceChildren(...children);
}

function card(kind, badge, name, says) {
  return element('article', { class: `verdict ${kind}` }, [
    element('div', { class: 'head' }, element('span', { class: 'badge' }, badge), element('span', { class: 'name' }, name)),
    says && element('pre', {}, says),
  ]);
}

const MEANING = {
  valid: 'The arguments go to the tool exactly as they were sent.',
  repaired: 'The arguments were made valid; every edit is on record.',
  refused: 'The call does not run. This is what the model hears:',
  unjudged: 'The schema of this tool cannot be used, so the call goes on as it is.',
};

function verdict(line, explain) {
  const { verdict: kind, tool, failure, feedback, edits, arguments: args } = line;
  return element('article', { class: `verdict ${kind}` }, [
    element('div', { class: 'head' }, [
      element('span', { class: 'badge' }, kind),
      element('span', { class: 'name' }, failure ? `${tool} · ${failure.code}` : tool),
      element('span', { class: 'says' }, MEANING[kind] ?? ''),
    ]),
    feedback && element('pre', { class: 'message' }, feedback),
    edits.length > 0 && editTable(edits),
    failure?.issues.length > 0 && issueTable(failure.issues),
    args !== undefined && part(failure ? 'Arguments as sent' : 'Arguments for the tool', element('pre', {}, shown(args))),
    element('div', { class: 'more' }, [
      element('details', {}, element('summary', {}, 'Verdict line'), element('pre', {}, shown(line))),
      explain && tried(explain),
    ].filter(Boolean)),
  ].filter(Boolean));
}

function part(title, content) {
  return element('div', {}, element('h3', {}, title), content);
}

function table(titles, rows) {
  const head = element('tr', {}, titles.map((title) => element('th', {}, title)));
  return element('div', { class: 'scroll' }, element('table', {}, element('thead', {}, head), element('tbody', {}, rows)));
}

const cell = (text, attributes = {}) => element('td', {}, element('code', attributes, text));

function editTable(edits) {
  const rows = edits.map(({ path, rule, grade, before, after }) =>
    element('tr', {}, cell(path || '(whole)'), cell(shown(before), { class: 'was' }), cell(shown(after)), element('td', {}, `${rule} (${grade})`)),
  );
  return part('Edits', table(['where', 'was', 'is', 'rule'], rows));
}

function issueTable(issues) {
  const rows = issues.map(({ path, message }) => element('tr', {}, cell(path || '(whole)'), element('td', {}, message)));
  return part('Issues', table(['where', 'what'], rows));
}

/** Every repair that was tried, looked up when it is asked for. */
function tried(explain) {
  const details = element('details', {}, element('summary', {}, 'What was tried'));
  details.addEventListener('toggle', () => {
    if (details.childElementCount > 1) return;
    const trials = explain();
    const rows = trials.map(({ words, rule, grade, helps }) => element('tr', {}, element('td', {}, words), element('td', {}, `${rule} (${grade})`), element('td', {}, helps ? 'helps' : 'does not help')));
    details.append(trials.length > 0 ? table(['edit', 'rule', ''], rows) : element('p', { class: 'hint' }, 'Nothing: the call is valid, or no rule fits.'));
  });
  return details;
}

/** The state of the page in its address. */
function state() {
  const { tools, call, repair, style } = field;
  return new URLSearchParams({ tools: tools.value, call: call.value, repair: repair.value, style: style.value });
}

function restore() {
  const saved = new URLSearchParams(location.hash.slice(1));
  if (!saved.has('tools')) return choose(0);
  for (const name of ['tools', 'call']) field[name].value = saved.get(name) ?? '';
  for (const name of ['repair', 'style']) if (saved.has(name)) field[name].value = saved.get(name);
  return undefined;
}

/** JSON with what fits on a line on one line, so that a schema can be seen at once. */
function written(value, indent = '') {
  const flat = JSON.stringify(value, null, 1)?.replace(/\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= 64) return flat;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => inner + written(item, inner))
    : Object.entries(value).map(([key, member]) => `${inner}${JSON.stringify(key)}: ${written(member, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${members.join(',\n')}\n${indent}${close}`;
}

function choose(at) {
  const { tools, call } = examples[at];
  field.tools.value = written(tools);
  field.call.value = call;
  field.example.value = String(at);
}

let timer;
function changed() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    history.replaceState(null, '', `#${state()}`);
    judge();
  }, PAUSE_MS);
}

field.example.append(...examples.map(({ name }, at) => element('option', { value: String(at) }, name)));
for (const name of ['tools', 'call']) field[name].addEventListener('input', changed);
for (const name of ['repair', 'style']) field[name].addEventListener('change', changed);
field.example.addEventListener('change', () => {
  choose(Number(field.example.value));
  changed();
});
field.link.addEventListener('click', async () => {
  history.replaceState(null, '', `#${state()}`);
  await navigator.clipboard.writeText(location.href).catch(() => undefined);
  field.link.textContent = 'Copied';
  setTimeout(() => (field.link.textContent = 'Copy link'), 1500);
});
window.addEventListener('hashchange', () => {
  restore();
  judge();
});
restore();
judge();
