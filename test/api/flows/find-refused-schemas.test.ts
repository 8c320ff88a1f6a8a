import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { findRefusedSchemas } from '../../../api/flows/draft-problems.ts';
import { RetryLater } from '../../../api/http/request-errors.ts';
import { LARGE_BYTES, type LargeWork } from '../../../platform/limits/large-work.ts';
import { passthrough } from '../../blocks.ts';

const ENDLESS = { $ref: '#' };

describe('the JSON Schemas of a stored flow', () => {
  afterEach(() => {
    mock.restoreAll();
  });

  /** Looks at them; `msEach` pass between two looks at the clock. */
  async function look(schemas: object[], msEach: number) {
    let now = 0;
    mock.method(performance, 'now', () => {
      now += msEach;
      return now;
    });
    const turns: { owner: string; bytes: number; open: boolean }[] = [];
    const work: LargeWork = {
      async take(owner, bytes) {
        assert.ok(
          turns.every(({ open }) => !open),
          'one turn at a time',
        );
        const turn = { owner, bytes, open: true };
        turns.push(turn);
        return () => {
          turn.open = false;
        };
      },
    };
    const steps = schemas.map((inputSchema, index) =>
      passthrough(`s${index}`, { inputSchema: inputSchema as Record<string, never> }),
    );
    const problems = await findRefusedSchemas(work, 'acme', { steps });
    return { paths: problems.map(({ path }) => path), turns };
  }

  it('are looked at for some milliseconds at a time, in turns of their organization at large work', async () => {
    const schemas = Array.from({ length: 8 }, (_, index) => ({ title: String(index) }));
    const { paths, turns } = await look(schemas, 6);
    assert.deepEqual(paths, []);
    assert.ok(turns.length > 2, String(turns.length));
    for (const turn of turns) assert.deepEqual(turn, { owner: 'acme', bytes: LARGE_BYTES, open: false });
  });

  it('are not taken for refused when a turn does not come', async () => {
    let now = 0;
    mock.method(performance, 'now', () => {
      now += 6;
      return now;
    });
    const work: LargeWork = {
      take: () => Promise.reject(new RetryLater('RATE_LIMITED', 'try again')),
    };
    const steps = Array.from({ length: 8 }, (_, index) => passthrough(`s${index}`, { inputSchema: {} }));
    await assert.rejects(findRefusedSchemas(work, 'acme', { steps }), { code: 'RATE_LIMITED' });
  });

  it('are looked at no longer once their caller has gone', async () => {
    let now = 0;
    mock.method(performance, 'now', () => {
      now += 6;
      return now;
    });
    const caller = new AbortController();
    const work: LargeWork = {
      async take(_owner, _bytes, { signal } = {}) {
        caller.abort();
        signal?.throwIfAborted();
        return () => undefined;
      },
    };
    const steps = Array.from({ length: 8 }, (_, index) => passthrough(`s${index}`, { inputSchema: {} }));
    const looked = findRefusedSchemas(work, 'acme', { steps }, () => caller.signal);
    await assert.rejects(looked, { code: 'REQUEST_TIMEOUT' });
  });

  it('take no turn where they are looked at within moments', async () => {
    const { paths, turns } = await look([{}, ENDLESS, {}, ENDLESS], 0);
    assert.deepEqual(paths, [
      ['steps', 1, 'inputSchema'],
      ['steps', 3, 'inputSchema'],
    ]);
    assert.deepEqual(turns, []);
  });
});
