import assert from 'node:assert/strict';
import { Runtime } from '@temporalio/worker';
import { findFreePort } from '../../dev/processes/ports.ts';
import { installRuntime } from '../../temporal/install-runtime.ts';
import { startApiProcess } from '../faults/api-process.ts';
import { startWeir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

describe("the engine's SDK", () => {
  it('hands the lines of its native core over, instead of writing them beside the log', () => {
    installRuntime();
    assert.equal(Runtime.instance().options.runtimeOptions.logExporter.type, 'forward');
  });

  it('counts the requests of an API at its /metrics', async () => {
    const weir = await startWeir({ worker: false });
    const port = await findFreePort();
    const api = await startApiProcess(weir, { WEIR_METRICS_PORT: String(port) });
    try {
      await waitUntil(async () => {
        const response = await fetch(`http://127.0.0.1:${port}/metrics`);
        return /^temporal_request_total\{/m.test(await response.text());
      });
    } finally {
      await api.kill();
      await weir.stop();
    }
  });
});
