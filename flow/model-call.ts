// How a model call continues as a regular activity.
import type { BlockCall } from './run.ts';

/** The state that a local model call leaves to the regular activity that repeats it. */
export type EarlierAttempt = {
  /** The provider's refusal, which counts as an attempt. */
  refused?: {
    message: string;
    retryAfterMs?: number | undefined;
    isUnreadable?: boolean;
    /** How long the attempt took. */
    tookMs?: number;
  };
  /** A paid answer that is not recorded yet. */
  kept?: unknown;
};

/** The reply of a local model call that is to be made, or repeated, as a regular activity. Absent state: nothing was sent. */
export type RegularCall = { regular: { earlier?: EarlierAttempt } };

/** The tokens of an answer. Cached and written tokens are part of the prompt, reasoning is part of the completion. */
export type AnswerTokens = {
  promptTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  completionTokens: number;
  reasoningTokens: number;
};

/** The last answer of the model to a block that failed, for the trace. */
export type LastAnswer = {
  /** As the model wrote it: text, or JSON where it is something else. Long texts are cut. */
  text: string;
  isCut: boolean;
  /** As the provider says it: `stop`, `length`, `tool_calls`, …; null where it is not known. */
  finishReason: string | null;
  usage: AnswerTokens;
  /** The message that asked the model to repair the answer, or null. */
  repairRequest: string | null;
  /** Apart from the text; cut likewise. */
  reasoning?: string;
};

/** The last answer as the trace keeps it: whole where the block failed, otherwise its reasoning. */
export type KeptAnswer = Partial<LastAnswer>;

export function isRegularCall(reply: object): reply is RegularCall {
  return 'regular' in reply;
}

/** Argument of the activity of a model call. */
export type ModelBlockCall = BlockCall & { earlier?: EarlierAttempt };
