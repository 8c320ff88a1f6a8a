import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '../../dev/processes/ports.ts';
import { startService } from '../../dev/service.ts';
import { SECRETS_KEYS, startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { testWorkflowBundle } from '../workflow-bundle.ts';

describe('the service of a local start', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-service-'));
  let weir: Weir;
  before(async () => {
    weir = await startWeir({ worker: false });
  });
  after(async () => {
    await weir.stop();
    rmSync(stateFolder, { recursive: true });
  });

  const start = async (baseUrl: string) =>
    startService({
      stateFolder,
      baseUrl,
      env: {
        ...process.env,
        DATABASE_URL: weir.config.databaseUrl,
        TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
        WEIR_API_KEY_PEPPER: weir.config.apiKeyPepper,
        WEIR_SECRETS_KEYS: SECRETS_KEYS,
        WEIR_TASK_QUEUE: weir.config.taskQueue,
        WEIR_TEST_WORKFLOW_BUNDLE: (await testWorkflowBundle()).codePath,
        WEIR_LOG_LEVEL: 'info',
        WEIR_PORT: new URL(baseUrl).port,
      },
    });

  it('is not taken for started when another one, which is ready, has its port', async () => {
    await waitUntil(async () => (await fetch(`${weir.url}/readyz`)).status === 200);
    await assert.rejects(
      start(weir.url),
      /^Error: The service ended with code 1\. .*WEIR_PORT \d+ on 127\.0\.0\.1 cannot be used: the port is taken/s,
    );
  });

  it('is started when it listens itself and is ready', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const service = await start(url);
    try {
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    } finally {
      await service.stop();
    }
  });
});
