import type { Db } from '../../db/connect.ts';
import { leaveForObjects } from '../../db/stored-values/leave-for-objects.ts';
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { SMALL_BYTES } from '../../platform/limits/byte-budget.ts';
import type { ApiContext } from './context.ts';
import { readerSignal } from './reader-signal.ts';
import { takeBytes, takeWorkToLeave } from './take-bytes.ts';

/**
 * Waits until an organization may hold an answer of so many bytes; they are given back when that is closed, or refused. A caller
 * that hangs up leaves the line, so that nothing is loaded for nobody. `load` may take a turn at large work itself: its own comes
 * before that at the answer. Returns the database that leaves that turn while the object store is awaited.
 */
export async function holdAnswerBytes(
  { db, largeValues: { answers, work } }: { db: Db; largeValues: LargeValues },
  { res, state }: Pick<ApiContext, 'res' | 'state'>,
  organizationId: string,
  bytes: number,
  load: () => Promise<unknown> = async () => undefined,
): Promise<Db> {
  if (bytes < SMALL_BYTES) {
    await load();
    return db;
  }
  const gone = () => readerSignal(res);
  const giveBack = await takeBytes(answers, organizationId, bytes, gone);
  const takeTurn = async () => {
    await load();
    return takeWorkToLeave(work, organizationId, bytes, gone);
  };
  const turn = await takeTurn().catch((error: unknown) => {
    giveBack();
    throw error;
  });
  const end = () => {
    turn.end();
    giveBack();
  };
  state.freeAnswer = end;
  if (res.closed) end();
  // The answer is written by `prefinish`, or will not be.
  else res.once('prefinish', turn.end).once('close', end);
  return leaveForObjects(db, turn.leave);
}

/** Waits for the bytes of an answer in the same way, without a turn: whoever works on what is held takes turns of its own. */
export async function holdBytesAlone(
  { answers }: Pick<LargeValues, 'answers'>,
  { res, state }: Pick<ApiContext, 'res' | 'state'>,
  organizationId: string,
  bytes: number,
): Promise<void> {
  if (bytes < SMALL_BYTES) return;
  const giveBack = await takeBytes(answers, organizationId, bytes, () => readerSignal(res));
  state.freeAnswer = giveBack;
  if (res.closed) giveBack();
  else res.once('close', giveBack);
}
