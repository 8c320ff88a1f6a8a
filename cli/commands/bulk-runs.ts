import type { z } from 'zod';
import type { bulkAnswer } from '../../api/runs/bulk-filter.ts';
import { callApi } from '../api/call-api.ts';
import { getProject } from '../api/get-by-path.ts';
import { getMe } from '../api/get-me.ts';
import { serviceUrl } from '../api/service-url.ts';
import { notWeir } from '../api/to-error.ts';
import { type Counts, countReasons, describeCounts } from '../terminal/bulk-result.ts';
import { note } from '../terminal/print-line.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { FilterOptions } from './list-runs.ts';

/** So few that a page is carried out well within the time that a request may take. */
const PAGE = 25;

export type BulkOptions = FilterOptions & {
  project?: string;
  flow?: string;
  errorCode?: string;
  dryRun?: boolean;
  /** Commander's; the service does not know it. */
  json?: boolean;
};

type Page = z.output<typeof bulkAnswer> & {
  retried?: { executionId: string; repeats: string }[];
  cancelled?: string[];
  refused?: { executionId: string; code: string; errorMessage: string }[];
  stoppedBy?: string | null;
};

/**
 * Carries out `how` for the runs that the options find, as they are when it begins. It may be cut off and repeated: the service
 * retries and cancels no run twice.
 */
export async function changeRuns(how: 'retry' | 'cancel', options: BulkOptions): Promise<CommandResult> {
  const { project, flow, ...filter } = options;
  const place = await getProjectAndFlow(project, flow);
  const counts: Counts = { done: [], matching: [], refused: [], stoppedBy: null };
  const body = { until: new Date(), ...filter, ...(place.flow && { flow: place.flow }), limit: PAGE };
  let cursor: string | null = null;
  do {
    const page: Page = await callApi<Page>('POST', `/api/v1/projects/${place.projectId}/runs/${how}`, {
      body: { ...body, ...(cursor && { cursor }) },
    }).catch((error: unknown) => {
      if (counts.done.length > 0) note(describeCounts(how, counts, filter.dryRun));
      throw error;
    });
    if (typeof page?.hasMore !== 'boolean') throw notWeir(serviceUrl());
    const { retried = [], cancelled = [], matching = [], refused = [], stoppedBy = null } = page;
    counts.done.push(...retried, ...cancelled.map((executionId) => ({ executionId })));
    counts.matching.push(...matching);
    counts.refused.push(...refused);
    counts.stoppedBy = stoppedBy;
    cursor = page.nextCursor;
    if (cursor && !stoppedBy) note(`${describeCounts(how, counts, filter.dryRun)} So far …`);
  } while (cursor && !counts.stoppedBy);
  if (counts.stoppedBy) process.exitCode = 1;
  return {
    json: counts,
    text: [
      ...counts.matching,
      describeCounts(how, counts, filter.dryRun),
      ...countReasons(counts.refused),
    ].join('\n'),
  };
}

/** Gets the project, and the flow in it, that the options name; an API key's own project need not be named. */
async function getProjectAndFlow(project?: string, path = '') {
  const at = path.lastIndexOf('/');
  const [ofFlow, slug] = [path.slice(0, Math.max(at, 0)), path.slice(at + 1)];
  if (project && ofFlow && project !== ofFlow)
    throw new UsageError(`--project ${project} and --flow ${path} name different projects.`);
  const within = ofFlow || project || process.env.WEIR_PROJECT;
  const flow = slug || undefined;
  if (within) return { projectId: (await getProject(within)).id, flow };
  const me = await getMe();
  if (me.kind === 'api_key') return { projectId: me.project.id, flow };
  throw new UsageError('Say in which project: --project org/project, or --flow org/project/flow.');
}
