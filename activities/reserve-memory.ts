// Takes memory for large values of an activity: its input, and the answer of its model.
import { AsyncLocalStorage } from 'node:async_hooks';
import { BUSY, type Busy } from '../flow/run.ts';
import type { LargeValues } from '../large-values/large-values.ts';
import type { Attempt } from './run-attempt.ts';

type Budgets = Pick<LargeValues, 'inputs' | 'modelAnswers'>;
type Reservation = Budgets & { owner: string; giveBackInput(): void; giveBackAnswer?: () => void };
const reservations = new AsyncLocalStorage<Reservation>();

/**
 * There is no memory for a prompt, or no turn, now. An attempt that may not wait replies BUSY; others wait for the memory and
 * begin again.
 */
export class NoRoom extends Error {
  /** The characters of the prompt; 0: it is a turn that has not come. */
  readonly chars: number;

  constructor(chars = 0) {
    super();
    this.chars = chars;
  }
}

/**
 * Does an activity's work once its organization's turn has come to hold an input of `bytes`. An attempt that may not wait
 * returns BUSY when it would have to, and when the work throws NoRoom.
 */
export async function reserveInputMemory<T>(
  { inputs, modelAnswers, presence }: Budgets & Pick<LargeValues, 'presence'>,
  owner: string,
  bytes: number,
  { mayWait, signal }: Pick<Attempt, 'mayWait' | 'signal'>,
  work: () => Promise<T>,
): Promise<T | Busy> {
  presence.note(owner);
  const giveBackInput = mayWait ? await inputs.take(owner, bytes, signal) : inputs.takeNow(owner, bytes);
  if (!giveBackInput) return BUSY;
  const reservation: Reservation = { inputs, modelAnswers, owner, giveBackInput };
  try {
    return await reservations.run(reservation, work);
  } catch (error) {
    if (error instanceof NoRoom && !mayWait) return BUSY;
    throw error;
  } finally {
    giveBackInput();
    reservation.giveBackAnswer?.();
  }
}

/** Gives back the memory of the current activity's input, which it does not hold any more. */
export function giveBackInputMemory(): void {
  reservations.getStore()?.giveBackInput();
}

/** Waits until the current activity may read an answer of `bytes`, which it then holds until its end. */
export async function reserveAnswerMemory(bytes: number, signal: AbortSignal | undefined): Promise<void> {
  const reservation = reservations.getStore();
  // A repair comes while the first answer is still held: waiting again would block those who wait for the first.
  if (!reservation || reservation.giveBackAnswer) return;
  reservation.giveBackAnswer = () => undefined;
  reservation.giveBackAnswer = await reservation.modelAnswers.take(reservation.owner, bytes, signal);
}
