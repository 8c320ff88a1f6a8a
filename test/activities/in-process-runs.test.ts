import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import type { RunContext } from '../../db/runs/runs.ts';
import type { Permit } from '../../platform/limits/fair-queue.ts';

describe('the end of a run', () => {
  it('is told to any number of callers, without a warning about a leak', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const { ends } = createInProcessRuns();
    const waiting = Promise.all(Array.from({ length: 30 }, () => once(ends, 'run')));
    // Warnings are told in a tick of their own.
    await new Promise((resolve) => setImmediate(resolve));
    ends.emit('run', {
      status: 'failed',
      error: { code: 'CANCELLED', message: 'cancelled', reason: 'error' },
    });
    assert.equal((await waiting).length, 30);
    process.off('warning', note);
    assert.deepEqual(warnings, []);
  });

  it('releases the permit of a run that ends or waits, once, and holds none of a repeated request', () => {
    const freed: string[] = [];
    const { holdPermit, releasePermit, end } = createInProcessRuns();
    const permit = (name: string) => ({ release: () => freed.push(name) }) as unknown as Permit;
    holdPermit('ends', permit('ends'));
    holdPermit('waits', permit('waits'));
    holdPermit('waits', permit('repeated'));
    releasePermit('waits');
    end('ends', { status: 'completed', result: { ref: 'a', bytes: 1 } });
    end('waits', { status: 'completed', result: { ref: 'a', bytes: 1 } });
    assert.deepEqual(freed, ['waits', 'ends']);
  });
});

describe('the contexts of calls whose end this process does not see', () => {
  const contextOf = (completed: Set<string> = new Set()) =>
    ({ input: { message: '', parameters: {}, block_overrides: {} }, completed }) as unknown as RunContext;

  it('are at most 2,000: those that were used last', () => {
    const { contexts } = createInProcessRuns();
    for (let call = 0; call <= 2_000; call += 1) contexts.set(`call-${call}`, contextOf());
    assert.equal(contexts.size, 2_000);
    assert.equal(contexts.has('call-0'), false);
  });

  it('are fewer where they have many completed blocks', () => {
    const { contexts } = createInProcessRuns();
    const completed = new Set(Array.from({ length: 2_000 }, (_, index) => `loop#${index}/${'x'.repeat(60)}`));
    for (let call = 0; call < 500; call += 1) contexts.set(`call-${call}`, contextOf(completed));
    assert.ok(contexts.size < 300, `${contexts.size} contexts`);
  });

  it('grow with each block that is completed, once', () => {
    const { contexts, complete } = createInProcessRuns();
    const context = contextOf();
    contexts.set('call', context);
    const sizes = ['first', 'first', 'second'].map((blockKey) => {
      complete('call', blockKey);
      return contexts.calculatedSize;
    });
    assert.equal(sizes[0], sizes[1]);
    assert.ok((sizes[2] as number) > (sizes[1] as number));
    assert.equal(contexts.get('call'), context);
    assert.deepEqual([...context.completed], ['first', 'second']);
    complete('gone', 'first');
    assert.equal(contexts.has('gone'), false);
  });
});
