import assert from 'node:assert/strict';
import { findFreePort } from '../../observability/metrics/engine-metrics.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { startApiProcess } from '../faults/api-process.ts';
import { type Program, startProgram } from '../faults/processes.ts';
import { startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

describe("the engine's SDK", () => {
  let weir: Weir;
  let engine: TcpProxy;
  let program: Program | undefined;
  before(async () => {
    weir = await startWeir({ worker: false });
    engine = await startTcpProxy(`http://${process.env.TEST_TEMPORAL_ADDRESS}`);
  });
  afterEach(() => program?.kill());
  after(async () => {
    await engine.close();
    await weir.stop();
  });

  it('counts the requests of an API at its /metrics', async () => {
    const port = await findFreePort();
    program = await startApiProcess(weir, { WEIR_METRICS_PORT: String(port) });
    await waitUntil(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      return /^temporal_request_total\{/m.test(await response.text());
    });
  });

  it('writes lines like all others to the log', async () => {
    program = await startProgram(weir, 'worker/worker.ts', { TEMPORAL_ADDRESS: new URL(engine.url).host });
    await engine.refuse();
    const lines = await waitUntil(() => {
      const lines = program?.errors().split('\n').slice(0, -1) ?? [];
      return lines.some((line) => line.includes('temporalio')) && lines;
    });
    for (const line of lines) assert.equal(typeof JSON.parse(line).msg, 'string', line);
  }).timeout(300_000);
});
