// The page in a real browser: typed input is judged and kept in the address, and nothing is requested from the network.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';
import { after, before, test } from 'node:test';

const site = process.env.CALLWRIGHT_PLAYGROUND;
const { chromium } = createRequire(`${process.env.CALLWRIGHT_TEST_NODE_MODULES}/x.js`)('playwright-core');
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };

let server;
let browser;
let origin;

before(async () => {
  server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://x').pathname);
    try {
      const body = readFileSync(join(site, path));
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain', connection: 'close' }).end(body);
    } catch {
      response.writeHead(404, { connection: 'close' }).end();
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  server?.close();
});

async function open(options = {}, hash = '') {
  const page = await browser.newPage(options);
  const troubles = [];
  page.on('pageerror', (error) => troubles.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  page.on('request', (request) => request.url().startsWith(origin) || request.url().startsWith('data:') || troubles.push(request.url()));
  await page.goto(`${origin}/index.html${hash}`);
  await page.waitForSelector('.verdict', { timeout: 120_000 });
  return { page, troubles };
}

test('every example has the verdict that it is about', async () => {
  const { page, troubles } = await open();
  const expected = {
    'Numbers and lists as text': 'repaired',
    'JSON as in Python': 'repaired',
    'Two mistakes, two reasons': 'refused',
    'Cut off in the middle': 'refused',
    'A near miss of a value': 'repaired',
    'A tool that pays is not guessed at': 'refused',
    'Almost the right name': 'repaired',
    'A call inside a message': 'repaired',
    "A provider's call": 'valid',
  };
  const names = await page.$$eval('#example option', (options) => options.map((option) => option.textContent));
  assert.deepEqual(names, Object.keys(expected));
  for (const [at, name] of names.entries()) {
    await page.evaluate(() => document.getElementById('answer').replaceChildren());
    await page.selectOption('#example', name);
    await page.waitForSelector('.verdict');
    const verdict = await page.$eval('.verdict:last-child .badge', (found) => found.textContent);
    assert.equal(verdict, expected[name], `${at}: ${name}`);
  }
  assert.deepEqual(troubles, []);
});

test('typed input is judged, and the address restores it', async () => {
  const { page } = await open();
  await page.fill('#call', '{"tool": "search_orders", "arguments": {"limit": "<img src=x onerror=alert(1)>"}}');
  await page.waitForFunction(() => document.querySelector('.message')?.textContent.includes('query: Required'));
  assert.match(await page.textContent('.message'), /<img src=x onerror/);
  assert.equal(await page.$('#answer img'), null);
  await page.selectOption('#style', 'numbered');
  await page.waitForFunction(() => document.querySelector('.message')?.textContent.includes('1. Field'));
  const again = await open({}, new URL(page.url()).hash);
  assert.match(await again.page.textContent('.message'), /1\. Field 'query' is required/);
  assert.equal(await again.page.inputValue('#style'), 'numbered');
});

test('tools that cannot be read, and texts that are not calls, are named', async () => {
  const { page } = await open();
  await page.fill('#tools', '[{"name": "x"');
  await page.waitForSelector('.error');
  assert.match(await page.textContent('#tools-state'), /not JSON/);
  await page.fill('#tools', '[{"name": "x", "inputSchema": {"type": "objekt"}}]');
  await page.waitForFunction(() => document.querySelector('#tools-state').textContent.includes('objekt'));
  await page.fill('#call', '{"tool": "x", "arguments": {}}');
  await page.waitForSelector('.unjudged');
  await page.fill('#call', '{"nothing": 1}');
  await page.waitForSelector('.error');
});

for (const [name, options] of Object.entries({
  light: { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, deviceScaleFactor: 2 },
})) {
  test(`readable: ${name}`, async () => {
    const { page } = await open(options);
    await page.selectOption('#example', '2');
    await page.waitForSelector('.refused');
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(overflow <= 0, `${overflow} pixels too wide`);
    if (process.env.CALLWRIGHT_SCREENSHOTS) await page.screenshot({ path: join(process.env.CALLWRIGHT_SCREENSHOTS, `playground-${name}.png`), fullPage: true });
  });
}
