#!/usr/bin/env node
// Runs weir.ts under the project's own Node, whatever Node `npx` started this file with, from code compiled before.
import { spawn } from 'node:child_process';
import module, { createRequire } from 'node:module';
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
  try {
    await import('./weir.ts');
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error('A package is missing. Run npm ci in the checkout.');
    process.exitCode = 1;
  }
} else {
  const node = findNode();
  if (node) run(node);
  else {
    console.error(
      `Weir needs Node 24 or newer; this is ${process.version}. Run npm ci in the checkout: it installs one.`,
    );
    process.exitCode = 1;
  }
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
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  // A terminal sends Ctrl-C to both processes. The child decides how to end, and this process ends with it.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}
