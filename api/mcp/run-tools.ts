// list_runs and cancel_run
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { listRunPage } from '../../db/runs/list-runs.ts';
import { requestCancel } from '../../db/runs/run-cancellation.ts';
import { findFlowOfRun, findRun } from '../../db/runs/runs.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { findTestOfRun, findTestRun } from '../../db/test-runs/test-results.ts';
import { ServiceError } from '../../flow/errors.ts';
import { cancelUnderWay } from '../../temporal/cancel-workflow.ts';
import { type Caller, notVisible, requireVisibleFlow } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import { runState } from '../runs/run-shapes/answers.ts';
import { describeRun } from '../runs/run-shapes/describe-run.ts';
import { cancelTestRun } from '../test-cases/cancel-test-run.ts';
import { testRun } from '../test-cases/describe-test-run.ts';
import { requireFlowDesign } from './flow-design.ts';
import { describeToolRun, runFlowTool, toolRun, toToolRun } from './run-flow-tool.ts';
import { defineTool, flowId } from './tool.ts';

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
    outcome: runState.shape.outcome,
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
    after: z.guid().meta({ description: 'next of the previous page.' }).optional(),
  }),
  output: z.strictObject({
    runs: z.array(toolRun),
    next: z.string().nullable().meta({ description: 'Send it as `after` to get more; null at the end.' }),
  }),
  async run(call, { flow_id, status, outcome, limit, after }) {
    const { db } = call.deps;
    const flow = await requireFlowDesign(call, flow_id);
    if (after !== undefined && !(await findRun(db, flow.id, after)))
      throw new ServiceError(
        'VALIDATION_ERROR',
        'after: must be the `next` of an earlier page of this flow’s runs',
      );
    const { runs, next } = await listRunPage(db, { flowId: flow.id, status, outcome, after, limit });
    return { runs: await Promise.all(runs.map((run) => describeToolRun(call.deps, run))), next };
  },
});

const cancelRunTool = defineTool({
  name: 'cancel_run',
  title: 'Cancel a run',
  description:
    'Cancels a run or a whole test run. It ends within seconds; nothing more is charged. A run that has ended stays as it is.',
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

/**
 * Cancels the run or test run with the id, also of an unpublished flow, and returns its new state. Throws NOT_FOUND,
 * and CONFLICT for a test case that has not begun.
 */
async function cancelRunOrTestRun(deps: ApiDeps, caller: Caller, id: string) {
  if (await findTestRun(deps.db, id)) {
    const { testRun } = await cancelTestRun(deps, caller, id, 'run');
    return { test_run: testRun };
  }
  const { db } = deps;
  const test = await findTestOfRun(db, id);
  const known = (await findFlowOfRun(db, id)) ?? test?.flow_id;
  const { flowId } = await requireVisibleFlow(deps, known, caller.access, 'run');
  const run = await findRun(db, flowId, id);
  if (!run) throw notBegun(test?.test_run_id);
  if (run.status === 'completed' || run.status === 'failed')
    return { flow_run: await describeRun(deps, run) };
  await inTransaction(db, async (tx) => {
    const { organizationId } = await requireVisibleFlow({ db: tx }, flowId, caller.access, 'run');
    if (!(await requestCancel(tx, id, caller.author.actor)) || run.cancel_requested_at) return;
    const details = { flow_id: flowId };
    await recordChange(tx, caller.author, { organizationId, action: 'run.cancel', resourceId: id, details });
  });
  await cancelUnderWay(deps, id);
  return { flow_run: await describeRun(deps, (await findRun(db, flowId, id)) ?? run) };
}

function notBegun(testRunId: string | undefined): ServiceError {
  if (testRunId === undefined) return notVisible('run');
  return new ServiceError('CONFLICT', `This run has not begun yet: cancel its test run ${testRunId}.`);
}
