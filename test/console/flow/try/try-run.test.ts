import assert from 'node:assert/strict';
import type { Step } from '../../../../console/flow/draft/steps.ts';
import { applyRunEvent, applyRunState, applyStepEvent } from '../../../../console/flow/try/apply-event.ts';
import { beginRun, statusesOf, type TryRun } from '../../../../console/flow/try/try-run.ts';

const usage = { promptTokens: 3, completionTokens: 4, cost: 0.5, ms: 20 };
const ended = (key: string, status: string, more = {}) => {
  const [step_id = key] = key.split('#');
  return {
    key,
    step_id,
    name: step_id,
    processor_type: 'llm',
    status,
    attempts: 1,
    model: 'demo/chat',
    usage,
    ...more,
  };
};
const events = (apply: typeof applyRunEvent, run: TryRun, list: [string, object][]) =>
  list.reduce((state, [event, data]) => apply(state, { event, data }), run);

const code = (step_id: string) => ({ type: 'sequential', step_id, name: step_id, processor_type: 'code' });
const STEPS = [
  {
    type: 'loop',
    step_id: 'outer',
    name: 'Outer',
    body: [
      { type: 'parallel', step_id: 'both', name: 'Both', branches: { one: [code('a')], other: [code('b')] } },
    ],
  },
  { type: 'loop', step_id: 'later', name: 'Later', body: [code('c')] },
] as Step[];

