// `weir runs retry` and `weir runs cancel` with a filter, page by page: of a project, or of every project of an
// organization or of the service.
import type { z } from 'zod';
import type { operatedOrganization } from '../../api/operator/organizations.ts';
import type { bulkAnswer } from '../../api/runs/run-list-query.ts';
import type { VersionChoice } from '../../api/runs/run-shapes/repetitions.ts';
import { ServiceError } from '../../flow/errors.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { getMe, getOrganization, getProject, isOperator, type Named } from '../api/get-resource.ts';
import { serviceUrl } from '../api/service-url.ts';
import { notWeir, Unreachable } from '../api/to-error.ts';
import { type Counts, confirmMany, countReasons, countRuns, describeCounts } from '../terminal/bulk-runs.ts';
import { onInterruption } from '../terminal/interruption.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import { type CommandResult, note } from '../terminal/print.ts';
import type { FilterOptions } from './list-runs.ts';

/** Runs in one request: few enough to finish well before the request times out. */
const PAGE = 25;
/** Errors after which runs of other organizations may still be retried. */
const OF_ORGANIZATION = ['INSUFFICIENT_CREDITS', 'FORBIDDEN', 'RATE_LIMITED'];

export type BulkOptions = FilterOptions & {
  organization?: string;
  allOrganizations?: boolean;
  project?: string;
  flow?: string;
  outcome?: string;
  errorCode?: string;
  errorGroup?: string;
  /** The version of the new runs of a retry. */
  onVersion?: VersionChoice;
  limit?: number;
  dryRun?: boolean;
  yes?: boolean;
  /** Set by Commander, and not sent to the service. */
  json?: boolean;
};

type How = 'retry' | 'cancel';
/** A project with its path, and the flow in it where only its runs are meant. */
type Place = { organizationId: string; projectId: string; project: string; flow?: string | undefined };
type Filter = FilterOptions & {
  outcome?: string;
  errorCode?: string;
  error_group?: string;
  on_version?: VersionChoice;
  until: Date;
  dryRun?: boolean;
};

type Page = z.output<typeof bulkAnswer> & {
  bulk_id?: string | null;
  retried?: Counts['done'];
  cancelled?: string[];
  refused?: { executionId: string; code: string; errorMessage: string }[];
  stoppedBy?: string | null;
};

/**
 * Retries or cancels the runs that the options select, except runs that start later. Can be interrupted and repeated: the
 * service retries and cancels no run twice. Asks first where these are many and of several projects.
 */
export async function changeRuns(how: How, options: BulkOptions): Promise<CommandResult> {
  const {
    organization,
    allOrganizations,
    project,
    flow,
    limit,
    dryRun,
    yes,
    onVersion,
    errorGroup,
    ...others
  } = options;
  const places = await findPlaces(options);
  const filter: Filter = {
    until: new Date(),
    ...others,
    ...(onVersion !== undefined && { on_version: onVersion }),
    ...(errorGroup !== undefined && { error_group: errorGroup }),
  };
  const testRuns = how === 'cancel' ? await testRunsOf(options, filter) : undefined;
  if (dryRun || organization !== undefined || allOrganizations) {
    const found = emptyCounts();
    await changeIn(how, places, { ...filter, dryRun: true }, found, limit);
    const matching = await testRuns?.find();
    if (dryRun) return describe(how, found, { dryRun, matching });
    await confirmMany(found.matching.length + (matching?.length ?? 0), how, yes);
  }
  const counts = emptyCounts();
  // Test runs first, so that they begin no further case.
  const cancelled = await testRuns?.cancel();
  await changeIn(how, places, filter, counts, limit);
  if (counts.stoppedBy) process.exitCode = 1;
  return describe(how, counts, { cancelled });
}

function emptyCounts(): Counts {
  return { done: [], matching: [], refused: [], stoppedBy: null, bulkRetries: [] };
}

function describe(
  how: How,
  counts: Counts,
  { dryRun, matching, cancelled }: { dryRun?: boolean; matching?: string[]; cancelled?: string[] },
): CommandResult {
  const testRuns = (matching ?? cancelled ?? []).length;
  const also = matching ? 'would be cancelled' : 'being cancelled';
  return {
    json: {
      ...counts,
      ...(matching && { matchingTestRuns: matching }),
      ...(cancelled && { cancelledTestRuns: cancelled }),
    },
    text: [
      ...counts.matching,
      ...(matching ?? []).map((id) => `${id}  (test run)`),
      describeCounts(how, counts, dryRun),
      ...(testRuns > 0 ? [`${testRuns} test ${testRuns === 1 ? 'run' : 'runs'} ${also}.`] : []),
      ...countReasons(counts.refused),
      ...counts.bulkRetries.map(
        ({ bulk_id, project }) => `See weir runs bulk show ${bulk_id} --project ${project}`,
      ),
    ].join('\n'),
  };
}

