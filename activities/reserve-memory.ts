// The memory budget of one process for large values: inputs of activities and answers of models.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createByteBudget } from '../fairness/byte-budget.ts';
import { BUSY, type Busy } from '../flow/run.ts';
import type { Attempt } from './run-attempt.ts';

/** Bytes of JSON; parsed, a value takes several times as much. */
const BUDGET_BYTES = 64 * 1024 * 1024;
/** The most that one organization may hold. */
const SHARE_BYTES = BUDGET_BYTES / 2;
/** Two budgets, the input taken before the answer, so that no two activities wait for each other. */
const inputs = createByteBudget(BUDGET_BYTES, SHARE_BYTES);
const answers = createByteBudget(BUDGET_BYTES, SHARE_BYTES);

type Reservation = { owner: string; returns: (() => void)[]; hasAnswer?: true };
const reservations = new AsyncLocalStorage<Reservation>();

/**
 * Does an activity's work once its organization's turn has come to hold an input of `bytes`. A local activity returns BUSY
 * instead of waiting.
 */
export async function reserveInputMemory<T>(
  owner: string,
  bytes: number,
  { isLocal, signal }: Pick<Attempt, 'isLocal' | 'signal'>,
  work: () => Promise<T>,
): Promise<T | Busy> {
  const giveBack = isLocal ? inputs.takeNow(owner, bytes) : await inputs.take(owner, bytes, signal);
  if (!giveBack) return BUSY;
  const reservation: Reservation = { owner, returns: [giveBack] };
  try {
    return await reservations.run(reservation, work);
  } finally {
    for (const giveBack of reservation.returns) giveBack();
  }
}

/** Waits until the current activity may read an answer of `bytes`, which it then holds until its end. */
export async function reserveAnswerMemory(bytes: number, signal: AbortSignal | undefined): Promise<void> {
  const reservation = reservations.getStore();
  // A repair comes while the first answer is still held: waiting again would block those who wait for the first.
  if (!reservation || reservation.hasAnswer) return;
  reservation.hasAnswer = true;
  reservation.returns.push(await answers.take(reservation.owner, bytes, signal));
}
