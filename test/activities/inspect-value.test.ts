import assert from 'node:assert/strict';
import { createInspectValue } from '../../activities/values/inspect-value.ts';
import { PermitRejected } from '../../platform/limits/fair-queue.ts';
import { ACTIVITY_BYTES_EACH } from '../../platform/limits/gates.ts';
import { attemptOf } from './attempt-of.ts';
import { createTestGates } from './test-gates.ts';

const LARGE_BYTES = 1024 * 1024;

describe('a look into a value of a run', () => {
  const gates = createTestGates();
  const inspect = createInspectValue({
    gates,
    loadContext: async () => ({ organizationId: 'acme' }) as never,
    resolve: async () => [1, 2, 3],
  });
  const look = (bytes: number, waitMaxMs: number) =>
    inspect('call', { ref: 'list', bytes }, { ...attemptOf(1), waitMaxMs }, (json) => json);

  it('acquires the bytes of a large value, and is rejected where it waits too long; a small one needs none', async () => {
    const permit = await gates.inputs.acquire('acme', { weight: ACTIVITY_BYTES_EACH });
    assert.deepEqual(await look(1_000, 0), [1, 2, 3]);
    await assert.rejects(look(LARGE_BYTES, 0), PermitRejected);
    const waiting = look(LARGE_BYTES, Infinity);
    permit.release();
    assert.deepEqual(await waiting, [1, 2, 3]);
    assert.equal(gates.inputs.count().weight, 0);
  });
});
