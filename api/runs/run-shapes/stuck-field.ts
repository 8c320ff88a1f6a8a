import { z } from 'zod';
import { STUCK_REASONS, type StuckRun } from '../../../db/runs/stuck-calls.ts';

export const stuck = z
  .object({
    reason: z.enum(STUCK_REASONS).meta({
      description:
        '`parked`: it lost its workers again and again, and waits for an operator. `cancelling`: it was cancelled over two minutes ago, and no worker has ended it. `retrying`: a provider refused a block, which was tried four times or more. `losing_workers`: the workers were lost during three attempts at a block or more. `waiting`: no worker has begun its next block for two minutes.',
    }),
    since: z.iso.datetime(),
    errorMessage: z
      .string()
      .optional()
      .meta({ description: 'What the provider answered to the last attempt.' }),
    nextAttemptAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Stuck', description: 'Why the run makes no progress; only in lists with `stuck=true`.' });

/** Describes why a run is stuck; {} for a run that makes progress. */
export function stuckField(run: StuckRun | undefined): { stuck?: z.output<typeof stuck> } {
  if (!run) return {};
  const { reason, since, lastError, nextAttemptAt } = run;
  return {
    stuck: {
      reason,
      since: since.toISOString(),
      ...(lastError !== null && { errorMessage: lastError }),
      ...(nextAttemptAt && { nextAttemptAt: nextAttemptAt.toISOString() }),
    },
  };
}
