// What the activities of a process have in hand of large values: their inputs, and answers of models.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createByteBudget } from '../fairness/byte-budget.ts';
import { BUSY, type Busy } from '../flow/run.ts';
import type { Attempt } from './run-attempt.ts';

/** As JSON; parsed, a value takes several times as much. */
const BUDGET_BYTES = 64 * 1024 * 1024;
/** Of one organization. */
const SHARE_BYTES = BUDGET_BYTES / 2;
/** An activity takes an input before an answer, so that none waits for one that waits for it. */
const inputs = createByteBudget(BUDGET_BYTES, SHARE_BYTES);
const answers = createByteBudget(BUDGET_BYTES, SHARE_BYTES);

type Hand = { owner: string; returns: (() => void)[]; hasAnswer?: true };
const hands = new AsyncLocalStorage<Hand>();

/**
 * Does one activity's work with an input of so many bytes, when its organization's turn has come; a local activity answers
 * BUSY when that is not now.
 */
export async function reserveInputMemory<T>(
  owner: string,
  bytes: number,
  { isLocal, signal }: Pick<Attempt, 'isLocal' | 'signal'>,
  work: () => Promise<T>,
): Promise<T | Busy> {
  const giveBack = isLocal ? inputs.takeNow(owner, bytes) : await inputs.take(owner, bytes, signal);
  if (!giveBack) return BUSY;
  const hand: Hand = { owner, returns: [giveBack] };
  try {
    return await hands.run(hand, work);
  } finally {
    for (const giveBack of hand.returns) giveBack();
  }
}

/** Waits until the activity under way may read an answer of so many bytes; it keeps that until its end. */
export async function reserveAnswerMemory(bytes: number, signal: AbortSignal | undefined): Promise<void> {
  const hand = hands.getStore();
  // A repair comes after an answer that is still in hand: to wait for it would hold up those who wait for that.
  if (!hand || hand.hasAnswer) return;
  hand.hasAnswer = true;
  hand.returns.push(await answers.take(hand.owner, bytes, signal));
}
