import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/activity';
import { runAhead } from '../../activities/run-ahead.ts';
import type { InTaskType } from '../../flow/plan.ts';
import { type BlockCall, BUSY, type Busy, type NextBlock } from '../../flow/run.ts';
import type { Value } from '../../flow/value.ts';
import { inActivity } from './in-activity.ts';

type Reply = Value | Busy | Error;

const toNext = (stepId: string): NextBlock => ({
  stepId,
  blockKey: stepId,
  ends: false,
  processorType: stepId.startsWith('code') ? 'code' : 'passthrough',
});
const outputOf = (stepId: string): Value => ({ ref: stepId, json: stepId, bytes: 3 });

describe('the activity of a block that others follow', () => {
  /** Runs the activity of the block `a`; blocks that `replies` does not name complete. Returns its reply, and what it ran. */
  async function run(
    next: string[],
    replies: { [stepId: string]: Reply } = {},
    context: { attempt?: number; signal?: AbortSignal } = {},
  ) {
    const ran: [InTaskType, Partial<BlockCall>][] = [];
    const process = (type: InTaskType) => async (call: BlockCall) => {
      ran.push([type, call]);
      const reply = replies[call.stepId] ?? outputOf(call.stepId);
      if (reply instanceof Error) throw reply;
      return reply;
    };
    const activity = runAhead({ code: process('code'), passthrough: process('passthrough') }, 'passthrough');
    const call = { executionId: 'call', stepId: 'a', blockKey: 'a', input: { ref: 'i' }, ends: false };
    const { attempt = 1, signal: cancellationSignal = new AbortController().signal } = context;
    const reply = await inActivity({ info: { attempt }, cancellationSignal }, () =>
      activity({ ...call, next: next.map(toNext) }),
    );
    return { reply, ran, names: ran.map(([, { stepId }]) => stepId) };
  }

  it('runs them too, each on the output of the one before', async () => {
    const { reply, ran } = await run(['code', 'c']);
    assert.deepEqual(reply, { outputs: [outputOf('a'), outputOf('code'), outputOf('c')] });
    assert.deepEqual(
      ran.map(([type, { executionId, blockKey, input }]) => [type, executionId, blockKey, input]),
      [
        ['passthrough', 'call', 'a', { ref: 'i' }],
        ['code', 'call', 'code', outputOf('a')],
        ['passthrough', 'call', 'c', outputOf('code')],
      ],
    );
  });

  it('replies as for one block when no other has run', async () => {
    assert.deepEqual((await run([])).reply, outputOf('a'));
    assert.deepEqual((await run(['code'], { code: BUSY })).reply, outputOf('a'));
  });

  it('leaves the rest to other activities from the first one on for which there is no room', async () => {
    const { reply, names } = await run(['code', 'c'], { a: BUSY });
    assert.deepEqual([reply, names], [BUSY, ['a']]);
    const later = await run(['b', 'code', 'c'], { code: BUSY });
    assert.deepEqual(later.reply, { outputs: [outputOf('a'), outputOf('b')] });
    assert.deepEqual(later.names, ['a', 'b', 'code']);
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

  it('begins no other when it is cancelled', async () => {
    const { names } = await run(['code'], {}, { signal: AbortSignal.abort() });
    assert.deepEqual(names, ['a']);
  });
});
