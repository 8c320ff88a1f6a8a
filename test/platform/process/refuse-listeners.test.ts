import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { SECRETS_KEYS } from '../../harness.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

describe('WEIR_WEBHOOK_LISTENERS', () => {
  for (const main of ['api/server.ts', 'worker/worker.ts'])
    it(`is refused in words by ${main}, which is half of a service, before it connects to anything`, async () => {
      const child = spawn(process.execPath, [path.join(ROOT, main)], {
        env: {
          DATABASE_URL: 'postgres://127.0.0.1:1/away',
          TEMPORAL_ADDRESS: '127.0.0.1:1',
          WEIR_API_KEY_PEPPER: 'a pepper of at least thirty-two characters',
          WEIR_SECRETS_KEYS: SECRETS_KEYS,
          WEIR_PORT: '0',
          WEIR_WEBHOOK_LISTENERS: 'on',
        },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const code = new Promise((resolve) => child.on('close', resolve));
      assert.match(await text(child.stderr), /needs API and worker in one process: use npm start/);
      assert.equal(await code, 1);
    });
});
