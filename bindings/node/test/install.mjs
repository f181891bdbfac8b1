// Installs the frameworks that the tests run with: the newest and the oldest supported release of each, pinned.
// They are in target/, next to what cargo builds; the package itself depends on none of them.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const target = fileURLToPath(new URL('../../../target/node-frameworks', import.meta.url));

const releases = {
  newest: {
    ai: '7.0.170',
    '@ai-sdk/openai-compatible': '3.0.90',
    '@anthropic-ai/claude-agent-sdk': '0.3.326',
    '@langchain/core': '1.2.13',
    '@langchain/langgraph': '1.4.13',
    '@langchain/openai': '1.6.0',
    ajv: '8.20.0',
    langchain: '1.5.14',
    'playwright-core': '1.65.1',
    typescript: '5.9.3',
    valibot: '1.5.0',
    zod: '4.6.7',
  },
  oldest: {
    ai: '6.0.0',
    '@ai-sdk/openai-compatible': '2.0.0',
    '@anthropic-ai/claude-agent-sdk': '0.3.142',
    '@langchain/core': '1.2.0',
    '@langchain/langgraph': '1.2.6',
    '@langchain/openai': '1.3.0',
    langchain: '1.3.0',
    zod: '4.1.0',
  },
};

for (const [name, dependencies] of Object.entries(releases)) {
  const folder = join(target, name);
  const manifest = JSON.stringify({ private: true, dependencies });
  const file = join(folder, 'package.json');
  if (existsSync(join(folder, 'node_modules')) && readFileSync(file, 'utf8') === manifest) continue;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, manifest);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '--legacy-peer-deps'], { cwd: folder, stdio: 'inherit' });
}
