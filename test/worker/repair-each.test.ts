import assert from 'node:assert/strict';
import { GRPC } from '../../engine/grpc-code.ts';
import { repairEach } from '../../worker/repair-each.ts';

describe('rows that are repaired while the engine', () => {
  const repairWith = async (code: number) => {
    const error = Object.assign(new Error('refused'), { code, details: 'refused', metadata: {} });
    const failures = { count: 0 };
    const repaired = repairEach(['a', 'b'], String, () => Promise.reject(error), failures, undefined);
    return { failed: await repaired.catch((thrown) => thrown === error), counted: failures.count };
  };

  for (const name of ['cancelled', 'permissionDenied', 'unavailable', 'unauthenticated'] as const)
    it(`answers ${name} are not counted as failed, but left for later`, async () => {
      assert.deepEqual(await repairWith(GRPC[name]), { failed: true, counted: 0 });
    });

  it('refuses each of them are counted', async () => {
    assert.deepEqual(await repairWith(GRPC.invalidArgument), { failed: undefined, counted: 2 });
  });
});
