// Takes memory for large values of an activity: its input, and the answer of its model.
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { NoRoom } from './no-room.ts';
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
 * Does an activity's work once its organization's turn has come to hold an input of `bytes`. A local attempt does not
 * wait: it throws NoRoom.
 */
export async function reserveInputMemory<T>(
  { inputs, modelAnswers, presence }: Pick<LargeValues, 'inputs' | 'modelAnswers' | 'presence'>,
  owner: string,
  bytes: number,
  { mayWait, signal }: Pick<Attempt, 'mayWait' | 'signal'>,
  work: (memory: ActivityMemory) => Promise<T>,
): Promise<T> {
  presence.note(owner);
  const giveBackInput = mayWait ? await inputs.take(owner, bytes, signal) : inputs.takeNow(owner, bytes);
  if (!giveBackInput) throw new NoRoom();
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
