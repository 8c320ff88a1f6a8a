import { findFlowForRun } from '../../db/flows/find-flow-for-run.ts';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findShapeProblems } from '../../flow/find-shape-problems.ts';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import { listBlocks } from '../../flow/plan.ts';
import { formatPath } from '../../flow/step-path.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { invalidTree } from './require-sound-tree.ts';

/** Slugs and, in the versioned form, the number; unversioned means production. */
type FlowPath = { org?: string; project?: string; flow?: string; version?: string };

/**
 * Sets `ctx.state.flow`. Unknown, foreign and unpublished flows all answer the same 404; throws INVALID_TREE for a stored
 * definition that is no tree of steps.
 */
export function loadFlow({ db, definitions }: ApiDeps): ApiMiddleware {
  return async function loadFlow(ctx, next) {
    const { principal } = ctx.state;
    const { org = '', project = '', flow = '', version } = ctx.params as FlowPath;
    const asked = version === undefined ? 'production' : parseVersion(version);
    const found = [org, project, flow].every((slug) => SLUG_PATTERN.test(slug))
      ? await findFlowForRun(db, {
          organization: org,
          project,
          flow,
          within:
            principal.kind === 'key' ? { projectId: principal.projectId } : { userId: principal.userId },
          version: asked,
        })
      : undefined;
    if (!found)
      throw new ServiceError(
        'FLOW_NOT_FOUND',
        'There is no such flow for this caller, or the version asked for is not published.',
      );
    const definition = await definitions.get(found.flowVersionId);
    const problems = findShapeProblems(definition);
    if (problems.length > 0)
      throw invalidTree(problems.map(({ path, message }) => ({ path: formatPath(path), message })));
    ctx.state.flow = { ...found, definition, blockCount: listBlocks(definition).length };
    await next();
  };
}

/** The largest the database could hold: stands for every number and text that can be no version. */
const VERSION_MAX = 2 ** 31 - 1;

function parseVersion(text: string): number {
  if (!/^\d{1,10}$/.test(text)) return VERSION_MAX;
  const version = Number(text);
  if (version === DRAFT_VERSION)
    throw new ServiceError(
      'INVALID_VERSION',
      'Version 0 is the draft: publish it and run the version that gives.',
    );
  return Math.min(version, VERSION_MAX);
}
