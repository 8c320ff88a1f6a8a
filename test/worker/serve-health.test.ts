import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual, promisify } from 'node:util';
import { findFreePort } from '../../dev/processes/ports.ts';
import { VERSION } from '../../platform/version.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { type Program, startProgram } from '../faults/processes.ts';
import { startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

const run = promisify(execFile);

describe('WEIR_HEALTH_PORT', () => {
  let weir: Weir;
  let engine: TcpProxy;
  let worker: Program;
  let url: string;
  before(async () => {
    weir = await startWeir({ worker: false });
    engine = await startTcpProxy(`http://${process.env.TEST_TEMPORAL_ADDRESS ?? 'localhost:7233'}`);
    const port = await findFreePort();
    url = `http://127.0.0.1:${port}`;
    worker = await startProgram(weir, 'worker/worker.ts', {
      WEIR_HEALTH_PORT: String(port),
      TEMPORAL_ADDRESS: new URL(engine.url).host,
    });
  });
  after(async () => {
    await engine.restore();
    await worker.kill();
    await engine.close();
    await weir.stop();
  });

  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${url}${path}`, init);
    return { code: response.status, body: await response.text() };
  };
  /** Asks until the answer is this one: on a busy machine, other parts may seem away. */
  const until = (path: string, wanted: { code: number; body: object }) =>
    waitUntil(async () => {
      const { code, body } = await ask(path);
      return isDeepStrictEqual({ code, body: JSON.parse(body) }, wanted);
    });
  const probe = (path: string) => run(process.execPath, ['platform/process/probe.ts', `${url}${path}`]);

  it('has a worker that takes work say that it is ready', async () => {
    await until('/readyz', { code: 200, body: { status: 'ready', version: VERSION, build: null, away: {} } });
    await waitUntil(() =>
      probe('/readyz').then(
        () => true,
        () => false,
      ),
    );
  });

  it('answers only GET, and only what there is', async () => {
    assert.equal((await ask('/readyz', { method: 'POST', body: 'x' })).code, 405);
    for (const path of ['/', '/metrics', '/constructor', '/__proto__'])
      assert.equal((await ask(path)).code, 404, path);
  });

  it('names an engine that is silent: /readyz is 503, /healthz stays 200', async () => {
    engine.silence();
    const away = { engine: 'does not answer' };
    await until('/readyz', { code: 503, body: { status: 'not ready', version: VERSION, build: null, away } });
    assert.equal((await ask('/healthz')).code, 200);
    await assert.rejects(probe('/readyz'), { code: 1, stderr: /^503 .*does not answer/ });
    await engine.restore();
    await waitUntil(async () => (await ask('/readyz')).code === 200);
  });

  it('ends a worker in words whose port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    await assert.rejects(
      startProgram(weir, 'worker/worker.ts', { WEIR_HEALTH_PORT: String(port) }),
      new RegExp(`WEIR_HEALTH_PORT ${port} on 127.0.0.1 cannot be used: the port is taken`),
    );
    taken.close();
  });

  it('ends a worker in words whose namespace is not there', async () => {
    await assert.rejects(
      startProgram(weir, 'worker/worker.ts', { TEMPORAL_NAMESPACE: 'nosuch' }),
      /Temporal has no namespace nosuch: correct TEMPORAL_NAMESPACE, or create it\./,
    );
  });

  it('probes in words an address where nobody answers', async () => {
    const port = await findFreePort();
    await assert.rejects(
      run(process.execPath, ['platform/process/probe.ts', `http://127.0.0.1:${port}/readyz`]),
      {
        code: 1,
        stderr: /ECONNREFUSED/,
      },
    );
  });
});
