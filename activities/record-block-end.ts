// Records the end of a block execution, or the reason why it could not be recorded.
import { isUnstorableValue } from '../db/connection/database-errors.ts';
import { type BlockRun, isCharged, type Payer, recordBlockRun } from '../db/runs/block-runs.ts';
import { storeOutput } from '../db/stored-values/stored-outputs.ts';
import type { StoredRunInput } from '../db/tables/run-input.ts';
import type { CodeLog } from '../flow/code-log.ts';
import { type ErrorCode, ServiceError } from '../flow/errors.ts';
import type { KeptAnswer } from '../flow/model-call.ts';
import { countRounds, type Pause, type ToolCallMessage } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { weigh } from '../platform/json-text/measure-json.ts';
import { NO_TOKENS } from '../platform/models/token-usage.ts';
import type { StoredObject } from '../platform/object-store/object-store.ts';
import { log } from '../platform/observability/log.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { isDrained } from './attempts/is-drained.ts';
import { retryInPlace } from './attempts/retry-in-place.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import type { ModelUsage } from './model/ask-model.ts';

/** The recorded end of a block execution. During an outage of the database, an attempt passes it to the next attempt. */
export type BlockEnd = {
  usage: ModelUsage;
  /** Serialized JSON; bytes where it is large. */
  output?: string | Buffer;
  /** Where the output was written instead of the database. */
  stored?: StoredObject | undefined;
  paused?: boolean;
  /** The output as the next blocks get it. */
  value?: Value;
  error?: { code: ErrorCode; message: string };
  /** Without an error: its reasoning alone. */
  lastAnswer?: KeptAnswer;
  logs?: CodeLog[];
  pinned?: boolean;
};

/** The usage of a block that called no model. */
export const UNUSED: ModelUsage = { ...NO_TOKENS, costMicrocredits: 0 };

/**
 * Records the end of a block execution and, given a `result`, the end of its run. Returns whether this call recorded the end, and
 * the error. Replaces an end that cannot be recorded by a failure, and throws a failure for callers. Returns a failure without a
 * charge if the database refuses a value for good. If the worker stops, passes the result to the next attempt.
 */
export async function recordBlockEnd(
  { db, balanceLimit }: Pick<ActivityDeps, 'db' | 'balanceLimit'>,
  attempt: Attempt,
  payer: Payer,
  trace: Omit<BlockRun, keyof ModelUsage | 'output' | 'error' | 'lastAnswer' | 'logs' | 'pinned'>,
  end: BlockEnd,
  result: Value | undefined,
): Promise<{ recorded: boolean; error: BlockEnd['error'] }> {
  const record = ({ usage, value, ...answer }: BlockEnd, completes?: Value) => {
    const run = { ...trace, ...usage, ...answer };
    return retryInPlace(async (failed) => {
      using _permit = isCharged(run) ? await balanceLimit.acquire(payer.organizationId) : undefined;
      // While the database is away each write takes seconds: many that wait for each other would outlast the stop.
      if (isDrained(attempt.signal) && (attempt.kept || failed > 0)) throw attempt.signal.reason;
      return await recordBlockRun(db, payer, run, completes);
    }, attempt);
  };
  try {
    const stored = await retryInPlace(
      () => storeOutput(db, payer.organizationId, trace, end.output),
      attempt,
    );
    return { recorded: await record({ ...end, stored }, result), error: end.error };
  } catch (error) {
    if (isUnstorableValue(error)) {
      log.error(
        { block: trace.blockKey, call_id: trace.callId, err: error },
        'The database refuses what a block made.',
      );
      const failure = new ServiceError('INTERNAL_ERROR', 'The block failed for a reason inside the service.');
      const { reserved = false } = end.usage;
      const failed = { usage: { ...UNUSED, reserved }, error: toError(failure) };
      return { recorded: await record(failed), error: failed.error };
    }
    if (error instanceof ServiceError && !end.error)
      await record({ usage: end.usage, error: toError(error) });
    throw error;
  }
}

export function toError({ code, message }: ServiceError): NonNullable<BlockEnd['error']> {
  return { code, message };
}

/** Makes the reply of a block that paused from its recorded conversation, which ends with the model's tool calls. */
export function toPause(
  stepId: string,
  model: string,
  messages: ToolCallMessage[],
  continuation: StoredRunInput['continuation'],
): Pause {
  const resume = continuation?.resume?.step_id === stepId ? continuation.resume : undefined;
  const before = resume ? resume.iterations - countRounds(resume.messages) : 0;
  const last = messages.at(-1);
  return {
    ...(continuation && { carriedBytes: weigh(JSON.stringify(continuation.outputs)) }),
    paused: {
      step_id: stepId,
      iterations: before + countRounds(messages),
      tool_call_ids: (last?.role === 'assistant' ? (last.tool_calls ?? []) : []).map(({ id }) => id),
      model,
    },
  };
}
