// The activity types of this service, by the names operators read in the Temporal Web UI.

import { releaseReservation, reserveCredits } from '../db/credits/reservations.ts';
import { parkRun, unparkRun } from '../db/runs/parked-runs.ts';
import { finishRun } from '../db/runs/runs.ts';
import { acceptTest, finishTestRun } from '../db/test-runs/test-runs.ts';
import { findRunDelivery } from '../db/webhooks/open-deliveries.ts';
import { takeTurn } from '../db/webhooks/webhook-turns.ts';
import type { LoopCondition } from '../flow/definition.ts';
import type { DeliveryCall } from '../flow/delivery.ts';
import { meets } from '../flow/interpreter.ts';
import { type BlockCall, BUSY, type Busy, type RunOutcome } from '../flow/run.ts';
import type { JudgeRun } from '../flow/test-case.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { createBlockExecutor } from './block-executor.ts';
import { buildPrompt } from './build-prompt.ts';
import { callModel } from './call-model.ts';
import { evaluateTest, readJudgement } from './evaluate-test.ts';
import { findModelAccess } from './find-model-access.ts';
import { retryWrite } from './retry-write.ts';
import { runAttempt } from './run-attempt.ts';
import { runCode } from './run-code.ts';

export type Activities = ReturnType<typeof createActivities>;

/** The activities over their dependencies, which the caller opens and closes. */
export function createActivities(deps: ActivityDeps) {
  const blocks = createBlockExecutor(deps);
  return {
    /** One model call (and at most one repair) of an llm block; it may pause for the caller's tools. */
    callModel: (call: BlockCall): Promise<Value | Pause | Busy> =>
      runAttempt(
        (attempt) =>
          blocks
            .run(call, attempt, async ({ block, input, message, parameters, payer, ...asked }) => {
              const { signal } = attempt;
              const { own, ...access } = await findModelAccess(
                deps,
                call.executionId,
                block.model ?? '',
                signal,
              );
              const values = { message, previousOutput: input, parameters };
              const conversation = asked.conversation ?? [
                { role: 'user', content: buildPrompt(deps.registry, block, values, asked.tools) },
              ];
              const { executionId, blockKey } = call;
              const reserve = async (microcredits: number) => {
                if (own) return;
                await retryWrite(
                  () => reserveCredits(deps.db, { ...payer, executionId, blockKey, microcredits }),
                  attempt,
                );
              };
              const validator = deps.validator.of(payer.organizationId);
              return callModel(
                { ...deps, ...access, validator },
                { ...asked, block, conversation, reserve },
                signal,
              );
            })
            .catch(async (error: unknown) => {
              // An answer still to be recorded keeps what it may cost. What can't be released now is taken over by the next
              // attempt, or released by the reconciler.
              if (!attempt.kept) await releaseReservation(deps.db, call).catch(() => undefined);
              throw error;
            }),
        { isBlock: true },
      ),

    /** The JavaScript of a code block, in the sandbox. */
    runCode: (call: BlockCall): Promise<Value | Pause | Busy> =>
      runAttempt((attempt) => runCode(deps, blocks, call, attempt), { isBlock: true }),

    /** Forwards its input. */
    passThrough: (call: BlockCall): Promise<Value | Pause | Busy> =>
      runAttempt(
        async (attempt) => {
          if (attempt.isLocal && !(await blocks.hasRoom(call))) return BUSY;
          return blocks.run(call, attempt, async ({ input }) => ({ output: input }));
        },
        { isBlock: true },
      ),

    /** How many items a stored value has; undefined when it is no array. */
    inspectValue: (executionId: string, value: Value): Promise<{ items: number | undefined } | Busy> =>
      runAttempt((attempt) =>
        blocks.inspect(executionId, value, attempt, (json) => ({
          items: Array.isArray(json) ? json.length : undefined,
        })),
      ),

    /** Whether a loop's condition holds for a stored value. */
    checkCondition: (executionId: string, condition: LoopCondition, value: Value): Promise<boolean | Busy> =>
      runAttempt((attempt) => blocks.inspect(executionId, value, attempt, (json) => meets(condition, json))),

    /** Accepts the run of a test case, once. */
    acceptTest: (executionId: string): Promise<void> => runAttempt(() => acceptTest(deps.db, executionId)),

    /** Judges the run of a test case, which has ended; answers the run that is to judge it, when a model does. */
    evaluateTest: (executionId: string): Promise<JudgeRun | undefined> =>
      runAttempt(() => evaluateTest(deps, executionId)),

    /** Takes the verdict on a test case from the run that judged it, which has ended. */
    readJudgement: (executionId: string): Promise<void> =>
      runAttempt(() => readJudgement(deps.db, executionId)),

    /** Records the end of a test run, once. */
    finishTestRun: (testRunId: string): Promise<void> => runAttempt(() => finishTestRun(deps.db, testRunId)),

    /** The webhook that the end of a run is to be reported by, when there is one and it is its turn. */
    findRunDelivery: (executionId: string): Promise<DeliveryCall | undefined> =>
      runAttempt(async () => {
        const call = await findRunDelivery(deps.db, executionId);
        return call && (await takeTurn(deps.db, call, false)) ? call : undefined;
      }),

    /** Records that a run waits for an operator. */
    parkRun: (executionId: string): Promise<void> => runAttempt(() => parkRun(deps.db, executionId)),

    /** Records that a run goes on. */
    unparkRun: (executionId: string): Promise<void> => runAttempt(() => unparkRun(deps.db, executionId)),

    /** Records the end of a run, once; answers the one it has in place of `outcome`, when it was cancelled meanwhile. */
    recordRun: (executionId: string, outcome: RunOutcome): Promise<RunOutcome | undefined> =>
      runAttempt(async () => {
        const recorded = await finishRun(deps.db, executionId, outcome);
        if (recorded) deps.inProcessRuns.end(executionId, recorded);
        return recorded === outcome ? undefined : recorded;
      }),
  };
}
