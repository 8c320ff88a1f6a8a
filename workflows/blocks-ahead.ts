import { ApplicationFailure } from '@temporalio/workflow';
import { BLOCK_RUNS_MAX } from '../flow/limits.ts';
import { blockKey, mapFollowing, type PlannedBlock, type PlannedStep } from '../flow/plan.ts';
import { hasRunAhead, type RanAhead, type Unfinished } from '../flow/ran-ahead.ts';
import type { NextBlock } from '../flow/run.ts';
import { isLeaf, type Value } from '../flow/value.ts';

/** Blocks that the activity of an earlier one may run too: what they put out is in one event of the history. */
const AHEAD_MAX = 9;

/** Keeps what the activities of a call's blocks have run of the blocks that follow them. */
export function createBlocksAhead(steps: PlannedStep[], lastBlock: PlannedBlock | undefined) {
  const following = mapFollowing(steps, AHEAD_MAX);
  const replies = new Map<string, Value | Unfinished | ApplicationFailure>();
  let begun = 0;
  return {
    /** Notes that a block begins. Returns its reply, or throws its failure, when the activity of an earlier one has begun it. */
    take(key: string): Value | Unfinished | undefined {
      begun += 1;
      const reply = replies.get(key);
      replies.delete(key);
      if (reply instanceof ApplicationFailure) throw reply;
      return reply;
    },

    /** Lists the blocks that the activity of the block that begins may run too. */
    list(block: PlannedBlock, iterations: number[]): NextBlock[] {
      const next = following.get(block)?.slice(0, BLOCK_RUNS_MAX - begun) ?? [];
      return next.map((other) => ({
        stepId: other.step_id,
        blockKey: blockKey(other.step_id, iterations),
        ends: other === lastBlock,
        processorType: other.processor_type,
      }));
    },

    /** Returns the reply of the block whose activity replied, and keeps those of the others until they are taken. */
    unpack<Reply extends object>(reply: Reply | RanAhead): Reply | Value {
      if (!hasRunAhead(reply)) return reply;
      const [own, ...outputs] = reply.outputs;
      for (const output of outputs) if (isLeaf(output)) replies.set(output.ref, output);
      const { failed, unfinished } = reply;
      if (failed) replies.set(failed.blockKey, ApplicationFailure.nonRetryable(failed.message, failed.type));
      if (unfinished) replies.set(unfinished.blockKey, unfinished.reply);
      return own as Value;
    },
  };
}