describe('a run that is tried', () => {
  it('knows since when a block runs, through its retries', () => {
    const begun: [string, object] = ['block_started', { key: 'a', step_id: 'a', name: 'A' }];
    const since = (list: [string, object][]) => events(applyRunEvent, running, list).blocks[0]?.since;
    const started = {
      key: 'a',
      stepId: 'a',
      name: 'A',
      status: 'running' as const,
      since: '2026-11-23T02:20:30Z',
    };
    const running = { ...beginRun(0, 'whole', 0), blocks: [started] };
    assert.equal(
      since([['block_retrying', { ...begun[1], attempts: 1, errorMessage: 'busy' }]]),
      started.since,
    );
    assert.equal(since([['block_completed', ended('a', 'completed')]]), undefined);
    assert.notEqual(since([['block_completed', ended('a', 'completed')], begun]), undefined);
  });

  it('lists each block once, in the order of their starts, with its cost', () => {
    const run = events(applyRunEvent, beginRun(0, 'whole', 0), [
      ['run_started', {}],
      ['block_started', { key: 'a', step_id: 'a', name: 'A' }],
      ['block_started', { key: 'b#0', step_id: 'b', name: 'B' }],
      ['block_completed', ended('a', 'completed')],
      [
        'block_retrying',
        { key: 'b#0', step_id: 'b', name: 'B', attempts: 2, errorMessage: 'Too many requests.' },
      ],
      ['block_completed', ended('b#1', 'completed')],
    ]);
    assert.deepEqual(
      run.blocks.map(({ key, status, message }) => [key, status, message]),
      [
        ['a', 'completed', undefined],
        ['b#0', 'retrying', 'Too many requests.'],
        ['b#1', 'completed', undefined],
      ],
    );
    assert.deepEqual([run.status, run.cost], ['running', 1]);
  });

  it('ends with a result, with a failure and its block, or as cancelled', () => {
    const run = beginRun(1, 'whole', 0);
    const of = (state: object) =>
      applyRunState(run, { cost: 2, durationMs: 5, blocks: [], ...state } as never);
    assert.deepEqual(of({ status: 'completed', result: [1] }).result, [1]);
    const failed = of({
      status: 'failed',
      code: 'CODE_ERROR',
      errorMessage: 'x is not defined',
      step_id: 'a',
    });
    assert.deepEqual(
      [failed.status, failed.failure],
      ['failed', { message: 'x is not defined', code: 'CODE_ERROR', stepId: 'a' }],
    );
    assert.equal(of({ status: 'failed', code: 'CANCELLED', errorMessage: 'Cancelled.' }).status, 'cancelled');
  });

  it('gives each step the most urgent status of its blocks, their number, and the sums', () => {
    const run = events(applyRunEvent, beginRun(0, 'whole', 0), [
      ['block_completed', ended('a#0', 'completed')],
      ['block_failed', ended('a#1', 'failed', { errorMessage: 'no' })],
      ['block_started', { key: 'b', step_id: 'b', name: 'B' }],
    ]);
    assert.deepEqual(statusesOf(run, STEPS).get('a'), { status: 'failed', count: 2, ms: 40, cost: 1 });
    assert.equal(statusesOf(run, STEPS).get('b')?.status, 'running');
    assert.equal(statusesOf({ ...run, status: 'failed' }, STEPS).get('b')?.status, 'cancelled');
  });

  it('gives an enclosing step the most urgent status of its inner steps', () => {
    const run = events(applyRunEvent, beginRun(0, 'whole', 0), [
      ['block_failed', ended('a#1', 'failed', { errorMessage: 'no' })],
      ['block_completed', ended('b#1', 'completed')],
    ]);
    const statuses = statusesOf(run, STEPS);
    assert.deepEqual(
      ['outer', 'both', 'later'].map((id) => statuses.get(id)?.status),
      ['failed', 'failed', undefined],
    );
  });

  it('marks the steps around the latest block as running until the run ends, because a loop may begin again', () => {
    const begun = { ...beginRun(0, 'whole', 0), status: 'running' } as const;
    const run = events(applyRunEvent, begun, [['block_completed', ended('a#0', 'completed')]]);
    const of = (run: TryRun) => ['outer', 'both', 'a'].map((id) => statusesOf(run, STEPS).get(id)?.status);
    assert.deepEqual(of(run), ['running', 'running', 'completed']);
    const later = events(applyRunEvent, run, [['block_completed', ended('c#0', 'completed')]]);
    assert.deepEqual(of(later), ['completed', 'completed', 'completed']);
    assert.deepEqual(of({ ...run, status: 'completed' }), ['completed', 'completed', 'completed']);
    // In step mode, the output of the loop says that it has ended.
    assert.equal(of({ ...run, outputs: { outer: [1] } })[0], 'completed');
  });

  it('marks a step that failed by itself, although its inner steps completed', () => {
    const run = events(applyRunEvent, beginRun(0, 'whole', 0), [
      ['block_completed', ended('a#0', 'completed')],
      ['block_completed', ended('b#0', 'completed')],
    ]);
    const failure = { message: 'Too large.', code: 'OUTPUT_TOO_LARGE', stepId: 'both' };
    const statuses = statusesOf({ ...run, status: 'failed', failure }, STEPS);
    assert.deepEqual(
      ['outer', 'both', 'a', 'b'].map((id) => statuses.get(id)?.status),
      ['failed', 'failed', 'completed', 'completed'],
    );
  });

  describe('a session, step by step', () => {
    const first: [string, object][] = [
      [
        'run_started',
        { executionId: 'run', steps: [{ index: 0, step_id: 'each', name: 'Each', type: 'loop' }] },
      ],
      ['block_started', { stepId: 'each', stepIndex: 0, name: 'Each', type: 'loop' }],
      ['block_completed', { stepId: 'a', key: 'a#0', output: 1, blocks: [ended('a#0', 'completed')] }],
      ['block_completed', { stepId: 'each', output: [1], blocks: [ended('a#0', 'completed')] }],
    ];

    it('keeps the outputs of steps, not those of blocks inside them, and waits at the next step', () => {
      const run = events(applyStepEvent, beginRun(0, 'steps', 0), [
        ...first,
        ['step_paused', { nextStepIndex: 1 }],
      ]);
      assert.deepEqual(
        [run.executionId, run.outputs, run.status, run.nextIndex],
        ['run', { each: [1] }, 'waiting', 1],
      );
      assert.deepEqual(
        run.blocks.map(({ key }) => key),
        ['a#0'],
      );
    });

    it('waits for tool results at the step that asks for them', () => {
      const pause = { stepId: 'ask', stepIndex: 1, toolCalls: [{ id: 'x' }] };
      const run = events(applyStepEvent, beginRun(0, 'steps', 0), [
        ...first,
        ['block_started', { stepId: 'ask', stepIndex: 1, name: 'Ask', type: 'sequential' }],
        ['step_paused_for_tool_calls', pause],
      ]);
      assert.deepEqual([run.status, run.nextIndex, run.pause], ['tools', 1, pause]);
      assert.equal(statusesOf(run, STEPS).get('ask')?.status, 'paused');
    });
  });
});
