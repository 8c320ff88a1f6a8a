import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../../..');
/** Imports a module in a thread, and prints what the thread's environment has and whether it loaded the compiler. */
const PROGRAM = `
  import { Worker } from 'node:worker_threads';
  import { THREAD_OPTIONS } from './platform/limits/thread.ts';
  const seen = "process.getBuiltinModule('worker_threads').parentPort.postMessage({" +
    "environment: Object.keys(process.env), compiler: process.moduleLoadList.some((name) => name.includes('amaro'))})";
  const code = "import('./platform/limits/fair-queue.ts').then(() => { process.getBuiltinModule('module').flushCompileCache(); " + seen + " })";
  const worker = new Worker(code, { ...THREAD_OPTIONS, eval: true });
  worker.once('message', (message) => console.log(JSON.stringify(message)));
`;

describe('A thread of the service', () => {
  const cache = mkdtempSync(path.join(tmpdir(), 'weir-compiled-'));
  after(() => rmSync(cache, { recursive: true }));
  const start = () => {
    const env = { NODE_COMPILE_CACHE: cache, WEIR_SECRETS_KEYS: 'a secret' };
    const args = ['--input-type=module-typescript', '-e', PROGRAM];
    return JSON.parse(execFileSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' }));
  };

  it('sees no secret of the process, and loads no compiler for code that an earlier one compiled', () => {
    assert.deepEqual(start(), { environment: ['NODE_COMPILE_CACHE'], compiler: true });
    assert.deepEqual(start(), { environment: ['NODE_COMPILE_CACHE'], compiler: false });
  });
});
