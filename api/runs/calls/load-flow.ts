import { z } from 'zod';
import { findSnapshot } from '../../../db/flows/draft-snapshots.ts';
import { findFlowForRun, findFlowOfRuns } from '../../../db/flows/find-flow.ts';
import { measureDraft } from '../../../db/flows/flow-designs.ts';
import { findRun } from '../../../db/runs/runs.ts';
import { DRAFT_VERSION, type FlowDefinition } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { findShapeProblems, findTreeProblems } from '../../../flow/find-tree-problems.ts';
import { SLUG_PATTERN, UUID_PATTERN, VERSION_MAX } from '../../../flow/limits.ts';
import { listBlocks } from '../../../flow/plan.ts';
import { acquireDefinition } from '../../../platform/large-values/large-values.ts';
import { addToLogContext } from '../../../platform/observability/log.ts';
import { linkToTrace } from '../../../platform/observability/tracing.ts';
import type { ApiDeps } from '../../deps.ts';
import { findRefusedSchemas, requireRunnable, treeError } from '../../flows/draft-problems.ts';
import { type Problem, placeProblem } from '../../flows/file-problems.ts';
import { draftETag } from '../../flows/flow-etag.ts';
import { getFlowWithDraft, requireFlow } from '../../flows/flow-of-path.ts';
import { codeReaderOf } from '../../flows/read-code-of.ts';
import type { ApiMiddleware, LoadedFlow } from '../../http/context.ts';
import { requireMatch } from '../../http/etag.ts';
import { accessOf, type Principal } from '../../http/principal.ts';
import { readerSignal } from '../../http/reader-signal.ts';
import { reserveBytes } from '../../http/reserve-bytes.ts';
import { waitInTime } from '../../http/wait-in-time.ts';

export const ifMatchDraft = z.object({
  'If-Match': z.string().optional().meta({
    description: 'The ETag of the draft that you mean to run: 412 when it has changed.',
  }),
});

/** The slugs and the version number of a path; without a number, the production version. */
type FlowPath = { org?: string; project?: string; flow?: string; version?: string };

/**
 * Loads a flow in the version to run; undefined when there is none. Throws INVALID_TREE when the stored definition is
 * not a valid tree or has an invalid JSON Schema: its runs would fail, at a cost to everybody. Throws RATE_LIMITED
 * when loading is queued for too long, and REQUEST_TIMEOUT when the signal from `gone` aborts first.
 */
export async function loadRunnableFlow(
  { db, definitions, largeValues }: Pick<ApiDeps, 'db' | 'definitions' | 'largeValues'>,
  query: Parameters<typeof findFlowForRun>[1],
  gone?: () => AbortSignal,
): Promise<LoadedFlow | undefined> {
  const foundAt = performance.now();
  const found = await findFlowForRun(db, query);
  if (!found) return undefined;
  const { organizationId, flowVersionId } = found;
  const look = async () => {
    const definition = await definitions.get(flowVersionId);
    const problems = await findProblems(definition);
    return { definition, problems };
  };
  const loaded = definitions.peek(flowVersionId);
  const isKnown = loaded !== undefined && known.has(loaded);
  const acquire = async (signal: AbortSignal) => {
    const bytes = await definitions.measure(flowVersionId);
    return acquireDefinition(largeValues, organizationId, bytes, signal);
  };
  using _permit = isKnown ? undefined : await waitInTime(acquire, gone?.());
  const { definition, problems } = await look();
  if (problems.length > 0) throw invalidTree(definition, problems);
  return { ...found, foundAt, definition, blockCount: listBlocks(definition).length };
}

/**
 * Loads the flow of the path into `ctx.state.flow`, in the version to run. Unknown, foreign and unpublished flows get
 * the same 404. Throws INVALID_VERSION for the draft of an accessible flow, and INVALID_TREE as `loadRunnableFlow`
 * does.
 */
export function loadFlow(deps: ApiDeps): ApiMiddleware {
  return async function loadFlow(ctx, next) {
    const path: FlowPath = ctx.params;
    const version = path.version === undefined ? 'production' : parseVersion(path.version);
    const query = queryOf(path, ctx.state.principal);
    if (query && version === DRAFT_VERSION) await refuseDraft(deps, query);
    const found = query && (await loadRunnableFlow(deps, { ...query, version }, () => readerSignal(ctx.res)));
    if (!query || !found) throw flowNotFound(version);
    const { organization, project, flow } = query;
    ctx.state.slugs = { organization, project, flow };
    ctx.state.flow = found;
    ctx.state.flowIds = found;
    addToLogContext({ organization_id: found.organizationId });
    await next();
  };
}

/** Throws INVALID_VERSION for a flow that the caller can reach, published or not, and the 404 for any other. */
async function refuseDraft({ db }: Pick<ApiDeps, 'db'>, query: NonNullable<ReturnType<typeof queryOf>>) {
  const found = await findFlowOfRuns(db, { ...query, version: undefined, executionId: undefined });
  throw found ? versionIsDraft() : flowNotFound();
}

/** The problems of definitions, which are immutable. */
const known = new WeakMap<FlowDefinition, Problem[]>();

/** Finds the problems of a definition's shape, or else of its JSON Schemas, and caches them. */
async function findProblems(definition: FlowDefinition): Promise<Problem[]> {
  const found = known.get(definition);
  if (found) return found;
  const ofShape: Problem[] = findShapeProblems(definition);
  const problems = ofShape.length > 0 ? ofShape : await findRefusedSchemas(definition);
  known.set(definition, problems);
  return problems;
}

