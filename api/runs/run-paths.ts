// The targets of endpoints that start runs: the production version, a published version, or the draft.
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { FLOWS_PATH } from '../reference/management-operations.ts';
import { flowPaths } from '../reference/operations.ts';
import { loadDraft, loadFlow } from './calls/load-flow.ts';

export type RunTarget = 'production' | 'version' | 'draft';

type RunPath = {
  path: string;
  target: RunTarget;
  /** Admits callers who may start such a run. */
  identify: ApiMiddleware[];
  /** Loads the flow in that version into `ctx.state.flow`. */
  load: ApiMiddleware[];
};

/** Lists the paths of an endpoint that starts runs. Drafts are run by callers who may edit them. */
export function runPaths(deps: ApiDeps, suffix: string): RunPath[] {
  const published = flowPaths(suffix).map(({ path, versioned }) => ({
    path,
    target: versioned ? ('version' as const) : ('production' as const),
    identify: identifyCaller(deps, 'run'),
    load: [loadFlow(deps)],
  }));
  return [
    ...published,
    {
      path: `${FLOWS_PATH}/:flow_id/draft${suffix}`,
      target: 'draft',
      identify: identifyCaller(deps, 'deploy'),
      load: [loadProject(deps, 'member'), loadDraft(deps)],
    },
  ];
}
