import assert from 'node:assert/strict';
import { CancelledFailure } from '@temporalio/activity';
import type { Attempt } from '../../activities/attempts/run-attempt.ts';
import { ConnectionFailed } from '../../db/connection/database-errors.ts';
import { listBlockRuns } from '../../db/runs/block-runs.ts';
import { intercepting, refuse, useAttempts } from './block-executor-harness.ts';

describe('a model call whose worker stops', () => {
  const harness = useAttempts();

  for (const [name, end] of [
    ['answer', () => 'yes'],
    ['refusal', refuse],
  ] as const)
    it(`leaves its ${name} to the next attempt when its worker ends while the database is away`, async () => {
      const stop = new AbortController();
      const away = intercepting(harness.database.db, async () => {
        stop.abort();
        throw new ConnectionFailed('unreachable', new Error('away'));
      });
      let kept: unknown;
      const keep = (value: object) => {
        kept = structuredClone(value);
        return true;
      };
      await assert.rejects(harness.attempt(1, away, end, { signal: stop.signal, keep }), ConnectionFailed);
      const next = harness.attempt(2, harness.database.db, () => 'other', { kept });
      if (name === 'answer') assert.deepEqual(await next, { ref: 'ask', json: 'yes', bytes: 5 });
      else await assert.rejects(next, { code: 'MODEL_REFUSED', message: 'I will not.' });
      assert.equal(harness.asked, 1);
      await harness.assertChargedOnce();
    });

  it('leaves its answer to the next attempt, and asks the database no more, when its worker stops before its turn to be charged', async () => {
    const stop = new AbortController();
    let kept: unknown;
    const keeping: Partial<Attempt> = {
      signal: stop.signal,
      keep(value) {
        kept = value;
        this.kept = value;
        return true;
      },
    };
    const stopped = new CancelledFailure('WORKER_SHUTDOWN');
    const answer = () => {
      stop.abort(stopped);
      return 'yes';
    };
    await assert.rejects(harness.attempt(1, harness.database.db, answer, keeping), stopped);
    assert.deepEqual(await listBlockRuns(harness.database.db, harness.callId), []);
    await harness.attempt(2, harness.database.db, () => 'other', { kept });
    assert.equal(harness.asked, 1);
    await harness.assertChargedOnce();
  });
});
