import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const MODULE = new URL('../../process/end-on-signal.ts', import.meta.url).href;
const PROGRAM = `
  import { endOnSignal } from ${JSON.stringify(MODULE)};
  endOnSignal(() => new Promise(() => {}), 600);
  setInterval(() => {}, 1_000);
  console.error('ready');
`;

describe('endOnSignal', () => {
  it('says on Ctrl-C what the process waits for, and that a second one stops it at once', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, WEIR_LOG_LEVEL: 'info' },
    });
    const exited = once(child, 'exit');
    const lines = createInterface(child.stderr)[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, 'ready');
    child.kill('SIGINT');
    assert.equal(
      JSON.parse(String((await lines.next()).value)).msg,
      'Stopping: work under way has up to 600 s to end. Ctrl-C again stops at once.',
    );
    child.kill('SIGKILL');
    await exited;
  });
});