/** Changes the runs in each of the places, up to `limit` runs in all, and adds to `counts` what came of them. */
async function changeIn(
  how: How,
  places: Place[],
  filter: Filter,
  counts: Counts,
  limit = Number.POSITIVE_INFINITY,
): Promise<void> {
  const stopped = new Set<string>();
  onInterruption(() =>
    note(`${describeCounts(how, counts, filter.dryRun)} Repeat the command for the others.`),
  );
  const changed = () => counts.done.length + counts.matching.length;
  for (const { organizationId, projectId, project, flow } of places) {
    if (stopped.has(organizationId)) continue;
    let cursor: string | null = null;
    let bulkId: string | undefined;
    do {
      const size = Math.min(PAGE, limit - changed());
      if (size <= 0) return;
      const body = {
        ...filter,
        ...(flow && { flow }),
        limit: size,
        ...(cursor && { cursor }),
        ...(bulkId && { bulk_id: bulkId }),
      };
      const page: Page = await callApi<Page>('POST', `/api/v1/projects/${projectId}/runs/${how}`, {
        body,
      }).catch((error: unknown) => {
        const code = codeOf(error);
        if (places.length > 1 && code !== undefined && OF_ORGANIZATION.includes(code))
          return { hasMore: false, nextCursor: null, stoppedBy: code };
        if (counts.done.length > 0) note(describeCounts(how, counts, filter.dryRun));
        throw error;
      });
      if (typeof page?.hasMore !== 'boolean') throw notWeir(serviceUrl());
      const { retried = [], cancelled = [], matching = [], refused = [], stoppedBy = null } = page;
      counts.done.push(...retried, ...cancelled.map((executionId) => ({ executionId })));
      counts.matching.push(...matching);
      counts.refused.push(...refused);
      if (page.bulk_id && page.bulk_id !== bulkId)
        counts.bulkRetries.push({ bulk_id: page.bulk_id, project });
      bulkId = page.bulk_id ?? bulkId;
      counts.stoppedBy ??= stoppedBy;
      cursor = stoppedBy ? null : page.nextCursor;
      if (stoppedBy && !OF_ORGANIZATION.includes(stoppedBy)) return;
      if (stoppedBy) stopped.add(organizationId);
      if (cursor) note(`${describeCounts(how, counts, filter.dryRun)} So far …`);
    } while (cursor);
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ServiceError || error instanceof Unreachable ? error.code : undefined;
}

/** Finds the projects that the options name, by default the project of the API key. Throws UsageError without any. */
async function findPlaces({ organization, allOrganizations, project, flow }: BulkOptions): Promise<Place[]> {
  const scopes = [organization !== undefined, allOrganizations, project ?? flow].filter(Boolean).length;
  if (scopes > 1)
    throw new UsageError('Give one of --all-organizations, --organization, and --project or --flow.');
  if (allOrganizations) {
    const all = await listAll<z.output<typeof operatedOrganization>>(
      '/api/v1/operator/organizations',
      'organizations',
    );
    const places = [];
    for (const one of all) places.push(...(await placesIn(one)));
    return places;
  }
  if (organization !== undefined) return placesIn(await getOrganization(organization));
  return [await getProjectAndFlow(project, flow)];
}

async function placesIn({ id: organizationId, slug }: { id: string; slug: string }): Promise<Place[]> {
  const query = { organization_id: organizationId };
  const projects = await listAll<Named>('/api/v1/projects', 'projects', { query });
  return projects.map((one) => ({ organizationId, projectId: one.id, project: `${slug}/${one.slug}` }));
}

/** Gets the project, and the flow, that the options name; by default the project of the API key. */
export async function getProjectAndFlow(project?: string, path = ''): Promise<Place> {
  const at = path.lastIndexOf('/');
  const [ofFlow, slug] = [path.slice(0, Math.max(at, 0)), path.slice(at + 1)];
  if (project && ofFlow && project !== ofFlow)
    throw new UsageError(`--project ${project} and --flow ${path} name different projects.`);
  const within = ofFlow || project || process.env.WEIR_PROJECT;
  const flow = slug || undefined;
  if (within) {
    const { id: projectId, organizationId } = await getProject(within);
    return { organizationId, projectId, project: within, flow };
  }
  const me = await getMe();
  if (me.kind === 'api_key') {
    const { organization, project: its } = me;
    const named = `${organization.slug}/${its.slug}`;
    return { organizationId: organization.id, projectId: its.id, project: named, flow };
  }
  throw new UsageError(
    'Name the project: as org/project (runs bulk list), --project org/project, --flow org/project/flow, or in WEIR_PROJECT.',
  );
}

// Operators cancel test runs, too.

type TestRuns = { find: () => Promise<string[]>; cancel: () => Promise<string[]> };
type TestRunPage = { cancelled: string[]; matching?: string[]; hasMore: boolean };

/** Returns the test runs that the options select; undefined for callers who may not, and for filters that they do not have. */
async function testRunsOf(options: BulkOptions, filter: Filter): Promise<TestRuns | undefined> {
  const { status, mode, environment, version, since, until } = filter;
  const isOfRuns = [mode, environment, version].some((one) => one !== undefined);
  if (isOfRuns || (status ?? 'started') !== 'started' || !isOperator(await getMe())) return undefined;
  const path = options.flow?.includes('/') ? options.flow : (options.project ?? process.env.WEIR_PROJECT);
  const [organization = options.organization, project, flow = options.flow] = options.allOrganizations
    ? []
    : options.organization !== undefined
      ? [options.organization]
      : (path ?? '').split('/');
  const body = { organization, project, flow, since, until };
  const post = (dryRun: boolean) =>
    callApi<TestRunPage>('POST', '/api/v1/operator/test-runs/cancel', { body: { ...body, dryRun } });
  return {
    find: async () => (await post(true)).matching ?? [],
    async cancel() {
      const cancelled: string[] = [];
      for (let hasMore = true; hasMore; ) {
        const page = await post(false);
        cancelled.push(...page.cancelled);
        hasMore = page.hasMore;
        if (hasMore) note(`${countRuns(cancelled.length)} of tests so far …`);
      }
      return cancelled;
    },
  };
}
