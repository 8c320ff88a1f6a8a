// list_runs and cancel_run
import { z } from 'zod';
import { listRuns } from '../../db/runs/list-runs.ts';
import { findRun } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { toPage } from '../http/page.ts';
import { runList, runState } from '../runs/answers.ts';
import { describeRun } from '../runs/describe-run.ts';
import { cancelRunOrTestRun } from '../test-runs/cancel-run-or-test-run.ts';
import { testRun } from '../test-runs/describe-test-run.ts';
import { requireFlowDesign } from './require-flow-design.ts';
import { flowId } from './shapes.ts';
import { defineTool } from './tool.ts';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;

/** The state of a run without the list of all codes, which every client would load with the tools. */
const toolRun = runState.extend({ code: z.string().optional() });

const listRunsTool = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description: 'Lists the runs of a flow, newest first, with their status and their cost in credits.',
  scope: 'flows:read',
  hints: { readOnlyHint: true },
  input: z.strictObject({
    flow_id: flowId,
    status: runState.shape.status.optional(),
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
    cursor: z.guid().meta({ description: 'nextCursor of the previous page.' }).optional(),
  }),
  output: z.strictObject({ ...runList.shape, runs: z.array(toolRun) }),
  async run(call, { flow_id, status, limit, cursor }) {
    const { db } = call.deps;
    const flow = await requireFlowDesign(call, flow_id);
    if (cursor !== undefined && !(await findRun(db, flow.id, cursor)))
      throw new ServiceError('VALIDATION_ERROR', 'cursor: must be a nextCursor of this flow’s runs');
    const runs = await listRuns(db, { flowId: flow.id, status, after: cursor, limit: limit + 1 });
    const { page, end } = toPage(runs, limit, (run) => run.execution_id);
    return { runs: await Promise.all(page.map((run) => describeRun(call.deps, run))), ...end };
  },
});

const cancelRunTool = defineTool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description:
    'Cancels a run that is under way or waits for its caller, or a whole test run, whose other cases then do not begin. It ends within seconds, and nothing more is charged for it. The call can be repeated; a run that has ended stays as it is.',
  scope: 'flows:run',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({
    flow_run_id: z.guid().meta({
      description: 'flow_run_id or executionId of a run, or test_run_id for all its cases.',
    }),
  }),
  output: z.strictObject({ flow_run: toolRun.optional(), test_run: testRun.optional() }),
  run: (call, { flow_run_id }) => cancelRunOrTestRun(call.deps, call, flow_run_id),
});

export const runTools = [listRunsTool, cancelRunTool];
