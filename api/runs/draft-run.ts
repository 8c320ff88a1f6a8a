// POST …/flows/{flow_id}/draft/runs starts a run of the draft, for whoever edits it. Callers run versions: their paths refuse v0.
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { snapshotDraft } from '../../db/flows/draft-snapshots.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import { listBlocks } from '../../flow/plan.ts';
import { identifyCaller } from '../auth/identify-caller.ts';
import { loadProject } from '../auth/load-project.ts';
import type { ApiDeps } from '../deps.ts';
import { draftETag } from '../flows/draft-etag.ts';
import { flowNotFound, getFlow } from '../flows/flow-of-path.ts';
import { requireRunnable } from '../flows/require-runnable.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { requireMatch } from '../http/etag.ts';
import { authorOf } from '../http/principal.ts';
import { receiveBody } from '../http/receive-body.ts';
import { incomplete } from '../reference/flow-examples.ts';
import { changed } from '../reference/if-match.ts';
import { FLOWS_PATH } from '../reference/management-operations.ts';
import { body, examplesOf, refusal, runAnswer } from '../reference/operations.ts';
import { accepted, imageRequest, overridingRequest, runRequest } from '../reference/run-examples.ts';
import { admit } from './admit.ts';
import { jobAccepted } from './answers.ts';
import { readJob, startJob } from './jobs.ts';
import { readIdempotencyKey } from './read-idempotency-key.ts';
import { modelKeyHeaders, readModelKeys } from './read-model-keys.ts';
import { idempotencyHeaders, jobRequest } from './requests.ts';
import { runErrors } from './run-refusals.ts';

const headers = idempotencyHeaders.extend(modelKeyHeaders.shape).extend({
  'If-Match': z.string().optional().meta({
    description: 'The ETag of the draft that you mean to run: 412 when it has changed.',
  }),
});

export function draftRunRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${FLOWS_PATH}/:flow_id/draft/runs`,
      operation: {
        operationId: 'runDraft',
        summary: 'Start a run of the draft of a flow',
        description:
          'The draft has to be complete. The run has version 0 and environment `test`, keeps the draft as it is now, and costs what any run costs. Follow it, read it and cancel it as a job: `GET …/jobs/{executionId}`.',
        tags: ['Flows'],
        requestParams: { header: headers },
        requestBody: body(jobRequest, {
          message: runRequest,
          overrides: overridingRequest,
          images: imageRequest,
        }),
        responses: {
          202: runAnswer('The run is accepted.', jobAccepted, { accepted }),
          ...runErrors({ 400: { INVALID_TREE: incomplete } }),
          404: refusal(
            'The flow is unknown, or belongs to a project that the caller cannot access.',
            examplesOf(flowNotFound()),
          ),
          ...changed('draft'),
        },
      },
      handlers: [
        ...identifyCaller(deps, 'deploy'),
        loadProject(deps, 'member'),
        loadDraft(deps),
        receiveBody(deps),
        admit(deps, { patient: true }),
        readJob(deps),
        readIdempotencyKey('jobs'),
        readModelKeys(deps),
        recordStart(deps),
        startJob(deps),
      ],
    },
  ];
}

/** Loads the draft into `ctx.state.flow` as it is now. Throws INVALID_TREE unless it can run. */
function loadDraft(deps: ApiDeps): ApiMiddleware {
  return async function loadDraft(ctx, next) {
    const flow = await getFlow(deps.db, ctx);
    const { id: flowId, organization_id: organizationId, project_id: projectId, draft } = flow;
    requireMatch(ctx.get('If-Match'), draftETag(draft), 'draft');
    await requireRunnable(draft, deps.validator.of(organizationId));
    ctx.state.slugs = {
      organization: flow.organization_slug,
      project: flow.project_slug,
      flow: flow.slug,
    };
    ctx.state.flow = {
      ...{ organizationId, projectId, flowId },
      flowVersionId: await snapshotDraft(deps.db, flowId, draft),
      version: DRAFT_VERSION,
      balanceMicrocredits: flow.balance_microcredits,
      definition: draft,
      blockCount: listBlocks(draft).length,
    };
    await next();
  };
}

/** Records who has started the run in the audit log, once. */
function recordStart({ db }: ApiDeps): ApiMiddleware {
  return async function recordStart({ state, response }, next) {
    await next();
    const { accepted, flow, principal, requestId } = state;
    if (!accepted || response.get('Idempotent-Replayed')) return;
    const { organizationId, flowId: flow_id, version } = flow;
    const change = { organizationId, action: 'run.start', resourceId: accepted.executionId };
    await inTransaction(db, (tx) =>
      recordChange(tx, authorOf(principal, requestId), { ...change, details: { flow_id, version } }),
    );
  };
}
