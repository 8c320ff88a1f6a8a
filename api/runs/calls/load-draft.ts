import { z } from 'zod';
import { findSnapshot } from '../../../db/flows/draft-snapshots.ts';
import { measureDraft } from '../../../db/flows/flow-designs.ts';
import { DRAFT_VERSION } from '../../../flow/definition.ts';
import { listBlocks } from '../../../flow/plan.ts';
import type { ApiDeps } from '../../deps.ts';
import { draftETag } from '../../flows/draft-etag.ts';
import { getFlowWithDraft, requireFlow } from '../../flows/flow-of-path.ts';
import { codeReaderOf } from '../../flows/read-code-of.ts';
import { requireRunnable } from '../../flows/require-runnable.ts';
import type { ApiMiddleware } from '../../http/context.ts';
import { requireMatch } from '../../http/etag.ts';
import { holdStored } from '../../http/hold-stored.ts';

export const ifMatchDraft = z.object({
  'If-Match': z.string().optional().meta({
    description: 'The ETag of the draft that you mean to run: 412 when it has changed.',
  }),
});

/**
 * Loads the present draft into `ctx.state.flow`, a large one under the organization's permit. A run keeps the draft
 * it began with.
 */
export function loadDraft(deps: ApiDeps): ApiMiddleware {
  return async function loadDraft(ctx, next) {
    const foundAt = performance.now();
    const { id } = await requireFlow(deps.db, ctx);
    const bytes = await measureDraft(deps.db, id);
    const { project } = ctx.state;
    const load = () => getFlowWithDraft(deps.db, ctx);
    const flow = await holdStored(deps, project.organization_id, bytes, load);
    const { id: flowId, organization_id: organizationId, project_id: projectId, draft } = flow;
    ctx.state.requireRunnable = async () => {
      requireMatch(ctx.get('If-Match'), draftETag(draft), 'draft');
      await requireRunnable(draft, deps.validator.of(organizationId), codeReaderOf(deps, organizationId));
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
