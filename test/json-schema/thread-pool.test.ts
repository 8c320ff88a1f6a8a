import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { createThreadPool } from '../../json-schema/thread-pool.ts';
import { countThreads } from '../count-threads.ts';

describe('the threads that check JSON Schemas', () => {
  it('end when nobody has asked them for a while, and not before', async () => {
    const check = async (idleMaxMs?: number) => {
      const pool = createThreadPool({ idleMaxMs });
      for (let schemas = 0; schemas < 3; schemas += 1) {
        const request = { schema: '{}', value: '1' };
        assert.deepEqual(await pool.run('acme', request, { isBrief: false }), { problems: [] });
        await setTimeout(20);
      }
      await pool.close();
    };
    assert.equal(await countThreads(() => check(1)), 3);
    assert.equal(await countThreads(check), 1);
  });
});