/**
 * Loads the ids of the flow in the path, for requests about its runs. The flow may be unpublished. Throws the same
 * errors as `loadFlow` for unknown flows and for drafts. `deletedToo`: accepts the deleted flow of the run in the path.
 */
export function loadFlowIds({ db }: ApiDeps, { deletedToo = false } = {}): ApiMiddleware {
  return async function loadFlowIds(ctx, next) {
    const path: FlowPath = ctx.params;
    const asked = path.version === undefined ? undefined : parseVersion(path.version);
    const query = queryOf(path, ctx.state.principal);
    const { executionId: asRun = '' } = ctx.params;
    const executionId = deletedToo && UUID_PATTERN.test(asRun) ? asRun : undefined;
    const version = asked === DRAFT_VERSION ? undefined : asked;
    const found = query && (await findFlowOfRuns(db, { ...query, version, executionId }));
    if (!found) throw flowNotFound(version);
    if (asked === DRAFT_VERSION) throw versionIsDraft();
    ctx.state.flowIds = found;
    addToLogContext({ organization_id: found.organizationId });
    await next();
  };
}

/** Returns the lookup for a path; undefined when no flow can match. */
function queryOf({ org: organization = '', project = '', flow = '' }: FlowPath, principal: Principal) {
  if (![organization, project, flow].every((slug) => SLUG_PATTERN.test(slug))) return undefined;
  return { organization, project, flow, within: accessOf(principal) };
}

/** The error for a flow that a caller cannot reach or that has no such version. The message does not say which. */
export function flowNotFound(version?: number | 'production'): ServiceError {
  const none = 'The flow does not exist, or this caller may not see it';
  if (version === undefined) return new ServiceError('FLOW_NOT_FOUND', `${none}.`);
  const missing =
    version === 'production'
      ? 'no production version: publish it, and set its production version'
      : 'no published version with this number';
  return new ServiceError('FLOW_NOT_FOUND', `${none}, or it has ${missing}.`);
}

/** The error for a path that names the draft of a flow. */
export function versionIsDraft(): ServiceError {
  return new ServiceError(
    'INVALID_VERSION',
    'Version 0 is the draft: publish it, and run the version you get.',
  );
}

/**
 * Parses a version number without leading zeros. Returns VERSION_MAX for numbers and texts that cannot be a version.
 */
function parseVersion(text: string): number {
  return /^(0|[1-9]\d{0,9})$/.test(text) ? Math.min(Number(text), VERSION_MAX) : VERSION_MAX;
}

/** Throws INVALID_TREE with every problem of a tree that has a valid shape. */
export function requireSoundTree(definition: FlowDefinition): void {
  const problems = findTreeProblems(definition);
  if (problems.length > 0) throw invalidTree(definition, problems);
}

/** Makes the 400 that names every problem of a published flow's tree. */
function invalidTree(definition: FlowDefinition, problems: Problem[]): ServiceError {
  const placed = problems.map((problem) => placeProblem(definition, problem));
  return treeError(placed, (lines) => `The published flow can't be run: ${lines.join('; ')}`);
}

/**
 * Loads the present draft into `ctx.state.flow`, after reserving memory for it. A run keeps the draft it began with.
 */
export function loadDraft(deps: ApiDeps): ApiMiddleware {
  return async function loadDraft(ctx, next) {
    const foundAt = performance.now();
    const { id } = await requireFlow(deps.db, ctx);
    const bytes = await measureDraft(deps.db, id);
    const permit = await reserveBytes(
      deps.gates.answers,
      ctx.state.project.organization_id,
      bytes,
      readerSignal(ctx.res),
    );
    const flow = await getFlowWithDraft(deps.db, ctx).finally(permit.release);
    const { id: flowId, organization_id: organizationId, project_id: projectId, draft } = flow;
    ctx.state.requireRunnable = async () => {
      requireMatch(ctx.get('If-Match'), draftETag(draft), 'draft');
      await requireRunnable(
        draft,
        deps.validator.of(organizationId),
        codeReaderOf(deps, organizationId),
        deps.registry,
      );
    };
    ctx.state.slugs = {
      organization: flow.organization_slug,
      project: flow.project_slug,
      flow: flow.slug,
    };
    ctx.state.flow = {
      organizationId,
      projectId,
      flowId,
      flowVersionId: await findSnapshot(deps.db, flowId, draft),
      version: DRAFT_VERSION,
      balanceMicrocredits: flow.balance_microcredits,
      runsUnderWayMax: flow.runs_under_way_max,
      suspendedAt: flow.suspended_at,
      suspensionReason: flow.suspension_reason,
      foundAt,
      definition: draft,
      blockCount: listBlocks(draft).length,
    };
    ctx.state.flowIds = ctx.state.flow;
    await next();
  };
}

/**
 * Loads a run of the flow in the path, in any version, into `ctx.state.run`. Unknown and foreign runs get the same
 * 404.
 */
export function loadRun({ db }: ApiDeps): ApiMiddleware {
  return async function loadRun(ctx, next) {
    const { executionId = '' } = ctx.params;
    const run = UUID_PATTERN.test(executionId)
      ? await findRun(db, ctx.state.flowIds.flowId, executionId)
      : undefined;
    if (!run) throw runOfFlowNotFound();
    linkToTrace(run.trace_context);
    ctx.state.run = run;
    addToLogContext({ execution_id: run.execution_id });
    await next();
  };
}

export function runOfFlowNotFound(): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', 'This flow has no run with that executionId.');
}
