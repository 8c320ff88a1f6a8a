import { inTransaction } from '../../db/connect.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { authorOf } from '../http/principal.ts';

/** Records who has started a run of a draft in the audit log, once: not each step or resume of it. */
export function recordStart({ db }: ApiDeps): ApiMiddleware {
  return async function recordStart({ state, response }, next) {
    const { executionId } = state.body as { executionId?: string | null };
    await next();
    const { accepted, flow, principal, requestId } = state;
    if (!accepted || executionId != null || response.get('Idempotent-Replayed')) return;
    const { organizationId, flowId: flow_id, version } = flow;
    const change = { organizationId, action: 'run.start', resourceId: accepted.executionId };
    await inTransaction(db, (tx) =>
      recordChange(tx, authorOf(principal, requestId), { ...change, details: { flow_id, version } }),
    );
  };
}
