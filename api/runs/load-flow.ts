import { findFlowForRun } from '../../db/flows/find-flow-for-run.ts';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findShapeProblems } from '../../flow/find-shape-problems.ts';
import { SLUG_PATTERN } from '../../flow/limits.ts';
import { listBlocks } from '../../flow/plan.ts';
import { formatPath } from '../../flow/step-path.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { accessOf } from '../http/principal.ts';
import { invalidTree } from './require-sound-tree.ts';

/** The slugs in the path and the version number; without one, the production version is meant. */
type FlowPath = { org?: string; project?: string; flow?: string; version?: string };

/**
 * Loads the flow of the path into `ctx.state.flow`. Unknown, foreign and unpublished flows all get the same 404. Throws
 * INVALID_TREE when the stored definition is not a tree of steps.
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
          within: accessOf(principal),
          version: asked,
        })
      : undefined;
    if (!found) throw flowNotFound();
    const definition = await definitions.get(found.flowVersionId);
    const problems = findShapeProblems(definition);
    if (problems.length > 0)
      throw invalidTree(problems.map(({ path, message }) => ({ path: formatPath(path), message })));
    ctx.state.flow = { ...found, definition, blockCount: listBlocks(definition).length };
    await next();
  };
}

export function flowNotFound(): ServiceError {
  return new ServiceError(
    'FLOW_NOT_FOUND',
    'There is no such flow for this caller, or this version is not published. A path without a version needs a production version: publish the flow, and set its production version.',
  );
}

/** The largest version that the database can hold. It stands for every number and text that cannot be a version. */
const VERSION_MAX = 2 ** 31 - 1;

/** Reads the number of a published version. Throws INVALID_VERSION for the draft. */
export function parseVersion(text: string): number {
  if (!/^\d{1,10}$/.test(text)) return VERSION_MAX;
  const version = Number(text);
  if (version === DRAFT_VERSION)
    throw new ServiceError(
      'INVALID_VERSION',
      'Version 0 is the draft: publish it, and run the version you get.',
    );
  return Math.min(version, VERSION_MAX);
}
