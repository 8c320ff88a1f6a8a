import assert from 'node:assert/strict';
import type { LogLevel } from '@temporalio/worker';
import { createEngineLog } from '../../temporal/install-runtime.ts';
import { captureLog } from '../capture-log.ts';

const RETRIES = { sdkComponent: 'core', target: 'temporalio_client::retry' };
const METRICS = { sdkComponent: 'core', target: 'temporalio_common::telemetry' };

describe('a line of the SDK in the log', () => {
  let log: ReturnType<typeof captureLog>;
  let now = 0;
  let write: (level: LogLevel, message: string, meta: Record<string, unknown>) => void;
  beforeEach(() => {
    log = captureLog();
    const writeEntry = createEngineLog(() => now);
    write = (level, message, meta) => writeEntry({ level, message, timestampNanos: 0n, meta });
  });
  afterEach(() => log.stop());

  it('says why something failed', () => {
    const error = new Error('A payload is encrypted under the key 1, which is not in WEIR_TEMPORAL_KEYS.');
    write('ERROR', 'Failed.', { taskQueue: 'weir-flows', error });
    assert.equal(log.lines.length, 1);
    const { err, taskQueue } = log.lines[0] as unknown as { err: { message: string }; taskQueue: string };
    assert.deepEqual([err.message, taskQueue], [error.message, 'weir-flows']);
  });

  it('is one a minute for the warnings from one place in its core', () => {
    for (let second = 0; second < 120; second += 1) {
      now = second * 1_000;
      write('WARN', 'A call was repeated.', { ...RETRIES, error: 'away' });
      if (second === 30) write('WARN', 'Metrics may be dropped.', METRICS);
    }
    assert.deepEqual(
      log.lines.map(({ level, msg, reason, suppressed }) => [level, msg, reason, suppressed]),
      [
        ['warn', 'A call was repeated.', 'away', 0],
        ['warn', 'Metrics may be dropped.', undefined, 0],
        ['warn', 'A call was repeated.', 'away', 59],
      ],
    );
  });

  it('is a warning for requests that are repeated, however often, and an error for what is one in its core', () => {
    for (let time = 0; time < 20; time += 1) write('ERROR', 'A call was retried 16 times.', RETRIES);
    write('ERROR', 'A fault.', METRICS);
    assert.deepEqual(
      log.lines.map(({ level, msg }) => [level, msg]),
      [
        ['warn', 'A call was retried 16 times.'],
        ['error', 'A fault.'],
      ],
    );
  });

  it('is an error each time for what is one in its core, also soon after a warning from the same place', () => {
    write('WARN', 'A task failed.', METRICS);
    write('ERROR', 'One fault.', METRICS);
    write('ERROR', 'Another.', METRICS);
    assert.deepEqual(
      log.lines.map(({ level, msg }) => [level, msg]),
      [
        ['warn', 'A task failed.'],
        ['error', 'One fault.'],
        ['error', 'Another.'],
      ],
    );
  });

  it('is none for a long workflow task', () => {
    write('WARN', '[TMPRL1104] 01a2:4:1 Workflow task duration exceeded 5 seconds.', RETRIES);
    assert.deepEqual(log.lines, []);
  });

  it('is none for the failure of a block or run, and has no fields of a warning but the place and the reason', () => {
    write('WARN', 'Activity failed', { sdkComponent: 'worker', error: new Error('content') });
    write('INFO', 'Started', RETRIES);
    write('WARN', 'A task fails.', { ...RETRIES, failure: 'content', error: 'x'.repeat(5_000) });
    assert.equal(log.lines.length, 1);
    assert.doesNotMatch(JSON.stringify(log.lines), /content/);
    assert.equal(String(log.lines[0]?.reason).length, 500);
  });
});
