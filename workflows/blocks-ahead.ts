import { ApplicationFailure } from '@temporalio/workflow';
import { BLOCK_RUNS_MAX } from '../flow/limits.ts';
import { blockKey, mapFollowing, type PlannedBlock, type PlannedStep } from '../flow/plan.ts';
import { hasRunAhead, type NextBlock, type RanAhead } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import { isLeaf, type Value } from '../flow/value.ts';

/** Blocks that the activity of an earlier one may run too: what they put out is in one event of the history. */
const AHEAD_MAX = 9;

/** Keeps what the activities of a call's blocks have run of the blocks that follow them. */
export function createBlocksAhead(steps: PlannedStep[], lastBlock: PlannedBlock | undefined) {
  const following = mapFollowing(steps, AHEAD_MAX);
  const ended = new Map<string, Value | ApplicationFailure>();
  let begun = 0;
  return {
    /** Notes that a block begins. Returns its output, or throws its failure, when the activity of an earlier one has run it. */
    take(key: string): Value | undefined {
      begun += 1;
      const end = ended.get(key);
      ended.delete(key);
      if (end instanceof ApplicationFailure) throw end;
      return end;
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

    /** Returns the output of the block whose activity replied, and keeps those of the others until they are taken. */
    unpack(reply: Value | Pause | RanAhead): Value | Pause {
      if (!hasRunAhead(reply)) return reply;
      const [own, ...outputs] = reply.outputs;
      for (const output of outputs) if (isLeaf(output)) ended.set(output.ref, output);
      const { failed } = reply;
      if (failed) ended.set(failed.blockKey, ApplicationFailure.nonRetryable(failed.message, failed.type));
      return own as Value;
    },
  };
}
