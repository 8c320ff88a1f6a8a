import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { createModelSpeeds } from '../../../activities/model/model-speeds.ts';

const FAST_MS = 2_000;

describe('the speeds of models', () => {
  let now = 0;
  beforeEach(() => {
    now = 0;
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => mock.restoreAll());
  const speeds = () => {
    const created = createModelSpeeds(FAST_MS);
    const call = (ms: number, organization = 'a') =>
      created.measure(organization, 'demo/chat', async () => {
        now += ms;
      });
    return { ...created, call };
  };

  it('are unknown until a model has answered: it does not count as fast', async () => {
    const { isFast, call } = speeds();
    assert(!isFast('a', 'demo/chat'));
    await call(100);
    assert(isFast('a', 'demo/chat'));
    assert(!isFast('b', 'demo/chat'), 'another organization has other prompts');
  });

  it('are averages in which newer calls weigh more', async () => {
    const { isFast, call } = speeds();
    await call(100);
    await call(5_000);
    assert(isFast('a', 'demo/chat'));
    await call(5_000);
    await call(5_000);
    assert(!isFast('a', 'demo/chat'));
    for (let calls = 0; calls < 5; calls += 1) await call(100);
    assert(isFast('a', 'demo/chat'));
  });

  it('leave out calls that failed', async () => {
    const { isFast, measure } = speeds();
    await assert.rejects(measure('a', 'demo/chat', () => Promise.reject(new Error('refused'))));
    assert(!isFast('a', 'demo/chat'));
  });
});
