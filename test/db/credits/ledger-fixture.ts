// Makes organizations with credits and runs, and reads their ledger.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Db, Tx } from '../../../db/connect.ts';
import { grantCredits } from '../../../db/credits/ledger.ts';
import { insertFlow } from '../../../db/flows/flows.ts';
import { getVersion, publishVersion } from '../../../db/flows/versions.ts';
import { type BlockRun, type Payer, recordBlockRun } from '../../../db/runs/block-runs.ts';
import { insertCalls, type NewCall } from '../../../db/runs/insert-calls.ts';
import { insertOrganization } from '../../../db/tenants/organizations.ts';
import { insertProject } from '../../../db/tenants/projects.ts';
import type { Step } from '../../../flow/definition.ts';

export type Account = { organizationId: string; runs: string[] };

/** Creates an organization with a balance of `microcredits` and `runs` accepted runs of a flow of `steps`. */
export async function openAccount(
  db: Db,
  microcredits: number,
  runs: number,
  steps: Step[] = [],
): Promise<Account> {
  const slug = `org-${randomUUID().slice(0, 8)}`;
  const { id: organizationId } = await insertOrganization(db, { slug, name: slug });
  if (microcredits > 0) await grantCredits(db, organizationId, microcredits, 'grant/first');
  const { id: projectId } = await insertProject(db, { organizationId, slug: 'main', name: 'Main' });
  const flow = await insertFlow(db, { projectId, slug: 'flow', name: 'Flow', definition: { steps } });
  const { id: flowVersionId } = await getVersion(db, flow.id, await publishVersion(db, flow.id, 'test'));
  const ids = Array.from({ length: runs }, () => randomUUID());
  for (const callId of ids)
    await insertCalls(db, [
      {
        callId,
        organizationId,
        projectId,
        flowId: flow.id,
        flowVersionId,
        mode: 'jobs',
        environment: 'live',
        input: { message: '', parameters: {}, block_overrides: {} },
      },
    ]);
  return { organizationId, runs: ids };
}

/** Begins a session of the flow of a run, whose second call is under way and concludes it. */
export async function beginSession(
  db: Db,
  ofFlowOf: string,
): Promise<{ executionId: string; callId: string }> {
  const run = await db
    .selectFrom('run')
    .select(['organization_id', 'project_id', 'flow_id', 'flow_version_id'])
    .where('execution_id', '=', ofFlowOf)
    .executeTakeFirstOrThrow();
  const [executionId, callId] = [randomUUID(), randomUUID()];
  const call: NewCall = {
    callId,
    organizationId: run.organization_id,
    projectId: run.project_id,
    flowId: run.flow_id,
    flowVersionId: run.flow_version_id,
    mode: 'step',
    environment: 'live',
    input: { message: '', parameters: {}, block_overrides: {} },
  };
  await insertCalls(db, [
    { ...call, callId: executionId, status: 'in_progress' },
    { ...call, continues: { executionId, from: 0, to: 1, concludes: true } },
  ]);
  return { executionId, callId };
}

/** Records that an llm block has ended; returns whether this call recorded it. */
export function settle(
  db: Db,
  payer: Payer,
  block: Pick<BlockRun, 'callId' | 'blockKey' | 'costMicrocredits' | 'promptTokens' | 'error'>,
): Promise<boolean> {
  return recordBlockRun(db, payer, {
    stepId: 'ask',
    name: 'ask',
    processorType: 'llm',
    input: { ref: '$message' },
    ...(!block.error && { output: '"x"' }),
    attempts: 1,
    startedAt: performance.now(),
    ...block,
  });
}

/** Holds up whoever changes or reserves an organization's balance, until the end of `tx`. */
export async function lockBalance(
  tx: Tx,
  { organizationId }: Pick<Account, 'organizationId'>,
): Promise<void> {
  await tx
    .selectFrom('organization')
    .select('id')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/** Reads an organization's balance in microcredits. Asserts that its ledger agrees and that nothing is below zero. */
export async function audit(db: Db, { organizationId }: Pick<Account, 'organizationId'>) {
  const { balance_microcredits: balance } = await db
    .selectFrom('organization')
    .select('balance_microcredits')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const entries = await db
    .selectFrom('ledger_entry')
    .select(['entry_key', 'amount_microcredits'])
    .where('organization_id', '=', organizationId)
    .execute();
  const reservations = await db
    .selectFrom('reservation')
    .select('microcredits')
    .where('organization_id', '=', organizationId)
    .execute();
  const reserved = reservations.reduce((sum, { microcredits }) => sum + microcredits, 0);
  assert.equal(
    balance,
    entries.reduce((sum, entry) => sum + entry.amount_microcredits, 0),
    'the ledger and the balance differ',
  );
  assert(balance >= 0 && reserved >= 0);
  const charges = entries.filter(({ entry_key }) => entry_key.startsWith('charge/'));
  return {
    balance,
    reserved,
    charges: new Map(charges.map((row) => [row.entry_key, -row.amount_microcredits])),
  };
}
