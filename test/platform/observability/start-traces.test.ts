import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { hasTraces } from '../../../platform/observability/start-telemetry.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('traces', () => {
  const cases: [NodeJS.ProcessEnv, boolean][] = [
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
    [{ OTEL_SERVICE_NAME: 'weir', OTEL_TRACES_SAMPLER: 'always_on' }, false],
    [ENDPOINT, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }, true],
    [{ OTEL_TRACES_EXPORTER: 'console' }, true],
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, false],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, false],
    [{ ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }, true],
  ];
  for (const [env, on] of cases)
    it(`are ${on ? 'on' : 'off'} with ${JSON.stringify(env)}`, () => assert.equal(hasTraces(env), on));

  it('load nothing of OpenTelemetry while they are off, and leave work as it is', async () => {
    const program = `
      import { createRequire } from 'node:module';
      import { startTraces } from './platform/observability/start-telemetry.ts';
      import { continueTrace, currentTrace, inSpan, isTracing, traceHeaders } from './platform/observability/tracing.ts';
      await startTraces('weir-test');
      const loaded = Object.keys(createRequire(process.cwd() + '/x.js').cache);
      const works = [await inSpan('test', { request: {} }, async () => 1), await continueTrace(null, async () => 2)];
      const off = [isTracing(), currentTrace() ?? null, traceHeaders()];
      console.log(JSON.stringify({ loaded: loaded.filter((file) => file.includes('@opentelemetry')), works, off }));
    `;
    // In a process of its own: other tests of this one may have loaded OpenTelemetry.
    const args = ['--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    assert.deepEqual(JSON.parse(stdout), { loaded: [], works: [1, 2], off: [false, null, {}] });
  });
});
