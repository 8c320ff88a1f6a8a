// A run in the state that an API process leaves when it dies before it starts the workflow.
import { randomUUID } from 'node:crypto';
import { insertCalls, type NewCall } from '../db/runs/insert-calls.ts';
import type { FlowDefinition } from '../flow/definition.ts';
import type { Tenant, Weir } from './harness.ts';

/** Accepts a run of a flow from `Weir.createFlow` (a job unless `more` says otherwise) and starts no workflow. */
export async function acceptRun(
  weir: Pick<Weir, 'db'>,
  tenant: Pick<Tenant, 'organizationId' | 'projectId'>,
  flow: string,
  more: Partial<Pick<NewCall, 'mode' | 'callback'>> = {},
): Promise<{ executionId: string; definition: FlowDefinition }> {
  const version = await weir.db
    .selectFrom('flow_version')
    .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
    .select(['flow.id as flow_id', 'flow_version.id', 'flow_version.definition'])
    .where('flow.project_id', '=', tenant.projectId)
    .where('flow.slug', '=', flow.split('/')[2] as string)
    .executeTakeFirstOrThrow();
  const executionId = randomUUID();
  await insertCalls(weir.db, [
    {
      callId: executionId,
      organizationId: tenant.organizationId,
      projectId: tenant.projectId,
      flowId: version.flow_id,
      flowVersionId: version.id,
      mode: 'jobs',
      environment: 'live',
      input: { message: 'm', parameters: {}, block_overrides: {} },
      ...more,
    },
  ]);
  return { executionId, definition: version.definition };
}
