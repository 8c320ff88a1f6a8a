#!/usr/bin/env node
// Runs weir.ts under the project's own Node, whatever Node `npx` started this file with, from code compiled before.
import { spawn } from 'node:child_process';
import module, { createRequire } from 'node:module';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(import.meta.url);
const compiled =
  process.env.NODE_COMPILE_CACHE ?? fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url));

// At once, under any Node: scripts ask for the version before anything else.
if (process.argv.length === 3 && process.argv[2] === '--version')
  console.log(createRequire(import.meta.url)('../package.json').version);
else if (Number(process.versions.node.split('.')[0]) >= 24) {
  module.enableCompileCache(compiled);
  process.on('disconnect', () => process.exit(1));
  process.channel?.unref();
  try {
    await import('./weir.ts');
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    fail('A package is missing. Run npm ci in the checkout.');
  }
} else {
  const node = findNode();
  if (node) run(node);
  else
    fail(
      `Weir needs Node 24 or newer; this is ${process.version}. Run npm ci in the checkout: it installs one.`,
    );
}

function fail(message) {
  const detail = { code: 'COMMAND_FAILED', message };
  console.error(process.argv.includes('--json') ? JSON.stringify({ detail }) : message);
  process.exitCode = 1;
}

function findNode() {
  const { resolve } = createRequire(import.meta.url);
  const platform = `${process.platform}-${process.arch}`;
  for (const name of [`node-${platform}`, `node-bin-${platform}`]) {
    try {
      return path.join(path.dirname(resolve(`${name}/package.json`)), 'bin/node');
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return undefined;
}

function run(node) {
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    // By the channel, the child learns when this process is killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  // The child decides how to end, and this process ends with it. A terminal sends Ctrl-C to both.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
