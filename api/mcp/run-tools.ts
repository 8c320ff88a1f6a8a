// list_runs
import { z } from 'zod';
import { listRuns } from '../../db/list-runs.ts';
import { findRun } from '../../db/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { runList, runState } from '../requests.ts';
import { toRun } from '../to-run.ts';
import { flowId } from './shapes.ts';
import { defineTool } from './tool.ts';
import { getFlow } from './write-flow.ts';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;

const listRunsTool = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description: 'Runs of a flow, newest first, with how they ended and what they cost in credits.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: z.strictObject({
    flow_id: flowId,
    status: runState.shape.status.optional(),
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
    cursor: z.guid().meta({ description: 'nextCursor of the page before.' }).optional(),
  }),
  output: z.strictObject(runList.shape),
  async run(call, { flow_id, status, limit, cursor }) {
    const { db } = call.deps;
    const flow = await getFlow(call, flow_id);
    if (cursor !== undefined && !(await findRun(db, flow.id, cursor)))
      throw new ServiceError('VALIDATION_ERROR', 'cursor: is no nextCursor of this flow’s runs');
    const runs = await listRuns(db, { flowId: flow.id, status, after: cursor, limit: limit + 1 });
    const page = runs.slice(0, limit);
    const hasMore = runs.length > limit;
    return {
      runs: await Promise.all(page.map((run) => toRun(db, run))),
      hasMore,
      nextCursor: hasMore ? (page.at(-1)?.execution_id ?? null) : null,
    };
  },
});

export const runTools = [listRunsTool];
