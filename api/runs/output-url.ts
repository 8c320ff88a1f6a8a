import { findOutputObject } from '../../db/runs/block-traces.ts';
import { objectStoreOf } from '../../db/stored-values/object-store-of.ts';
import { identifyCaller } from '../auth/identify-caller.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readQuery } from '../http/query.ts';
import { answer } from '../reference/operations.ts';
import { outputUrlExample } from '../reference/run-examples.ts';
import { loadFlowIds } from './calls/load-flow.ts';
import { BLOCK, BLOCK_ERRORS, blockQuery, getBlockTrace, valueNotFound } from './get-block-trace.ts';
import { loadRun } from './load-run.ts';
import { outputUrl } from './run-shapes/block-answers.ts';

/** A URL is small, however large the output. */
const { 413: _, ...ERRORS } = BLOCK_ERRORS;

/** Lists the endpoint that signs URLs of outputs. */
export function outputUrlRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${BLOCK}/output/url`,
      operation: {
        operationId: 'getBlockOutputUrl',
        summary: 'Get a URL for the output of a block of a run, where that is in an object store',
        tags: ['Execution'],
        requestParams: { query: blockQuery },
        responses: { 200: answer('The URL.', outputUrl, { url: outputUrlExample }), ...ERRORS },
      },
      handlers: [
        ...identifyCaller(deps, 'run', 'read'),
        loadFlowIds(deps, { deletedToo: true }),
        loadRun(deps),
        readQuery(blockQuery),
        getOutputUrl(deps),
      ],
    },
  ];
}

/** Signs a URL that is valid for five minutes. Readers of the output may pass it on. */
function getOutputUrl(deps: ApiDeps): ApiMiddleware {
  return async function getOutputUrl(ctx) {
    const row = await getBlockTrace(deps, ctx);
    if (row.output_bytes === 0) throw valueNotFound(row, 'output');
    const object = await findOutputObject(deps.db, { callId: row.execution_id, blockKey: row.block_key });
    const signed = object && (await objectStoreOf(deps.db).sign(object));
    ctx.body = {
      url: signed?.url ?? null,
      expiresAt: signed?.expiresAt.toISOString() ?? null,
      outputBytes: row.output_bytes,
    };
  };
}
