import assert from 'node:assert/strict';
import { logEngineLine } from '../../engine/log-engine-line.ts';
import { captureLog } from '../capture-log.ts';

describe('a line of the SDK in the log', () => {
  it('says why something failed', () => {
    const log = captureLog();
    try {
      const error = new Error('A payload is encrypted under the key 1, which is not in WEIR_TEMPORAL_KEYS.');
      const meta = { taskQueue: 'weir-flows', error };
      logEngineLine({ level: 'ERROR', message: 'Failed.', timestampNanos: 0n, meta });
      assert.equal(log.lines.length, 1);
      const { err, taskQueue } = log.lines[0] as unknown as { err: { message: string }; taskQueue: string };
      assert.deepEqual([err.message, taskQueue], [error.message, 'weir-flows']);
    } finally {
      log.stop();
    }
  });
});
