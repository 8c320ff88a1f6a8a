import assert from 'node:assert/strict';
import { retryInPlace } from '../../../activities/attempts/retry-in-place.ts';
import { BlockRecorded } from '../../../db/credits/reservations.ts';
import { ServiceError } from '../../../flow/errors.ts';

describe('a part of an attempt that is retried in place', () => {
  const attempt = { isLocal: true, signal: new AbortController().signal };

  it('is repeated with the number of earlier tries, until it succeeds', async () => {
    const tries: number[] = [];
    const result = await retryInPlace(async (failed) => {
      tries.push(failed);
      if (failed < 2) throw new Error('Connection terminated unexpectedly');
      return 'written';
    }, attempt);
    assert.deepEqual([result, tries], ['written', [0, 1, 2]]);
  });

  for (const [why, error] of [
    ['another attempt has recorded its block', new BlockRecorded('The block is recorded.')],
    ['it fails with an error for callers', new ServiceError('CANCELLED', 'The run has ended.')],
  ] as const)
    it(`is not repeated when ${why}`, async () => {
      let tries = 0;
      const part = async () => {
        tries += 1;
        throw error;
      };
      await assert.rejects(retryInPlace(part, attempt), error);
      assert.equal(tries, 1);
    });
});
