import assert from 'node:assert/strict';
import type { Step } from '../../../../console/flow/draft/steps.ts';
import {
  buildSpans,
  type Execution,
  pathToSpan,
  type Span,
  stepStatuses,
  visibleSpans,
} from '../../../../console/runs/trace/spans.ts';

const T0 = Date.parse('2030-01-01T00:00:00.000Z');
const RUN = { executionId: 'e', status: 'completed', startedAt: at(0), finishedAt: at(1_000) };

const STEPS = [
  block('first'),
  {
    type: 'loop',
    step_id: 'each',
    name: 'Each',
    body: [
      block('inner'),
      {
        type: 'parallel',
        step_id: 'both',
        name: 'Both',
        branches: { left: [block('a')], right: [block('b'), block('c')] },
      },
    ],
  },
  block('last'),
] as Step[];

describe('the spans of a run', () => {
  it('nest block executions in the loops, iterations, parallel steps and branches of the tree', () => {
    const root = buildSpans(
      RUN,
      STEPS,
      [
        ran('first', 10, 20),
        ran('inner', 30, 40, [0]),
        ran('a', 50, 90, [0]),
        ran('b', 51, 60, [0]),
        ran('c', 60, 70, [0]),
        ran('inner', 100, 110, [1]),
        ran('last', 120, 130),
      ],
      T0,
    );
    assert.deepEqual(outline(root), [
      'Run',
      ' first',
      ' Each',
      '  #0',
      '   inner',
      '   Both',
      '    left: a',
      '    right',
      '     b',
      '     c',
      '  inner #1',
      ' last',
    ]);
    const loop = root.children[1] as Span;
    assert.deepEqual([loop.start - T0, loop.end - T0, loop.count, loop.tokens], [30, 110, 5, 15]);
  });

  it('show waiting time: of branches from their common start, of other steps from the previous one', () => {
    const root = buildSpans(
      RUN,
      STEPS,
      [ran('first', 10, 20), ran('inner', 30, 40, [0]), ran('a', 50, 90, [0]), ran('b', 51, 60, [0])],
      T0,
    );
    const ready = (stepId: string) =>
      (pathToSpan(root, ({ execution }) => execution?.step_id === stepId)?.at(-1)?.ready ?? 0) - T0;
    assert.deepEqual(['first', 'inner', 'a', 'b'].map(ready), [0, 20, 40, 40]);
  });

  it('list block executions flat without a tree, those of an unknown step included', () => {
    const executions = [ran('first', 10, 20), ran('inner', 30, 40, [0]), ran('inner', 41, 50, [1])];
    assert.deepEqual(outline(buildSpans(RUN, undefined, executions, T0)), [
      'Run',
      ' first',
      ' inner',
      ' inner',
    ]);
    assert.deepEqual(outline(buildSpans(RUN, STEPS, [ran('gone', 1, 2)], T0)), ['Run', ' gone']);
  });

  it('distinguish the executions of a block in several calls of a session', () => {
    const again = { ...ran('first', 500, 600), callId: 'other' };
    const root = buildSpans(RUN, STEPS, [ran('first', 10, 20), again], T0);
    assert.equal(new Set(root.children.map(({ id }) => id)).size, 2);
  });

  it('keep the id of a block when it ends, so that it keeps the focus', () => {
    const underWay = { ...named('first'), status: 'running', startedAt: at(10), attempts: 1 } as Execution;
    const [before, after] = [underWay, ran('first', 10, 20)].map(
      (execution) => buildSpans(RUN, STEPS, [execution], T0).children[0],
    );
    assert.equal(before?.id, after?.id);
  });

  it('last until now while a block is under way, and are failed when one of them failed', () => {
    const underWay = { ...named('last'), status: 'retrying', startedAt: at(20), attempts: 2 } as Execution;
    const run = { ...RUN, status: 'started', finishedAt: null };
    const failed = { ...ran('inner', 30, 40, [0]), status: 'failed' } as Execution;
    const root = buildSpans(run, STEPS, [failed, underWay], T0 + 5_000);
    assert.equal(root.end - T0, 5_000);
    assert.equal(root.children.find(({ stepId }) => stepId === 'last')?.end, T0 + 5_000);
    assert.equal(root.children.find(({ stepId }) => stepId === 'each')?.status, 'failed');
  });

  it('are running until something after them begins, even when all known blocks completed', () => {
    const run = { ...RUN, status: 'started', finishedAt: null };
    const statuses = (...executions: Execution[]) =>
      visibleSpans(buildSpans(run, STEPS, executions, T0 + 5_000), new Set())
        .slice(1)
        .map(({ name, span }) => `${name} ${span.status}`);
    const begun = [ran('inner', 30, 40, [0]), ran('a', 50, 90, [0]), ran('b', 51, 60, [0])];
    assert.deepEqual(statuses(...begun), [
      'Each running',
      '#0 running',
      'inner completed',
      'Both running',
      'left: a completed',
      'right: b completed',
    ]);
    assert.deepEqual(statuses(...begun, ran('c', 61, 70, [0]), ran('inner', 100, 110, [1])), [
      'Each running',
      '#0 completed',
      'inner completed',
      'Both completed',
      'left: a completed',
      'right completed',
      'b completed',
      'c completed',
      'inner #1 completed',
    ]);
    assert.equal(statuses(...begun, ran('last', 120, 130))[0], 'Each completed');
  });

  it('call a cancelled run cancelled', () => {
    const root = buildSpans({ ...RUN, status: 'failed', outcome: 'cancelled' }, STEPS, [], T0);
    assert.equal(root.status, 'cancelled');
  });

  it('show a loop that failed before it ran any block, inside another loop too', () => {
    const run = { ...RUN, status: 'failed' };
    const root = buildSpans({ ...run, step_id: 'each' }, STEPS, [ran('first', 10, 20)], T0);
    assert.deepEqual(outline(root), ['Run', ' first', ' Each']);
    const loop = root.children[1] as Span;
    assert.deepEqual(
      [loop.kind, loop.status, loop.start - T0, loop.end - T0],
      ['loop', 'failed', 1_000, 1_000],
    );
    assert.equal(stepStatuses(root).get('each')?.status, 'failed');

    const nested = buildSpans({ ...run, step_id: 'both' }, STEPS, [ran('inner', 30, 40, [2])], T0);
    assert.deepEqual(outline(nested), ['Run', ' Each', '  #2', '   inner', '   Both']);
    assert.equal(nested.children[0]?.status, 'failed');
    const first = buildSpans({ ...run, step_id: 'both' }, STEPS, [], T0);
    assert.deepEqual(outline(first), ['Run', ' Each', '  Both #0']);
  });

  it('close long loops at first, and open and close what the user toggles', () => {
    const executions = Array.from({ length: 1_000 }, (_, index) => ran('inner', index, index + 1, [index]));
    const root = buildSpans(RUN, STEPS, executions, T0);
    assert.equal(visibleSpans(root, new Set()).length, 2);
    const loop = root.children[0] as Span;
    assert.equal(visibleSpans(root, new Set([loop.id])).length, 1_002);
    assert.equal(visibleSpans(root, new Set([root.id])).length, 1);
  });
});

function at(ms: number): string {
  return new Date(T0 + ms).toISOString();
}

function named(stepId: string) {
  return { step_id: stepId, key: stepId, name: stepId, processor_type: 'code' as const };
}

function block(stepId: string) {
  return { type: 'sequential', ...named(stepId) };
}

function ran(stepId: string, from: number, to: number, iterations?: number[]): Execution {
  return {
    ...named(stepId),
    key: [stepId, ...(iterations ?? [])].join('#'),
    ...(iterations && { iterations }),
    status: 'completed',
    attempts: 1,
    model: null,
    usage: {
      promptTokens: 1,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: 2,
      reasoningTokens: 0,
      cost: 0.5,
      ms: to - from,
    },
    callId: 'e',
    startedAt: at(from),
    finishedAt: at(to),
  };
}

function outline(root: Span): string[] {
  return visibleSpans(root, new Set()).map(({ name, depth }) => ' '.repeat(depth) + name);
}
