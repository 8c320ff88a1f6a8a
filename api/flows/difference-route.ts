// GET …/flows/{flow_id}/difference: what changed between two versions, or a version and the draft.
import type { z } from 'zod';
import { measureDraft } from '../../db/flows/flow-designs.ts';
import { getVersion, measureVersion } from '../../db/flows/versions.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { findChanges } from '../../flow/find-changes.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { loadProject } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readQuery } from '../http/query.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import * as example from '../reference/flow-examples.ts';
import { FLOWS_PATH, PROJECT_ERRORS } from '../reference/management-operations.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import { loadDraftOf, requireFlow } from './flow-of-path.ts';
import { differenceQuery, differenceRecord } from './schemas.ts';

export function differenceRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${FLOWS_PATH}/:flow_id/difference`,
      operation: {
        operationId: 'compareVersions',
        summary: 'Compare two versions of a flow, or a version and the draft',
        tags: ['Flows'],
        requestParams: { query: differenceQuery },
        responses: {
          200: answer('The fields that differ, by step.', differenceRecord, { changes: example.difference }),
          ...PROJECT_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'read', 'deploy'),
        loadProject(deps, 'member'),
        readQuery(differenceQuery),
        compare(deps),
      ],
    },
  ];
}

function compare(deps: ApiDeps): ApiMiddleware {
  return async function compare(ctx) {
    const { from, to } = ctx.state.query as z.output<typeof differenceQuery>;
    const { id } = await requireFlow(deps.db, ctx);
    const bytes = (await measure(deps, id, from)) + (await measure(deps, id, to));
    await reserveAnswer(deps, ctx, ctx.state.project.organization_id, bytes);
    const changes = findChanges(await load(deps, id, from), await load(deps, id, to));
    ctx.body = { changes };
  };
}

function measure({ db }: ApiDeps, flowId: string, side: string): Promise<number> {
  return side === 'draft' ? measureDraft(db, flowId) : measureVersion(db, flowId, Number(side));
}

async function load({ db }: ApiDeps, flowId: string, side: string): Promise<FlowDefinition> {
  return side === 'draft' ? loadDraftOf(db, flowId) : (await getVersion(db, flowId, Number(side))).definition;
}
