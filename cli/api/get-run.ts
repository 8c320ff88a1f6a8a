import type { z } from 'zod';
import type { listedRuns } from '../../api/runs/run-shapes/answers.ts';
import { ServiceError } from '../../flow/errors.ts';
import { callApi } from './call-api.ts';
import { getMe, type Named } from './get-me.ts';
import { listAll } from './list-all.ts';

export type ListedRun = z.output<typeof listedRuns>['runs'][number];

/** Lists the paths under which the caller's runs are listed: of its project for an API key, else of each organization. */
export async function runListPaths(): Promise<string[]> {
  const me = await getMe();
  if (me.kind === 'api_key') return [`/api/v1/projects/${me.project.id}/runs`];
  const organizations = me.hasMore
    ? await listAll<Named>('/api/v1/organizations', 'organizations')
    : me.organizations;
  return organizations.map(({ id }) => `/api/v1/organizations/${id}/runs`);
}

/** Gets a run by its id, anywhere the caller has access. Throws RUN_NOT_FOUND. */
export async function getRun(executionId: string): Promise<ListedRun> {
  for (const path of await runListPaths()) {
    const { runs } = await callApi<z.output<typeof listedRuns>>('GET', path, { query: { id: executionId } });
    if (runs[0]) return runs[0];
  }
  throw new ServiceError(
    'RUN_NOT_FOUND',
    `There is no run ${executionId} that you can reach. Runs of deleted flows are not found by their id alone: read GET …/<org>/<project>/<flow>/jobs/${executionId}.`,
  );
}

/** Makes the path of a run: …/jobs/{executionId}. */
export function runPath({ organization, project, flow, executionId }: ListedRun): string {
  return `/api/v1/seq/${organization}/${project}/${flow}/jobs/${executionId}`;
}
