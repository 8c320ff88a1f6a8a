import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { hasTraces, startTelemetry } from '../../observability/start-telemetry.ts';
import { continueTrace, currentTrace, inSpan, isTracing, traceHeaders } from '../../observability/tracing.ts';

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
    const telemetry = await startTelemetry('weir-test');
    const { cache } = createRequire(import.meta.url);
    const loaded = Object.keys(cache).filter((file) => file.includes('@opentelemetry'));
    assert.deepEqual(loaded, []);
    assert.equal(isTracing(), false);
    assert.equal(await inSpan('test', { request: {} }, async () => 1), 1);
    assert.equal(await continueTrace(null, async () => 2), 2);
    assert.deepEqual([currentTrace(), traceHeaders()], [undefined, {}]);
    await telemetry.shutdown();
  });
});
