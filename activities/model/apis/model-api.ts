import type { OpenAI } from 'openai';
import type { Provider } from '../../../platform/config/config.ts';
import type { ReserveAnswer } from '../fetch-answer.ts';

/** The request of a chat completion; `model` is the provider's own name. */
export type ChatParams = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

/** The part of a prompt that a provider may cache, for APIs that want a hint. */
export type PromptCache = {
  /** For how long. */
  ttl: '5m' | '1h';
  /** The number of messages, from the first, that are the same in each run of the block. */
  stable: number;
  /** Whether the conversation goes on, with the results of tools. */
  continues: boolean;
};

/** Time and memory of one request. */
export type Sending = {
  /** The time that the request and its answer may take, in milliseconds. */
  timeoutMs: number;
  /** Waits for memory for a large answer. */
  reserveAnswer: ReserveAnswer;
  signal: AbortSignal;
  /** Absent: nothing is to be cached. */
  cache?: PromptCache | undefined;
};

/**
 * An API of providers. Each takes the request of a chat completion; an API of another shape translates it. `toCompletion` in
 * platform/models/ translates the answers.
 */
export type ModelApi = {
  /** Sends a request. Rejects with the error of its SDK, whose cause is that of `fetchWhole`. */
  send(provider: Provider, params: ChatParams, sending: Sending): Promise<Response>;
};
