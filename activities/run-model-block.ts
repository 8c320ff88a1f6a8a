import { releaseReservation } from '../db/credits/reservations.ts';
import type { Busy } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { beginRequest } from './begin-request.ts';
import type { BlockExecution } from './block-execution.ts';
import type { BlockExecutor } from './block-executor.ts';
import { buildPrompt } from './build-prompt.ts';
import { callModel } from './call-model.ts';
import { countRetry } from './measure-model-call.ts';
import type { Attempt } from './run-attempt.ts';

/** Makes the model call (and at most one repair) of an llm block; the block may pause for the caller's tools. */
export async function runModelBlock(
  deps: ActivityDeps,
  blocks: BlockExecutor,
  execution: BlockExecution,
  attempt: Attempt,
): Promise<Value | Pause | Busy> {
  const { callId, blockKey } = execution;
  const { signal } = attempt;
  try {
    return await blocks.run(
      execution,
      attempt,
      async ({ block, input, message, parameters, outputs, payer, ...asked }) => {
        const values = { message, previousOutput: input, parameters, outputs };
        const conversation = asked.conversation ?? [
          { role: 'user', content: buildPrompt(deps.registry, block, values, asked.tools) },
        ];
        let isFirst = true;
        const begin = async (microcredits: number) => {
          const reservation = { ...payer, callId, blockKey, microcredits };
          const { provider, again } = await beginRequest(deps, attempt, block.model ?? '', reservation);
          // An attempt that was lost with its workflow task is known by its reservation alone.
          if (isFirst && again && attempt.begun === 1) attempt.number += 1;
          if (isFirst && (again || attempt.begun > 1)) countRetry(deps.registry, block.model ?? '');
          isFirst = false;
          return provider;
        };
        const validator = deps.validator.of(payer.organizationId);
        return callModel(
          { ...deps, validator },
          { ...asked, organizationId: payer.organizationId, block, conversation, begin },
          signal,
        );
      },
    );
  } catch (error) {
    // An answer that is not recorded yet keeps its reservation. A reservation that cannot be released now is taken over
    // by the next attempt or released by the reconciler.
    if (!attempt.kept) await releaseReservation(deps.db, execution).catch(() => undefined);
    throw error;
  }
}
