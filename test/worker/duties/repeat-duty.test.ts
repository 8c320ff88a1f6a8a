import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mock } from 'node:test';
import { ServiceError } from '@temporalio/client';
import { sql } from 'kysely';
import { ConnectionFailed } from '../../../db/connection/database-errors.ts';
import { deferDuty, takeDuty } from '../../../db/upkeep/duties.ts';
import { GRPC } from '../../../temporal/engine-errors.ts';
import { dutyInterval } from '../../../worker/duties/duty-interval.ts';
import { type Duty, repeatDuty } from '../../../worker/duties/repeat-duty.ts';
import { captureLog } from '../../capture-log.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';

describe('what workers do now and then', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('is done by one process at a time, and again when it is due', async () => {
    const { db } = database;
    const takes = await Promise.all(Array.from({ length: 5 }, () => takeDuty(db, 'one', 30)));
    assert.deepEqual(takes.filter(Boolean), [true]);
    await deferDuty(db, 'one', 0);
    assert.equal(await takeDuty(db, 'one', 30), true);
    assert.equal(await takeDuty(db, 'other', 30), true);
  });

  it('is due again at once when the clock of the database was set back', async () => {
    const { db } = database;
    await takeDuty(db, 'set back', 30);
    await sql`update duty set due_at = now() + interval '1 hour' where name = 'set back'`.execute(db);
    assert.equal(await takeDuty(db, 'set back', 30), true);
  });

  it('is taken over from a process that died with it', async () => {
    assert.equal(await takeDuty(database.db, 'left', 0), true);
    assert.equal(await takeDuty(database.db, 'left', 30), true);
  });

  it('goes on at once while there is more to do, and is left to others when it stops', async () => {
    const stopping = new AbortController();
    let looks = 0;
    const perform: Duty['perform'] = async () => {
      looks += 1;
      if (looks === 3) stopping.abort();
      return true;
    };
    const metrics = captureMetrics();
    await repeatDuty(database.db, { name: 'more', everyMs: 60_000, perform }, stopping.signal);
    assert.equal(looks, 3);
    assert.deepEqual(await metrics.read('weir.duty.completions'), { 'duty=more': 3 });
    assert.deepEqual(await metrics.read('weir.duty.failures'), { 'duty=more': 0 });
    metrics.stop();
    assert.equal(await takeDuty(database.db, 'more', 30), true);
  });

  it('is left to others by a process that may not do it', async () => {
    const stopping = new AbortController();
    const mayPerform = async () => {
      stopping.abort();
      return false;
    };
    const perform = () => assert.fail('It was done.');
    await repeatDuty(database.db, { name: 'not ours', everyMs: 1, mayPerform, perform }, stopping.signal);
    assert.equal(await takeDuty(database.db, 'not ours', 30), true);
  });

  it('tells the work that is under way to stop', async () => {
    const stopping = new AbortController();
    const perform: Duty['perform'] = async (signal) => {
      setImmediate(() => stopping.abort());
      await once(signal, 'abort');
      return true;
    };
    await repeatDuty(database.db, { name: 'long', everyMs: 60_000, perform }, stopping.signal);
  });

  /** Answers the lines logged while looks, each a minute later, fail with `failures` in turn, until the duty works again. */
  async function logOf(failures: Error[]): Promise<string[]> {
    const stopping = new AbortController();
    const lines: string[] = [];
    const { stop } = captureLog(({ msg, duty, reason, err }) => {
      lines.push([duty, msg, reason ?? (err as Error | undefined)?.stack].filter(Boolean).join(': '));
      if (msg === 'A duty works again.') stopping.abort();
    });
    let minutes = 0;
    const perform: Duty['perform'] = async () => {
      minutes += 1;
      const failure = failures.shift();
      if (failure) throw failure;
      return false;
    };
    try {
      const duty = { name: 'Failing', everyMs: 1, perform };
      await repeatDuty(database.db, duty, stopping.signal, () => minutes * 60_000);
    } finally {
      stop();
    }
    return lines;
  }

  it('is logged when it fails, once however often, and when it works again', async () => {
    const lines = await logOf(['a', 'a', 'a', 'b'].map((message) => new Error(message)));
    assert.deepEqual(
      lines.map((line) => line.split('\n')[0]),
      [
        'Failing: A duty failed, and is tried again.: Error: a',
        'Failing: A duty failed, and is tried again.: Error: b',
        'Failing: A duty works again.',
      ],
    );
    assert.match(lines[0] ?? '', /repeat-duty\.test/);
  });

  it('is logged again every ten minutes while it fails in the same way', async () => {
    const lines = await logOf(Array.from({ length: 25 }, () => new Error('a')));
    assert.equal(lines.filter((line) => line.includes('A duty failed')).length, 3);
  });

  it('is logged in one line, without a stack, when the engine refuses what it asks for', async () => {
    const refusal = new ServiceError('Failed to count workflows', { cause: new Error('no such query') });
    assert.deepEqual(await logOf([refusal]), [
      'Failing: A duty failed, and is tried again.: Failed to count workflows: no such query',
      'Failing: A duty works again.',
    ]);
  });

  it('is logged in the line of all duties when the engine or the database is away', async () => {
    const away = Object.assign(new Error('14 UNAVAILABLE'), {
      code: GRPC.unavailable,
      details: '',
      metadata: {},
    });
    const engine = new ServiceError('Failed to count workflows', { cause: away });
    // Another file of this process may have noted an outage lately: an hour later it is logged again.
    const { now } = performance;
    mock.method(performance, 'now', () => now.call(performance) + 3_600_000);
    const lines = await logOf([new ConnectionFailed('lost', new Error('cut')), engine, new Error('a')]);
    mock.restoreAll();
    assert.deepEqual(
      lines.map((line) => line.split('\n')[0]?.replace('still away.', 'away: what needs it fails or waits.')),
      [
        'The database is away: what needs it fails or waits.: The database is lost: cut',
        'The engine is away: what needs it fails or waits.: Failed to count workflows: 14 UNAVAILABLE',
        'Failing: A duty failed, and is tried again.: Error: a',
        'Failing: A duty works again.',
      ],
    );
  });

  for (const [tookMs, more, restMs] of [
    [10, false, 15_000],
    [2_000, false, 30_000],
    [3_600_000, false, 60_000],
    [300, true, 300],
    [3_600_000, true, 60_000],
  ] as const)
    it(`rests ${restMs} ms after ${tookMs} ms${more ? ' of work that goes on' : ''}: not all the time, and not for hours`, () =>
      assert.equal(dutyInterval(tookMs, more, 15_000), restMs));
});
