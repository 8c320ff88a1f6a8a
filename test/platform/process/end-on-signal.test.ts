import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { SECRETS_KEYS } from '../../harness.ts';

const MODULE = new URL('../../../platform/process/end-process.ts', import.meta.url).href;
const PROGRAM = `
  import { endOnSignal } from ${JSON.stringify(MODULE)};
  endOnSignal(() => new Promise(() => {}), 600);
  setInterval(() => {}, 1_000);
  console.error('ready');
`;

describe('a program that is told to stop before it has reached Temporal', () => {
  for (const file of ['api/server.ts', 'worker/worker.ts', 'api/serve-with-worker.ts'])
    it(`ends with 0, as the first process of a container does only by itself: ${file}`, async () => {
      const silent = createServer();
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const child = spawn(process.execPath, [file], {
        cwd: path.join(import.meta.dirname, '../../..'),
        stdio: 'ignore',
        env: {
          DATABASE_URL: 'postgres://127.0.0.1:1/none',
          WEIR_API_KEY_PEPPER: 'a pepper of at least thirty-two characters',
          WEIR_SECRETS_KEYS: SECRETS_KEYS,
          TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
        },
      });
      const exited = once(child, 'exit');
      const [connection] = (await once(silent, 'connection')) as [Socket];
      child.kill('SIGTERM');
      assert.deepEqual(await exited, [0, null]);
      connection.destroy();
      silent.close();
    });
});

describe('endOnSignal', () => {
  const SAID = {
    SIGINT: 'Stopping: work under way has up to 600 s to end. Ctrl-C again stops at once.',
    SIGTERM: 'Stopping: work under way has up to 600 s to end.',
  };
  for (const [signal, said] of Object.entries(SAID))
    it(`says on ${signal} what the process waits for`, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, WEIR_LOG_LEVEL: 'info' },
      });
      const exited = once(child, 'exit');
      const lines = createInterface(child.stderr)[Symbol.asyncIterator]();
      assert.equal((await lines.next()).value, 'ready');
      child.kill(signal as NodeJS.Signals);
      assert.equal(JSON.parse(String((await lines.next()).value)).msg, said);
      child.kill('SIGKILL');
      await exited;
    });
});
