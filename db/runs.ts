import { type ExpressionBuilder, sql } from 'kysely';
import type { WebhookEvent } from '../flow/delivery.ts';
import { ServiceError } from '../flow/errors.ts';
import type { RunOutcome } from '../flow/run.ts';
import type { Db, Tx } from './connect.ts';
import type { Environment, RunMode, Schema, StoredRunInput } from './schema.ts';

export type NewRun = {
  executionId: string;
  organizationId: string;
  projectId: string;
  flowId: string;
  flowVersionId: string;
  mode: RunMode;
  environment: Environment;
  input: StoredRunInput;
  /** Sealed. */
  modelKeys?: string | undefined;
  callback?: { url: string; events: WebhookEvent[] } | undefined;
};

/** Accepts a run, once: from here on it is finished by its workflow, or started anew by the reconciler. */
export async function insertRun(db: Db | Tx, run: NewRun): Promise<void> {
  await db
    .insertInto('run')
    .values({
      execution_id: run.executionId,
      organization_id: run.organizationId,
      project_id: run.projectId,
      flow_id: run.flowId,
      flow_version_id: run.flowVersionId,
      mode: run.mode,
      environment: run.environment,
      input: JSON.stringify(run.input),
      callback_url: run.callback?.url ?? null,
      callback_events: run.callback?.events ?? null,
      model_keys: run.modelKeys ?? null,
    })
    .onConflict((conflict) => conflict.column('execution_id').doNothing())
    .execute();
}

/** Records how a run ended; a run that has ended already is left as it is. Answers whether this call did it. */
export async function finishRun(db: Db | Tx, executionId: string, outcome: RunOutcome): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('run')
    .set({
      status: outcome.status,
      finished_at: new Date(),
      result: outcome.status === 'completed' ? JSON.stringify(outcome.result) : null,
      error: outcome.status === 'failed' ? JSON.stringify(outcome.error) : null,
    })
    .where('execution_id', '=', executionId)
    .where('status', '=', 'started')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** What activities need of a run, and which of its blocks are done. `cancelled`: its cancellation was asked for. */
export type RunContext = {
  organizationId: string;
  flowVersionId: string;
  input: StoredRunInput;
  completed: Set<string>;
  cancelled: boolean;
};

/** Throws RUN_NOT_FOUND. */
export async function getRunContext(db: Db, executionId: string): Promise<RunContext> {
  const row = await db
    .selectFrom('run')
    .select(['organization_id', 'flow_version_id', 'input', 'cancel_requested_at'])
    .select((eb) =>
      eb
        .selectFrom('block_run')
        .select(sql<string[] | null>`array_agg(block_key)`.as('keys'))
        .where('execution_id', '=', executionId)
        .where('status', '=', 'completed')
        .as('completed'),
    )
    .where('execution_id', '=', executionId)
    .executeTakeFirst();
  if (!row) throw new ServiceError('RUN_NOT_FOUND', `There is no run ${executionId}.`);
  return {
    organizationId: row.organization_id,
    flowVersionId: row.flow_version_id,
    input: row.input,
    completed: new Set(row.completed ?? []),
    cancelled: row.cancel_requested_at !== null,
  };
}

/** What a run was asked to do. */
export async function getRunInput(db: Db, executionId: string): Promise<StoredRunInput> {
  const { input } = await db
    .selectFrom('run')
    .select('input')
    .where('execution_id', '=', executionId)
    .executeTakeFirstOrThrow();
  return input;
}

/** The cost of a run's blocks so far, in microcredits, as `cost_microcredits` of a query over `run`. */
export function costOfRun(eb: ExpressionBuilder<Schema, 'run'>) {
  return eb
    .selectFrom('block_run')
    .select(sql<number>`coalesce(sum(cost_microcredits), 0)::bigint`.as('sum'))
    .whereRef('block_run.execution_id', '=', 'run.execution_id')
    .$asScalar()
    .$notNull()
    .as('cost_microcredits');
}

/** One run of a flow with the number of its version and its cost so far. Only within the flow: a foreign id is not found. */
export function findRun(db: Db, flowId: string, executionId: string) {
  return db
    .selectFrom('run')
    .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      'run.execution_id',
      'run.flow_id',
      'run.flow_version_id',
      'flow_version.version',
      'run.mode',
      'run.environment',
      'run.status',
      'run.result',
      'run.error',
      'run.started_at',
      'run.finished_at',
    ])
    .select(costOfRun)
    .where('run.flow_id', '=', flowId)
    .where('run.execution_id', '=', executionId)
    .executeTakeFirst();
}
export type RunRow = NonNullable<Awaited<ReturnType<typeof findRun>>>;

/**
 * Takes up to `limit` runs that are `started`, older than `quietSeconds` and not taken within that time, with what
 * starting their workflow needs. Processes that call this at the same time take different runs.
 */
export async function claimUnfinishedRuns(
  db: Db,
  { quietSeconds, limit }: { quietSeconds: number; limit: number },
) {
  const claimed = await db
    .updateTable('run')
    .set({ reconciled_at: sql`now()` })
    .where('execution_id', 'in', (eb) =>
      eb
        .selectFrom('run')
        .select('execution_id')
        .where('status', '=', 'started')
        .where(
          sql`coalesce(reconciled_at, started_at)`,
          '<=',
          sql`now() - ${quietSeconds} * interval '1 second'`,
        )
        .orderBy(sql`coalesce(reconciled_at, started_at)`)
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning('execution_id')
    .execute();
  return findRunStarts(
    db,
    claimed.map((row) => row.execution_id),
  );
}

/** How these runs stand, with what starting their workflow needs. */
export async function findRunStarts(db: Db, executionIds: string[]) {
  if (executionIds.length === 0) return [];
  return db
    .selectFrom('run')
    .innerJoin('flow', 'flow.id', 'run.flow_id')
    .innerJoin('project', 'project.id', 'run.project_id')
    .innerJoin('organization', 'organization.id', 'run.organization_id')
    .innerJoin('flow_version', 'flow_version.id', 'run.flow_version_id')
    .select([
      'run.execution_id as executionId',
      'organization.slug as organization',
      'project.slug as project',
      'flow.slug as flow',
      'flow_version.version',
      'run.mode',
      'run.environment',
      'flow_version.definition',
      'run.flow_id as flowId',
      'run.status',
      'run.result',
      'run.error',
      'run.cancel_requested_at as cancelRequestedAt',
    ])
    .select(sql<boolean>`run.callback_url is not null`.as('callback'))
    .where('run.execution_id', 'in', executionIds)
    .execute();
}
