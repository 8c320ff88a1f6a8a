// Callers see a run at work: its blocks that take long, and what a provider said that refused one (docs/run-and-wait.md).
import type { Db } from '../db/connect.ts';
import { type BlockAttempt, hideBlock, type Refusal, showAttempt } from '../db/runs/blocks-under-way.ts';
import { ModelUnavailable } from './attempts/model-unavailable.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import type { BlockExecution } from './block-execution.ts';
import type { BlockExecutor } from './block-executor.ts';
import { SandboxUnavailable } from './code/sandbox-errors.ts';

/** A shorter block costs no write. */
const SHOWN_AFTER_MS = 1_000;
/** After a failure to show it, the next try comes so much later. */
const SHOWN_AGAIN_MS = 2_000;

/**
 * Does the work of one attempt at a block. Shows a long first attempt, and every later attempt, as under way. An outage of the
 * database does not fail the work; the write is retried until the work ends.
 */
export async function showUnderWay<T>(
  db: Db,
  blocks: Pick<BlockExecutor, 'find'>,
  execution: BlockExecution,
  attempt: Attempt,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  let shown: Promise<void> | undefined;
  let isOver = false;
  const show = () => {
    shown = describeAttempt(blocks, execution, attempt, startedAt)
      .then((described) => showAttempt(db, described))
      .catch(() => {
        if (!isOver) timer = setTimeout(show, SHOWN_AGAIN_MS);
      });
  };
  let timer = setTimeout(show, attempt.begun > 1 ? 0 : SHOWN_AFTER_MS);
  let isRefused = false;
  try {
    return await work();
  } catch (error) {
    isRefused = error instanceof ModelUnavailable || error instanceof SandboxUnavailable;
    throw error;
  } finally {
    isOver = true;
    clearTimeout(timer);
    // What is written of the refusal comes after this.
    if (isRefused) await shown;
    // Only now: the row is deleted after its write.
    else if (shown || attempt.begun > 1 || attempt.number > 1 || attempt.refusals > 0)
      void Promise.resolve(shown)
        .then(() => hideBlock(db, execution))
        .catch(() => undefined);
  }
}

/** Shows that an attempt was refused, and when the next is due. */
export async function showRefusal(
  db: Db,
  blocks: Pick<BlockExecutor, 'find'>,
  execution: BlockExecution,
  attempt: Attempt,
  refusal: Refusal,
): Promise<void> {
  const startedAt = performance.now() - refusal.tookMs;
  await showAttempt(db, await describeAttempt(blocks, execution, attempt, startedAt), refusal);
}

/** Describes an attempt to those who follow its run. */
async function describeAttempt(
  blocks: Pick<BlockExecutor, 'find'>,
  execution: BlockExecution,
  attempt: Attempt,
  startedAt: number,
): Promise<BlockAttempt> {
  const { callId, blockKey, stepId, input } = execution;
  const { name, processor_type: processorType, model } = (await blocks.find(execution)).block;
  return {
    callId,
    blockKey,
    stepId,
    name,
    processorType,
    input,
    model: processorType === 'llm' ? model : undefined,
    attempts: attempt.number,
    startedAt,
  };
}
