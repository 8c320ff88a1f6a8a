import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { findFreePort } from '../../../dev/processes/ports.ts';
import type { Tenant } from '../../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

describeWith(['openssl'], 'weir listen', () => {
  let folder: string;
  let weir: WebhookWeir;
  let tenant: Tenant;
  let child: ChildProcessByStdio<null, Readable, Readable>;
  let lines: AsyncIterator<string>;
  let port: number;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-listen-'));
    port = await findFreePort();
    // The receiver makes its certificate before the service that trusts it starts; it needs no database for that.
    const first = listen('listen', '--secret', 'whsec_unused');
    await once(first.stderr, 'data');
    first.kill();
    await once(first, 'exit');
    weir = await startWebhookWeir({
      receivers: 0,
      env: {
        WEIR_TEST_DIAL_MAP: JSON.stringify({ 'listen.weir.test': `127.0.0.1:${port}` }),
        WEIR_WEBHOOK_CA_FILE: path.join(folder, 'listen', 'cert.pem'),
      },
    });
    tenant = await weir.createTenant();
    child = listen('listen', '--secret', await weir.rotate(tenant));
    lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await once(child.stderr, 'data');
  });
  after(async () => {
    child.kill();
    await once(child, 'exit');
    await weir.stop();
    rmSync(folder, { recursive: true });
  });

  function listen(...args: string[]) {
    const env = {
      ...process.env,
      WEIR_STATE_DIR: folder,
    };
    const command = [path.join(ROOT, 'cli/weir.js'), ...args, '--port', String(port), '--json'];
    return spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  }
  const nextLine = async () => JSON.parse((await lines.next()).value);

  it('receives, verifies and prints a delivery, also in the grace period after a rotation', async () => {
    const deliver = async () => {
      const flow = await weir.createFlow(tenant, []);
      await weir.startJob(tenant, flow, { host: 'listen.weir.test' } as never);
      return nextLine();
    };
    for (const rotate of [false, true]) {
      if (rotate) await weir.rotate(tenant);
      const { verified, delivery, body } = await deliver();
      assert.deepEqual([verified, body.event, body.result], [true, 'flow.completed', 'm']);
      await weir.deliveryWhen(tenant, ({ status }) => status === 'succeeded', delivery);
    }
  });

  it('answers 401 to an unsigned request, and says so', async () => {
    const ca = readFileSync(path.join(folder, 'listen', 'cert.pem'));
    const options = { host: '127.0.0.1', port, ca, servername: 'listen.weir.test', method: 'POST' };
    const sent = request(options).end('{"forged":true}');
    const [response] = await once(sent, 'response');
    response.resume();
    assert.equal(response.statusCode, 401);
    assert.deepEqual(await nextLine(), { verified: false, delivery: '', body: { forged: true } });
  });

  it('asks for a receiver or a secret', async () => {
    const asking = listen();
    const [code] = await once(asking, 'exit');
    assert.equal(code, 2);
  });
});
