import assert from 'node:assert/strict';
import { setImmediate, setTimeout } from 'node:timers/promises';
import {
  createThreadPool,
  type ThreadPool,
  ThreadStarved,
  ThreadStopped,
} from '../../../platform/json-schema/thread-pool.ts';
import { countThreads } from '../../count-threads.ts';

const VALID = { problems: [] };

describe('the threads that check JSON Schemas', () => {
  it('end when nobody has asked them for a while, and not before', async () => {
    const check = async (idleMaxMs?: number) => {
      const pool = createThreadPool({ idleMaxMs });
      for (let schemas = 0; schemas < 3; schemas += 1) {
        const request = { schema: '{}', value: '1' };
        assert.deepEqual(await pool.run('acme', request), VALID);
        await setTimeout(20);
      }
      await pool.close();
    };
    assert.equal(await countThreads(() => check(1)), 3);
    assert.equal(await countThreads(check), 1);
  });

  const program = new URL('idle-thread.ts', import.meta.url);
  const ask = (pool: ThreadPool, organization: string, value: string) =>
    pool.run(organization, { schema: '{}', value });

  it('take the requests of an organization in turn; another starts when one has waited too long', async () => {
    const patient = createThreadPool({ busyMaxMs: 60_000 });
    const asking = () => Promise.all([ask(patient, 'acme', '1'), ask(patient, 'acme', '2')]);
    assert.equal(await countThreads(async () => assert.deepEqual(await asking(), [VALID, VALID])), 1);
    await patient.close();

    const pool = createThreadPool({ program, busyMaxMs: 1 });
    const askingInVain = async () => {
      const unanswered = assert.rejects(ask(pool, 'acme', '"never"'), /is closed/);
      assert.deepEqual(await ask(pool, 'acme', '"late"'), VALID);
      await pool.close();
      await unanswered;
    };
    assert.equal(await countThreads(askingInVain), 2);
  });

  it('start at once for an organization that has none, whoever keeps the others busy', async () => {
    const pool = createThreadPool({ program, busyMaxMs: 60_000 });
    const unanswered = assert.rejects(ask(pool, 'acme', '"never"'), /is closed/);
    assert.deepEqual(await ask(pool, 'globex', '"late"'), VALID);
    await pool.close();
    await unanswered;
  });

  it('are waited for, past their deadline, while the machine gives them no processor', async () => {
    const patient = createThreadPool({ program });
    assert.deepEqual(await ask(patient, 'acme', '"late"'), VALID);
    await patient.close();
  });

  it('are given up when they got no processor at as many looks as there may be', async () => {
    const pool = createThreadPool({ program, looksMax: 1 });
    await assert.rejects(ask(pool, 'acme', '"never"'), ThreadStarved);
    await pool.close();
  });

  it('fail only the request for which the system allows no more threads', async () => {
    const allowed = new URL(program);
    const pool = createThreadPool({ program: allowed, busyMaxMs: 1 });
    const unanswered = assert.rejects(ask(pool, 'acme', '"never"'), /is closed/);
    await setImmediate();
    allowed.href = 'http://127.0.0.1/';
    const refused = { code: 'ERR_INVALID_URL_SCHEME' };
    await assert.rejects(ask(pool, 'globex', '1'), refused);
    await assert.rejects(ask(pool, 'acme', '2'), refused);
    await pool.close();
    await unanswered;
  });

  it('serve a request at once that waited for one that was ended', async () => {
    const pool = createThreadPool({ busyMaxMs: 60_000 });
    const objects = JSON.stringify(Array.from({ length: 30_000 }, (_, n) => ({ n })));
    const slow = { schema: '{"uniqueItems":true}', value: objects };
    const ended = assert.rejects(pool.run('acme', slow), ThreadStopped);
    const asked = ask(pool, 'acme', '1');
    await ended;
    assert.deepEqual(await asked, VALID);
    await pool.close();
  });

  it('reject the requests that wait when the pool closes', async () => {
    const pool = createThreadPool({ program, busyMaxMs: 60_000 });
    const asked = ['"never"', '"late"'].map((value) => assert.rejects(ask(pool, 'acme', value), /is closed/));
    await setImmediate();
    await pool.close();
    await Promise.all(asked);
  });
});
