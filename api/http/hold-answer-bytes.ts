import type { Db } from '../../db/connect.ts';
import { measureOutputs, measureValue } from '../../db/runs/load-references.ts';
import { measureInput } from '../../db/runs/stored-inputs.ts';
import { SMALL_BYTES } from '../../fairness/byte-budget.ts';
import type { EndTurn } from '../../fairness/turns.ts';
import type { Value } from '../../flow/value.ts';
import type { LargeValues } from '../../large-values/large-values.ts';
import type { ApiContext } from './context.ts';
import { readerSignal } from './reader-signal.ts';
import { StreamInterruption } from './stream-interruption.ts';
import { takeBytes, takeLargeWork } from './take-bytes.ts';

/**
 * Waits until an organization may hold an answer of so many bytes; they are given back when that is closed, or refused. A caller
 * that hangs up leaves the line, so that nothing is loaded for nobody. `load` may take a turn at large work itself: its own comes
 * before that at the answer.
 */
export async function holdAnswerBytes(
  { answers, work }: LargeValues,
  { res, state }: Pick<ApiContext, 'res' | 'state'>,
  organizationId: string,
  bytes: number,
  load: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  if (bytes < SMALL_BYTES) {
    await load();
    return;
  }
  const gone = () => readerSignal(res, undefined);
  const giveBack = await takeBytes(answers, organizationId, bytes, gone);
  const takeTurn = async () => {
    await load();
    return takeLargeWork(work, organizationId, bytes, { gone });
  };
  const endTurn = await takeTurn().catch((error: unknown) => {
    giveBack();
    throw error;
  });
  const end = () => {
    endTurn();
    giveBack();
  };
  state.freeAnswer = end;
  if (res.closed) end();
  // The answer is written by `prefinish`, or will not be.
  else res.once('prefinish', endTurn).once('close', end);
}

/** Waits for the bytes of an answer in the same way, without a turn: who works on what is held takes turns of its own. */
export async function holdBytesAlone(
  { answers }: Pick<LargeValues, 'answers'>,
  { res, state }: Pick<ApiContext, 'res' | 'state'>,
  organizationId: string,
  bytes: number,
): Promise<void> {
  if (bytes < SMALL_BYTES) return;
  const giveBack = await takeBytes(answers, organizationId, bytes, () => readerSignal(res, undefined));
  state.freeAnswer = giveBack;
  if (res.closed) giveBack();
  else res.once('close', giveBack);
}

/** Measures what is read to answer with a call's outcome: its result where it completed, its pause where it `pauses`. */
export async function measureOutcome(
  db: Db,
  callId: string,
  { result, pauses }: { result: Value | null; pauses: boolean },
): Promise<number> {
  if (pauses) return measurePause(db, callId);
  return result ? measureValue(db, callId, result) : 0;
}

/** Measures what is read to describe a pause of a call: its outputs, and its input, which has those that its caller brought. */
export async function measurePause(db: Db, callId: string): Promise<number> {
  const [outputs, input] = await Promise.all([measureOutputs(db, callId), measureInput(db, callId)]);
  return outputs + input;
}

/** Waits for a turn at parsing so many bytes for an event, where that is large. Throws as `takeEventBytes` does. */
export async function takeEventWork(
  { work }: LargeValues,
  organizationId: string,
  bytes: number,
  signal: AbortSignal,
): Promise<EndTurn> {
  return work.take(organizationId, bytes, { signal }).catch((error: unknown) => {
    throw signal.aborted ? new StreamInterruption('stopping') : error;
  });
}

/**
 * Waits until an organization may hold so many bytes for one event of a stream; returns the function that gives them back.
 * Throws StreamInterruption when `signal` aborts first.
 */
export async function takeEventBytes(
  { answers }: LargeValues,
  organizationId: string,
  bytes: number,
  signal: AbortSignal,
): Promise<() => void> {
  return answers.take(organizationId, bytes, signal).catch((error: unknown) => {
    throw signal.aborted ? new StreamInterruption('stopping') : error;
  });
}
