import assert from 'node:assert/strict';
import type { Db } from '../db/connect.ts';
import { findFlowBySlug, updateDraft } from '../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../db/flows/versions.ts';
import type { Step } from '../flow/definition.ts';

/** Publishes steps as the production version of the flow with this path. */
export async function publishSteps(db: Db, projectId: string, path: string, steps: Step[]): Promise<void> {
  const row = await findFlowBySlug(db, projectId, path.split('/')[2] ?? '');
  assert(row);
  await updateDraft(db, row.id, { steps });
  await setProductionVersion(db, row.id, await publishVersion(db, row.id, 'test'));
}
