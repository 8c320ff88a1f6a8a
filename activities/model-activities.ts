// The activity of llm blocks: a local activity while the model answers fast, otherwise a regular one.
import { ApplicationFailure, Context } from '@temporalio/activity';
import { isUnstorableValue } from '../db/connection/database-errors.ts';
import { ServiceError } from '../flow/errors.ts';
import type { EarlierAttempt, ModelBlockCall, RegularCall } from '../flow/model-call.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { createFairQueue, PermitRejected } from '../platform/limits/fair-queue.ts';
import { providerOf } from '../platform/models/registry.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { isKeepable } from './attempts/attempt-progress.ts';
import { isDrained } from './attempts/is-drained.ts';
import { logFault } from './attempts/log-fault.ts';
import { ModelUnavailable } from './attempts/model-unavailable.ts';
import { acquire } from './attempts/reschedule.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import type { BlockExecution } from './block-execution.ts';
import type { BlockExecutor, Found } from './block-executor.ts';
import { createModelSpeeds } from './model/model-speeds.ts';
import { runBlockAttempt } from './run-block-attempt.ts';
import { runModelBlock } from './run-model-block.ts';
import { showUnderWay } from './show-under-way.ts';

/** Calls of a model that takes less time on average are local activities. */
const FAST_MS = 2_000;
/**
 * Local model calls: the most of one organization, and further ones for organizations that have few. Each holds one of the
 * worker's workflow tasks, which have to be more.
 */
const LOCAL_CALLS = { capacity: 96, reserved: 32, few: 4 };

/** Creates the activity of llm blocks. A local one may reply that the call is to be a regular one. */
export function createModelCaller(
  deps: ActivityDeps,
  blocks: BlockExecutor,
): (call: ModelBlockCall) => Promise<Value | Pause | RegularCall> {
  const { gates, db, inProcessRuns, fastModelMs = FAST_MS } = deps;
  const speeds = createModelSpeeds(fastModelMs);
  const localCalls = createFairQueue(LOCAL_CALLS);

  /** Makes the call, which holds a permit of its provider. */
  function make(
    execution: BlockExecution,
    attempt: Attempt,
    { organizationId, block }: Found,
  ): Promise<Value | Pause> {
    return showUnderWay(db, blocks, execution, attempt, () =>
      runModelBlock(deps, blocks, execution, attempt, (call) =>
        speeds.measure(organizationId, block.model ?? '', call),
      ),
    );
  }

  async function callLocally(
    execution: BlockExecution,
    attempt: Attempt,
  ): Promise<Value | Pause | RegularCall> {
    const found = await blocks.find(execution);
    const { organizationId, block } = found;
    const model = block.model ?? '';
    if (!speeds.isFast(organizationId, model)) return { regular: {} };
    using localCall = localCalls.tryAcquire(organizationId);
    using permit = localCall && gates.models(providerOf(model)).tryAcquire(organizationId);
    if (!permit) return { regular: {} };
    // An answer is paid for: its record is repeated however long the database is away.
    const own: Attempt = {
      ...attempt,
      isLocal: false,
      keep: (value) => isKeepable(value) && keep(own, value),
    };
    const startedAt = performance.now();
    try {
      return await make(execution, own, found);
    } catch (error) {
      return toRegularCall(error, own, performance.now() - startedAt);
    }
  }

  async function callAsActivity(execution: BlockExecution, attempt: Attempt): Promise<Value | Pause> {
    const found = await blocks.find(execution);
    const { organizationId, awaited, block } = found;
    const gate = gates.models(providerOf(block.model ?? ''));
    using _permit = await acquire(gate, organizationId, attempt, awaited ? 'high' : 'low');
    return await make(execution, attempt, found);
  }

  return ({ earlier, ...call }) =>
    runBlockAttempt<Value | Pause | RegularCall>(
      deps,
      blocks,
      call,
      async (execution, attempt) => {
        // Others may be started while this run waits for a model.
        inProcessRuns.releasePermit(execution.callId);
        if ((await blocks.find(execution)).isGiven) return blocks.run(execution, attempt, refuseToRun);
        if (attempt.isLocal) return callLocally(execution, attempt);
        // The refused attempt was a local one. This failure gives the engine the cause and the time of the next.
        const { refused } = earlier ?? {};
        if (refused && attempt.begun === 2) throw new ModelUnavailable(refused.message, refused);
        return callAsActivity(execution, attempt);
      },
      earlier,
    );
}

async function refuseToRun(): Promise<never> {
  throw new Error('The output of this block was known.');
}

function keep(attempt: Attempt, value: object): true {
  attempt.kept = value;
  return true;
}

/** Has a failed local call repeated as a regular one, unless it has failed for good. */
function toRegularCall(error: unknown, { kept, signal }: Attempt, tookMs: number): RegularCall {
  const isCancelled = signal.aborted && !isDrained(signal);
  const isFinal = [ServiceError, ApplicationFailure].some((type) => error instanceof type);
  if (isCancelled || isFinal || isUnstorableValue(error)) throw error;
  const earlier = { ...(kept !== undefined && { kept }), ...refusalOf(error, tookMs) };
  if (!signal.aborted && !(error instanceof PermitRejected)) logFault(error, Context.current().info);
  return { regular: Object.keys(earlier).length > 0 ? { earlier } : {} };
}

function refusalOf(error: unknown, tookMs: number): EarlierAttempt {
  if (!(error instanceof ModelUnavailable)) return {};
  const { message, retryAfterMs, isUnreadable } = error;
  return { refused: { message, retryAfterMs, isUnreadable, tookMs } };
}
