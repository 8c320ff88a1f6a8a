import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';
import timers from 'node:timers/promises';
import { ThreadStarved } from '../../../platform/json-schema/thread-pool.ts';
import { captureLog } from '../../capture-log.ts';
import { answer } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const block = { outputSchema: { type: 'object' } };
const tooLong = { keepAnswer: () => false };
const UNCHECKED = fails('INTERNAL_ERROR', /could not be checked against the outputSchema: the service was/);

describe('an answer whose check fails for the service’s own reason', () => {
  const harness = useAskModel();
  let log: ReturnType<typeof captureLog>;
  let checks: number;
  beforeEach(() => {
    checks = 0;
    log = captureLog();
    mock.method(timers, 'setTimeout', async () => undefined);
    syncBuiltinESMExports();
  });
  afterEach(() => {
    log.stop();
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  /** Has the checks fail that `isStarved`, by number. */
  function starve(isStarved: (check: number) => boolean) {
    const { validate } = harness;
    harness.validate = async (...asked) => {
      checks += 1;
      if (isStarved(checks)) throw new ThreadStarved();
      return validate(...asked);
    };
  }

  it('is checked again, and its model not asked again, where no later attempt would have it', async () => {
    harness.server.will(answer('{}'));
    starve((check) => check < 3);
    assert.deepEqual((await harness.call(block, undefined, tooLong)).output, {});
    assert.deepEqual([checks, harness.server.calls.length], [3, 1]);
  });

  it('ends its block after six tries, with what it used', async () => {
    harness.server.will(answer('{}'));
    starve(() => true);
    await assert.rejects(harness.call(block, undefined, tooLong), UNCHECKED);
    assert.deepEqual([checks, harness.server.calls.length, harness.usage.promptTokens], [6, 1, 10]);
    assert.deepEqual(
      log.lines.map(({ msg }) => msg),
      ['An answer could not be checked against its JSON Schema.'],
    );
  });

  it('ends its block also when it is a repair', async () => {
    harness.server.will(answer('no JSON'), answer('{}'));
    starve(() => true);
    await assert.rejects(harness.call(block), UNCHECKED);
    assert.deepEqual([checks, harness.server.calls.length, harness.usage.promptTokens], [6, 2, 20]);
  });

  it('is left to the next attempt where that has it', async () => {
    harness.server.will(answer('{}'));
    starve(() => true);
    await assert.rejects(harness.call(block), ThreadStarved);
    assert.equal(checks, 1);
  });

  it('is left to the next attempt when its worker stops', async () => {
    const stop = new AbortController();
    harness.server.will(answer('{}'));
    starve(() => {
      stop.abort();
      return true;
    });
    await assert.rejects(harness.call(block, stop.signal, tooLong), ThreadStarved);
  });
});
