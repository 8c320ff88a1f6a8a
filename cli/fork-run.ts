import { forkCursor } from '../api/runs/fork-cursor.ts';
import type { Db } from '../db/connect.ts';
import { createFlowDefinitions } from '../db/flows/flow-definitions.ts';
import { findListedRun } from '../db/runs/list-runs.ts';
import { ServiceError } from '../flow/errors.ts';
import type { CommandResult } from './print-result.ts';

/** Makes the request that goes on with a stored run at a step, as GET …/fork answers it. */
export async function forkRun(
  db: Db,
  executionId: string,
  { step }: { step: number },
): Promise<CommandResult> {
  const run = await findListedRun(db, executionId);
  if (!run) throw new ServiceError('RUN_NOT_FOUND', `Run ${executionId} does not exist.`);
  const cursor = await forkCursor({ db, definitions: createFlowDefinitions(db) }, run, step, async () => {});
  return { json: cursor, text: JSON.stringify(cursor) };
}
