import type { Db } from '../../db/connect.ts';
import { measureOutputs } from '../../db/runs/load-references.ts';
import { createByteBudget } from '../../fairness/byte-budget.ts';
import { bytesToLoad, type Value } from '../../flow/value.ts';
import type { ApiContext } from './context.ts';
import { StreamInterruption } from './stream-interruption.ts';
import { IN_HAND_BYTES, SHARE_BYTES, takeBytes } from './take-bytes.ts';

/** Of the stored outputs that one process has in hand for answers, until they are read. */
const answers = createByteBudget(IN_HAND_BYTES, SHARE_BYTES);

/**
 * Waits until what a run, or the last call of one, has answered may be read: the result where it completed, all outputs
 * where it `pauses`. The caller's bytes are given back when the answer has been read.
 */
export async function holdAnswer(
  ctx: ApiContext,
  db: Db,
  executionId: string,
  { result, pauses }: { result?: Value | null; pauses: boolean },
): Promise<void> {
  const bytes = pauses ? await measureOutputs(db, executionId) : result ? bytesToLoad(result) : 0;
  await holdBytes(ctx, bytes);
}

/** The same, of an answer that so many bytes of outputs are put together for. */
export async function holdBytes(ctx: ApiContext, bytes: number): Promise<void> {
  const giveBack = await takeBytes(answers, ctx, bytes);
  if (ctx.res.closed) giveBack();
  else ctx.res.once('close', giveBack);
}

/** The same, of so many bytes, for an event of a stream. Throws StreamInterruption when the stream ends first. */
export async function takeForEvent(ctx: ApiContext, bytes: number, signal: AbortSignal): Promise<() => void> {
  return answers.take(ctx.state.flow.organizationId, bytes, signal).catch((error: unknown) => {
    throw signal.aborted ? new StreamInterruption('stopping') : error;
  });
}
