import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/activity';
import { runAhead } from '../../activities/run-ahead.ts';
import type { ProcessorType } from '../../flow/definition.ts';
import type { Unfinished } from '../../flow/ran-ahead.ts';
import { type BlockCall, BUSY, type NextBlock } from '../../flow/run.ts';
import type { Value } from '../../flow/value.ts';
import { inActivity } from './in-activity.ts';

type Reply = Value | Unfinished | Error;

const toNext = (stepId: string): NextBlock => ({
  stepId,
  blockKey: stepId,
  ends: false,
  processorType: stepId === 'code' || stepId === 'llm' ? stepId : 'passthrough',
});
const outputOf = (stepId: string): Value => ({ ref: stepId, json: stepId, bytes: 3 });

describe('the activity of a block that others follow', () => {
  /** Runs the activity of the block `a`; blocks that `replies` does not name complete. Returns its reply, and what it ran. */
  async function run(
    next: string[],
    replies: { [stepId: string]: Reply } = {},
    context: { attempt?: number; signal?: AbortSignal; type?: ProcessorType; losesWorkers?: boolean } = {},
  ) {
    const ran: [ProcessorType, Partial<BlockCall>][] = [];
    const process = (type: ProcessorType) => async (call: BlockCall) => {
      ran.push([type, call]);
      const reply = replies[call.stepId] ?? outputOf(call.stepId);
      if (reply instanceof Error) throw reply;
      return reply;
    };
    const { attempt = 1, signal: cancellationSignal = new AbortController().signal } = context;
    const activity = runAhead(
      {
        run: { llm: process('llm'), code: process('code'), passthrough: process('passthrough') },
        losesWorkers: async () => context.losesWorkers ?? false,
      },
      context.type ?? 'passthrough',
    );
    const call = { executionId: 'call', stepId: 'a', blockKey: 'a', input: { ref: 'i' }, ends: false };
    const reply = await inActivity({ info: { attempt }, cancellationSignal }, () =>
      activity({ ...call, historyLength: 30, next: next.map(toNext) }),
    );
    return { reply, ran, names: ran.map(([, { stepId }]) => stepId) };
  }

  it('runs them too, each on the output of the one before', async () => {
    const { reply, ran } = await run(['code', 'llm', 'c']);
    assert.deepEqual(reply, { outputs: ['a', 'code', 'llm', 'c'].map(outputOf) });
    assert.deepEqual(
      ran.map(([type, { executionId, blockKey, input }]) => [type, executionId, blockKey, input]),
      [
        ['passthrough', 'call', 'a', { ref: 'i' }],
        ['code', 'call', 'code', outputOf('a')],
        ['llm', 'call', 'llm', outputOf('code')],
        ['passthrough', 'call', 'c', outputOf('llm')],
      ],
    );
  });

  it('replies as for one block when no other has begun', async () => {
    assert.deepEqual((await run([])).reply, outputOf('a'));
    assert.deepEqual((await run(['code'], { a: BUSY })).reply, BUSY);
  });

  it('reports what has become of the first one for which there is no room, that goes on or that pauses', async () => {
    const paused = { step_id: 'llm', iterations: 1, tool_call_ids: ['t'] };
    for (const reply of [BUSY, { ...BUSY, at: 'queue' }, { paused }]) {
      const later = await run(['b', 'llm', 'c'], { llm: reply });
      assert.deepEqual(later.reply, {
        outputs: [outputOf('a'), outputOf('b')],
        unfinished: { blockKey: 'llm', reply },
      });
      assert.deepEqual(later.names, ['a', 'b', 'llm']);
    }
  });

  it('reports how one of them failed for good', async () => {
    const { reply, names } = await run(['code', 'c'], {
      code: ApplicationFailure.nonRetryable('It threw.', 'CODE_ERROR'),
    });
    assert.deepEqual(reply, {
      outputs: [outputOf('a')],
      failed: { blockKey: 'code', type: 'CODE_ERROR', message: 'It threw.' },
    });
    assert.deepEqual(names, ['a', 'code']);
  });

  it('leaves one whose failure may pass to an activity of its own, which repeats it', async () => {
    for (const failure of [ApplicationFailure.create({ message: 'away' }), new Error('away')])
      assert.deepEqual((await run(['code', 'c'], { code: failure })).reply, outputOf('a'));
  });

  it('fails itself when its own block does', async () => {
    const failure = ApplicationFailure.nonRetryable('It threw.', 'CODE_ERROR');
    await assert.rejects(run(['code'], { a: failure }), failure);
  });

  it('runs no other when it is repeated, since the number of its attempt would be theirs', async () => {
    const { reply, names } = await run(['code'], {}, { attempt: 2 });
    assert.deepEqual([reply, names], [outputOf('a'), ['a']]);
  });

  it('runs no other when workers are lost again and again, and no block that may be why', async () => {
    const losing = { losesWorkers: true };
    const model = await run(['code'], {}, { ...losing, type: 'llm' });
    assert.deepEqual([model.reply, model.names], [outputOf('a'), ['a']]);
    const code = await run(['llm'], {}, { ...losing, type: 'code' });
    assert.deepEqual([code.reply, code.names], [BUSY, []]);
  });

  it('begins no other when it is cancelled', async () => {
    const { names } = await run(['code'], {}, { signal: AbortSignal.abort() });
    assert.deepEqual(names, ['a']);
  });
});
