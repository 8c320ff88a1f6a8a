import assert from 'node:assert/strict';
import type { Step } from '../../../console/flow/draft/steps.ts';
import { parseRunView } from '../../../console/runs/search.ts';
import {
  chosenExecution,
  keepUnderWay,
  listExecutions,
  nameExecution,
  topStepIndex,
} from '../../../console/runs/trace/executions.ts';
import { buildSpans, type Execution, stepStatuses } from '../../../console/runs/trace/spans.ts';

const FIRST = '6a1f0c52-3f0e-4b8e-9d57-0c6c8f1e2a34';
const SECOND = '0d0f6a5e-6f0b-4a43-8f6c-3f3a1f0f8a11';
const TIME = '2030-01-01T00:00:00.000Z';
const LATER = '2030-01-01T00:00:01.000Z';
const STEPS = [
  { type: 'sequential', step_id: 'a', name: 'A', processor_type: 'code' },
  {
    type: 'loop',
    step_id: 'loop',
    name: 'Loop',
    body: [{ type: 'sequential', step_id: 'b', name: 'B', processor_type: 'code' }],
  },
] as Step[];

describe('the block in the address', () => {
  it('is the last one with its key, or the one of a call', () => {
    const executions = [ran('a', FIRST), ran('a', SECOND), ran('b', FIRST)];
    assert.equal(chosenExecution(executions, { block: 'a' }), executions[1]);
    assert.equal(chosenExecution(executions, { block: 'a', call: FIRST }), executions[0]);
    assert.equal(chosenExecution(executions, { block: 'gone' }), undefined);
    assert.equal(chosenExecution(executions, {}), undefined);
  });

  it('is found by its own search parameters, whichever call executed it', () => {
    const executions = [ran('a', FIRST), ran('b', FIRST), ran('a', SECOND)];
    for (const execution of executions)
      assert.equal(chosenExecution(executions, nameExecution(executions, execution)), execution);
    assert.deepEqual(nameExecution(executions, executions[2] as Execution), { block: 'a' });
  });

  it('is dropped when it is invalid', () => {
    assert.deepEqual(parseRunView({ block: 'b#1', call: FIRST, view: 'graph' }), {
      block: 'b#1',
      call: FIRST,
      view: 'graph',
    });
    assert.deepEqual(parseRunView({ block: 12 }), { block: '12' });
    assert.deepEqual(parseRunView({ list: { flow: 'hello', version: 2, other: 1 } }), {
      list: { flow: 'hello', version: 2 },
    });
    for (const list of ['all', {}, { flow: '<script>' }])
      assert.deepEqual(parseRunView({ list }), { list: 'all' });
    for (const search of [
      { block: '' },
      { block: 'x'.repeat(1_001) },
      { block: {} },
      { call: 'x' },
      { view: 'x' },
    ])
      assert.deepEqual(parseRunView(search), {});
  });
});

describe('the block executions of a run', () => {
  it('are those that have ended and those under way, even of a block that ran before', () => {
    const paused = { ...ran('a', FIRST), status: 'paused' } as TracedBlock;
    const again = underWay('a', LATER);
    assert.deepEqual(listExecutions([paused], [again]), [paused, again]);
    assert.deepEqual(listExecutions([paused], [underWay('b', TIME)]).length, 2);
  });

  it('are listed once: what has ended meanwhile is not under way', () => {
    const ended = { ...ran('a', FIRST), finishedAt: LATER } as TracedBlock;
    // A later attempt begins after the block did.
    for (const startedAt of [TIME, LATER])
      assert.deepEqual(listExecutions([ended], [underWay('a', startedAt)]), [ended]);
  });
});

describe('a block execution that was under way', () => {
  const [a, again, b] = [underWay('a', TIME), underWay('a', LATER), underWay('b', TIME)];
  const before = keepUnderWay([], [a], 10, 5);

  it('is kept until a later list of ended executions', () => {
    const after = keepUnderWay(before, [b], 20, 15);
    assert.deepEqual(after, [
      { block: a, goneAt: 20 },
      { block: b, goneAt: Number.POSITIVE_INFINITY },
    ]);
    assert.deepEqual(keepUnderWay(after, [], 30, 19), [
      { block: a, goneAt: 20 },
      { block: b, goneAt: 30 },
    ]);
    assert.deepEqual(keepUnderWay(after, [], 30, 20), [{ block: b, goneAt: 30 }]);
  });

  it('is replaced by its later attempt', () => {
    assert.deepEqual(keepUnderWay(before, [again], 20, 5), [
      { block: again, goneAt: Number.POSITIVE_INFINITY },
    ]);
  });
});

describe('the graph of a run', () => {
  it('has each step with its number of executions, and a loop with its iterations', () => {
    const failed = { ...ran('b', FIRST, [1]), status: 'failed' } as Execution;
    const run = { executionId: FIRST, status: 'failed', startedAt: TIME, finishedAt: TIME };
    const root = buildSpans(run, STEPS, [ran('a', FIRST), ran('b', FIRST, [0]), failed], 0);
    const statuses = stepStatuses(root);
    assert.deepEqual(statuses.get('a'), { status: 'completed', count: 1, ms: 0, cost: 0.5 });
    assert.deepEqual(statuses.get('b'), { status: 'failed', count: 2, ms: 0, cost: 1 });
    assert.equal(statuses.get('loop')?.count, 2);
    assert.equal(statuses.get('loop')?.status, 'failed');
  });

  it('leads from a block to the top-level step from which a run is forked', () => {
    assert.deepEqual(
      ['a', 'loop', 'b', 'gone'].map((stepId) => topStepIndex(STEPS, stepId)),
      [0, 1, 1, undefined],
    );
  });
});

type TracedBlock = Extract<Execution, { callId: string }>;

function underWay(stepId: string, startedAt: string) {
  const block = { step_id: stepId, key: stepId, name: stepId, processor_type: 'code' as const };
  return { ...block, status: 'running' as const, startedAt, attempts: 1 };
}

function ran(stepId: string, callId: string, iterations?: number[]): Execution {
  return {
    step_id: stepId,
    key: [stepId, ...(iterations ?? [])].join('#'),
    ...(iterations && { iterations }),
    name: stepId,
    processor_type: 'code',
    status: 'completed',
    attempts: 1,
    model: null,
    usage: {
      promptTokens: 0,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: 0,
      reasoningTokens: 0,
      cost: 0.5,
      ms: 0,
    },
    callId,
    startedAt: TIME,
    finishedAt: TIME,
  };
}
