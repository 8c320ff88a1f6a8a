import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { createThreadPool } from '../../json-schema/thread-pool.ts';
import { countThreads } from '../count-threads.ts';

const VALID = { problems: [] };

describe('the threads that check JSON Schemas', () => {
  it('end when nobody has asked them for a while, and not before', async () => {
    const check = async (idleMaxMs?: number) => {
      const pool = createThreadPool({ idleMaxMs });
      for (let schemas = 0; schemas < 3; schemas += 1) {
        const request = { schema: '{}', value: '1' };
        assert.deepEqual(await pool.run('acme', request, { isBrief: false }), VALID);
        await setTimeout(20);
      }
      await pool.close();
    };
    assert.equal(await countThreads(() => check(1)), 3);
    assert.equal(await countThreads(check), 1);
  });

  it('serve several requests one after the other, and are more only where one keeps the others waiting', async () => {
    const request = { schema: '{}', value: '1' };
    const pool = createThreadPool({ busyMaxMs: 60_000 });
    const ask = () => pool.run('acme', request, { isBrief: false });
    const asked = countThreads(async () =>
      assert.deepEqual(await Promise.all([ask(), ask()]), [VALID, VALID]),
    );
    assert.equal(await asked, 1);
    await pool.close();

    const program = new URL('idle-thread.ts', import.meta.url);
    const busy = createThreadPool({ program, busyMaxMs: 1 });
    const asking = async () => {
      const unanswered = assert.rejects(
        busy.run('acme', { ...request, value: '"never"' }, { isBrief: false }),
      );
      assert.deepEqual(await busy.run('acme', { ...request, value: '"late"' }, { isBrief: false }), VALID);
      await busy.close();
      await unanswered;
    };
    assert.equal(await countThreads(asking), 2);
  });

  it('leave nobody waiting when they end', async () => {
    const pool = createThreadPool({ program: new URL('idle-thread.ts', import.meta.url), busyMaxMs: 60_000 });
    const ask = () =>
      assert.rejects(pool.run('acme', { schema: '{}', value: '"never"' }, { isBrief: false }), /is closed/);
    const asked = [ask(), ask()];
    await setTimeout(20);
    await pool.close();
    await Promise.all(asked);
  });
});
