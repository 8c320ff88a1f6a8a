// Takes memory for large values of an activity: its input, and the answer of its model.
import { BUSY, type Busy } from '../../flow/run.ts';
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import type { Attempt } from './run-attempt.ts';

/** Waits until an activity may read an answer of `bytes`, which it then holds until its end. */
export type ReserveAnswer = (bytes: number, signal: AbortSignal) => Promise<void>;

/** The memory of one activity. */
export type ActivityMemory = {
  /** Gives back that of the input, which the activity does not hold any more. */
  giveBackInput(): void;
  reserveAnswer: ReserveAnswer;
};

/**
 * There is no memory for a prompt, no turn, or no answer of the object store now. An attempt that may not wait replies BUSY;
 * others wait for the memory and begin again.
 */
export class NoRoom extends Error {
  /** The characters of the prompt; 0: it is something else that has not come. */
  readonly chars: number;
  /** A read that continues, and keeps its memory until it ends. */
  readonly reading: Promise<unknown> | undefined;

  constructor(chars = 0, reading?: Promise<unknown>) {
    super();
    this.chars = chars;
    this.reading = reading;
  }
}

/** Does the work of an attempt. One that may not wait returns BUSY where the work throws NoRoom. */
export async function orBusy<T>(
  { mayWait }: Pick<Attempt, 'mayWait'>,
  work: () => Promise<T>,
): Promise<T | Busy> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoRoom && !mayWait) return BUSY;
    throw error;
  }
}

/**
 * Does an activity's work once its organization's turn has come to hold an input of `bytes`. An attempt that may not wait
 * returns BUSY when it would have to.
 */
export async function reserveInputMemory<T>(
  { inputs, modelAnswers, presence }: Pick<LargeValues, 'inputs' | 'modelAnswers' | 'presence'>,
  owner: string,
  bytes: number,
  { mayWait, signal }: Pick<Attempt, 'mayWait' | 'signal'>,
  work: (memory: ActivityMemory) => Promise<T>,
): Promise<T | Busy> {
  presence.note(owner);
  const giveBackInput = mayWait ? await inputs.take(owner, bytes, signal) : inputs.takeNow(owner, bytes);
  if (!giveBackInput) return BUSY;
  const answer: { giveBack?: () => void } = {};
  const reserveAnswer: ReserveAnswer = async (answerBytes, answerSignal) => {
    // A repair comes while the first answer is still held: waiting again would block those who wait for the first.
    if (answer.giveBack) return;
    answer.giveBack = () => undefined;
    answer.giveBack = await modelAnswers.take(owner, answerBytes, answerSignal);
  };
  let reading: Promise<unknown> | undefined;
  try {
    return await work({ giveBackInput, reserveAnswer });
  } catch (error) {
    if (error instanceof NoRoom) reading = error.reading;
    throw error;
  } finally {
    if (reading) void reading.then(giveBackInput, giveBackInput);
    else giveBackInput();
    answer.giveBack?.();
  }
}
