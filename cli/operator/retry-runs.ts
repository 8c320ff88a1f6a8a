// `weir operator runs retry`: failed runs once more, each from the step that failed, whatever organization they belong to.
import type { AcceptDeps } from '../../api/deps.ts';
import { retryEach, sortOutRetries } from '../../api/runs/retry-each.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { type ListedRun, listRunPage, listRunsById } from '../../db/runs/list-runs.ts';
import { type Author, recordChange } from '../../db/tenants/audit-entries.ts';
import type { ErrorCode, ServiceError } from '../../flow/errors.ts';
import { createValidator } from '../../platform/json-schema/validator.ts';
import { createLargeValues } from '../../platform/large-values/large-values.ts';
import { createHttpGates } from '../../platform/limits/gates.ts';
import { openRegistry } from '../../platform/models/live-registry.ts';
import { type Counts, confirmMany, countReasons, describeCounts } from '../terminal/bulk-runs.ts';
import type { Scope } from '../terminal/parse-argument.ts';
import { type CommandResult, note } from '../terminal/print.ts';
import { acceptanceConfig, secretsKeys, WEBHOOK_RULES } from './environment.ts';
import { operator } from './on-database.ts';

const PAGE = 200;
/** Runs are accepted one by one: after so many, the command says how far it is. */
const TOLD_AFTER = 25;
/** Errors after which runs of other organizations may still be accepted. */
const OF_ORGANIZATION: ErrorCode[] = ['INSUFFICIENT_CREDITS', 'FORBIDDEN', 'RATE_LIMITED'];

type RetryFilter = Scope & { errorCode?: string; since?: Date; until?: Date };
/** The runs to retry, by id or by filter. */
type Asked = { executionIds: string[] } | RetryFilter;

/** Retries up to `limit` runs, each once, and reports each outcome. Asks for confirmation if there are many. */
export async function retryRuns(
  db: Db,
  asked: Asked,
  { dryRun, yes, limit = Number.POSITIVE_INFINITY }: { dryRun?: boolean; yes?: boolean; limit?: number },
): Promise<CommandResult> {
  const { matching, refused } = await ('executionIds' in asked
    ? sortOutNamed(db, asked.executionIds)
    : findMatching(db, asked, limit));
  const counts: Counts = { done: [], matching: [], refused, stoppedBy: null };
  if (dryRun) {
    const dry = { ...counts, matching };
    const text = [...matching, describeCounts('retry', dry, true), ...countReasons(refused)].join('\n');
    return { json: dry, text };
  }
  await confirmMany(matching.length, 'retry', yes);
  await withAcceptDeps(db, (deps) => retryAll(deps, matching, asked, counts));
  const someNot = 'executionIds' in asked && refused.length > 0;
  if (counts.stoppedBy !== null || someNot) process.exitCode = 1;
  return {
    json: counts,
    text: [
      ...counts.done.map(({ repeats, executionId }) => `${repeats}  retried as ${executionId}`),
      ...counts.refused.map(
        ({ executionId, errorMessage }) => `${executionId}  passed over: ${errorMessage}`,
      ),
      describeCounts('retry', counts),
      ...(counts.done.length > 0 ? ['Workers start them within a minute.'] : []),
    ].join('\n'),
  };
}

type Found = Pick<Counts, 'matching' | 'refused'>;

async function sortOutNamed(db: Db, executionIds: string[]): Promise<Found> {
  const ids = [...new Set(executionIds.map((id) => id.toLowerCase()))];
  const runs = await listRunsById(db, ids);
  const known = new Set(runs.map((run) => run.execution_id));
  const { matching, refused } = await sortOutRetries({ db }, runs, { named: true });
  const unknown = ids
    .filter((id) => !known.has(id))
    .map((id) => ({ executionId: id, code: 'RUN_NOT_FOUND', errorMessage: 'The run does not exist.' }));
  return { matching, refused: [...refused, ...unknown] };
}

async function findMatching(db: Db, filter: RetryFilter, limit: number): Promise<Found> {
  const until = new Date();
  const all: Found = { matching: [], refused: [] };
  let after: string | undefined;
  do {
    const page = await listRunPage(db, { until, ...filter, status: 'failed', after, limit: PAGE });
    const { matching, refused } = await sortOutRetries({ db }, page.runs);
    all.matching.push(...matching.slice(0, limit - all.matching.length));
    all.refused.push(...refused);
    after = page.next ?? undefined;
  } while (after && all.matching.length < limit);
  return all;
}

/**
 * Retries the runs, and adds to `counts` what came of each. Of an organization for which no further run is accepted, all others
 * are passed over.
 */
async function retryAll(deps: AcceptDeps, ids: string[], asked: Asked, counts: Counts): Promise<void> {
  const author = operator();
  const stops = new Map<string, ServiceError>();
  for (let from = 0; from < ids.length; from += TOLD_AFTER) {
    if (from > 0) note(`${counts.done.length} of ${ids.length} runs retried so far …`);
    const page = await listRunsById(deps.db, ids.slice(from, from + TOLD_AFTER));
    for (const runs of Object.values(Object.groupBy(page, (run) => run.project_id))) {
      const [{ organization_id: organizationId }] = runs as [ListedRun];
      let left = runs as ListedRun[];
      if (!stops.has(organizationId)) {
        const { retried, refused, stoppedBy } = await retryOfProject(deps, author, left, asked);
        counts.done.push(...retried);
        counts.refused.push(...refused);
        if (!stoppedBy) continue;
        counts.stoppedBy ??= stoppedBy.code;
        if (!OF_ORGANIZATION.includes(stoppedBy.code)) return;
        stops.set(organizationId, stoppedBy);
        left = left.slice(retried.length + refused.length);
      }
      const { code, message: errorMessage } = stops.get(organizationId) as ServiceError;
      counts.refused.push(...left.map((run) => ({ executionId: run.execution_id, code, errorMessage })));
    }
  }
}

/** Retries runs of one project. Records it in the audit log first, as the endpoint does that retries runs of a project. */
async function retryOfProject(deps: AcceptDeps, author: Author, runs: ListedRun[], asked: Asked) {
  const [{ organization_id: organizationId, project_id: projectId }] = runs as [ListedRun];
  const named = 'executionIds' in asked;
  // Only runs of its own are named to an organization.
  const which = named ? { executionIds: runs.map((run) => run.execution_id) } : asked;
  const details = JSON.parse(JSON.stringify({ ...which, matching: runs.length }));
  const change = { organizationId, action: 'runs.retry', resourceId: projectId, details };
  await inTransaction(deps.db, (tx) => recordChange(tx, author, change));
  const requestId = author.requestId;
  return retryEach(deps, runs, { within: { projectId }, projectId, requestId, named });
}

/** Lends `work` what runs are accepted with, and closes it afterwards. Workers start the accepted runs. */
async function withAcceptDeps<T>(db: Db, work: (deps: AcceptDeps) => Promise<T>): Promise<T> {
  const config = acceptanceConfig();
  const registry = await openRegistry(config);
  const validator = createValidator();
  const largeValues = createLargeValues();
  try {
    return await work({
      db,
      definitions: createFlowDefinitions(db),
      validator,
      gates: createHttpGates({ hasWorker: false, connections: 20 }),
      largeValues,
      registry,
      resolvePublic: WEBHOOK_RULES.resolvePublic,
      config: {
        ...WEBHOOK_RULES.config,
        ...config,
        // An operator brings no model keys, so nothing is encrypted.
        get secretsKeys() {
          return secretsKeys();
        },
      },
    });
  } finally {
    await Promise.all([validator.close(), largeValues.close()]);
    registry.close();
  }
}
