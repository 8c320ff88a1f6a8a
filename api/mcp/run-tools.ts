// list_runs and cancel_run
import { z } from 'zod';
import { listRunPage } from '../../db/runs/list-run-page.ts';
import { findRun } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { runState } from '../runs/run-shapes/answers.ts';
import { testRun } from '../test-cases/describe-test-run.ts';
import { cancelRunOrTestRun } from './cancel-run-or-test-run.ts';
import { describeToolRun, toolRun, toToolRun } from './describe-tool-run.ts';
import { requireFlowDesign } from './require-flow-design.ts';
import { runFlowTool } from './run-flow-tool.ts';
import { flowId } from './shapes.ts';
import { defineTool } from './tool.ts';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;

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
    after: z.guid().meta({ description: 'next of the previous page.' }).optional(),
  }),
  output: z.strictObject({
    runs: z.array(toolRun),
    next: z.string().nullable().meta({ description: 'Send it as `after` to get more; null at the end.' }),
  }),
  async run(call, { flow_id, status, limit, after }) {
    const { db } = call.deps;
    const flow = await requireFlowDesign(call, flow_id);
    if (after !== undefined && !(await findRun(db, flow.id, after)))
      throw new ServiceError(
        'VALIDATION_ERROR',
        'after: must be the `next` of an earlier page of this flow’s runs',
      );
    const { runs, next } = await listRunPage(db, { flowId: flow.id, status, after, limit });
    return { runs: await Promise.all(runs.map((run) => describeToolRun(call.deps, run))), next };
  },
});

const cancelRunTool = defineTool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description:
    'Cancels a run that is under way or waits for its caller, or a whole test run. It ends within seconds, and nothing more is charged; a run that has ended stays as it is.',
  scope: 'flows:run',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: z.strictObject({
    flow_run_id: z.guid().meta({
      description: 'flow_run_id of a run, or test_run_id for all its cases.',
    }),
  }),
  output: z.strictObject({ flow_run: toolRun.optional(), test_run: testRun.optional() }),
  async run(call, { flow_run_id }) {
    const { flow_run, test_run } = await cancelRunOrTestRun(call.deps, call, flow_run_id);
    return { ...(flow_run && { flow_run: toToolRun(flow_run) }), ...(test_run && { test_run }) };
  },
});

export const runTools = [runFlowTool, listRunsTool, cancelRunTool];
