// Takes memory for large values of an activity: its input, and the answer of its model.
import { AsyncLocalStorage } from 'node:async_hooks';
import { BUSY, type Busy } from '../flow/run.ts';
import type { LargeValues } from '../large-values/large-values.ts';
import type { Attempt } from './run-attempt.ts';

type Budgets = Pick<LargeValues, 'inputs' | 'modelAnswers'>;
type Reservation = Budgets & { owner: string; returns: (() => void)[]; hasAnswer?: true };
const reservations = new AsyncLocalStorage<Reservation>();

/**
 * Does an activity's work once its organization's turn has come to hold an input of `bytes`. A local activity returns BUSY
 * instead of waiting.
 */
export async function reserveInputMemory<T>(
  { inputs, modelAnswers }: Budgets,
  owner: string,
  bytes: number,
  { isLocal, signal }: Pick<Attempt, 'isLocal' | 'signal'>,
  work: () => Promise<T>,
): Promise<T | Busy> {
  const giveBack = isLocal ? inputs.takeNow(owner, bytes) : await inputs.take(owner, bytes, signal);
  if (!giveBack) return BUSY;
  const reservation: Reservation = { inputs, modelAnswers, owner, returns: [giveBack] };
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
  reservation.returns.push(await reservation.modelAnswers.take(reservation.owner, bytes, signal));
}
