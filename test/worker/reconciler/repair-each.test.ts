import assert from 'node:assert/strict';
import { GRPC } from '../../../temporal/engine-errors.ts';
import { repairEach } from '../../../worker/reconciler/repair-each.ts';

describe('rows that are repaired while the engine', () => {
  const repairWith = async (code: number) => {
    const error = Object.assign(new Error('refused'), { code, details: 'refused', metadata: {} });
    const repaired = repairEach(['a', 'b'], String, () => Promise.reject(error), undefined);
    return repaired.then(({ count }) => ({ counted: count })).catch((thrown) => ({ left: thrown === error }));
  };

  for (const name of ['cancelled', 'permissionDenied', 'unavailable', 'unauthenticated'] as const)
    it(`answers ${name} are not counted as failed, but left for later`, async () => {
      assert.deepEqual(await repairWith(GRPC[name]), { left: true });
    });

  it('refuses each of them are counted', async () => {
    assert.deepEqual(await repairWith(GRPC.invalidArgument), { counted: 2 });
  });
});
