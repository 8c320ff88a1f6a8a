// rerun_run, retry_run and retry_runs
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { findFlowOfRun, findRun } from '../../db/runs/runs.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import { notVisible, requireVisibleFlow } from '../auth/caller.ts';
import { STATUS } from '../http/errors.ts';
import { idempotencyKey } from '../http/idempotency-header.ts';
import { digestRequest } from '../http/idempotency-key.ts';
import { acceptIdempotently } from '../runs/calls/accept-idempotently.ts';
import { acceptRepeat, requireRepeatable } from '../runs/calls/accept-repeat.ts';
import { flowNotFound, loadRunnableFlow } from '../runs/calls/load-flow.ts';
import { acceptInTurn, retryMatching } from '../runs/retry-runs.ts';
import {
  beginsAt,
  describeRepetition,
  type Repetition,
  toVersion,
  versionChoice,
} from '../runs/run-shapes/repetitions.ts';
import { requireFlowDesign } from './flow-design.ts';
import { defineTool, flowId, type McpTool, toVersionNumber } from './tool.ts';

const HINTS = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
const LIMIT_MAX = 25;

const version = z
  .preprocess(toVersionNumber, versionChoice.unwrap())
  .default('original')
  .meta({ description: 'original (the version that ran; the default), production or a number.' });

const repetition = {
  flow_run_id: z.string().meta({ description: 'The new run.' }),
  repeats: z.string(),
  version: z.int(),
  begins_at: beginsAt,
};

const rerunTool = repeatTool('rerun', {
  title: 'Run a run again',
  description: 'Runs a run again from its beginning, with the same input.',
});

const retryTool = repeatTool('retry', {
  title: 'Retry a failed run',
  description:
    'Runs a failed run again from the step that failed, or the first that the version changed. Only the rest is charged.',
});

const retryRunsTool = defineTool({
  name: 'retry_runs',
  title: 'Retry failed runs',
  description: 'Retries failed runs of a flow as retry_run does, newest first.',
  scope: 'flows:run',
  hints: HINTS,
  input: z.strictObject({
    flow_id: flowId,
    on_version: version,
    error_code: z
      .string()
      .refine(
        (code) => Object.hasOwn(STATUS, code),
        'is not the code of an error, such as MODEL_UNAVAILABLE or CODE_ERROR',
      )
      .optional(),
    dry_run: z.boolean().default(false),
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_MAX),
    after: z.guid().meta({ description: 'next of the previous page.' }).optional(),
  }),
  output: z.strictObject({
    retried: z.array(z.strictObject(repetition)),
    matching: z.array(z.string()).optional(),
    refused: z.array(
      z.strictObject({ flow_run_id: z.string(), code: z.string(), error_message: z.string() }),
    ),
    stopped_by: z.string().nullable(),
    next: z.string().nullable(),
  }),
  async run(call, { flow_id, on_version, error_code, dry_run: dryRun, limit, after: cursor }) {
    const { deps, user, author } = call;
    const design = await requireFlowDesign(call, flow_id);
    const request = {
      flow: design.slug,
      on_version,
      errorCode: error_code as ErrorCode | undefined,
      dryRun,
      limit,
      cursor,
    };
    const answer = await retryMatching(deps, request, {
      principal: user,
      projectId: design.project_id,
      organizationId: design.organization_id,
      requestId: author.requestId,
      signal: call.gone,
      record: (write) =>
        inTransaction(deps.db, async (tx) => {
          await requireVisibleFlow({ db: tx }, design.id, call.access);
          return write(tx, author);
        }),
    });
    return {
      retried: answer.retried.map(({ executionId, beginsAt, ...run }) => ({
        flow_run_id: executionId,
        ...run,
        begins_at: beginsAt,
      })),
      ...(answer.matching && { matching: answer.matching }),
      refused: answer.refused.map(({ executionId, code, errorMessage }) => ({
        flow_run_id: executionId,
        code,
        error_message: errorMessage,
      })),
      stopped_by: answer.stoppedBy,
      next: answer.nextCursor,
    };
  },
});

export const repeatRunTools = [rerunTool, retryTool, retryRunsTool];

/** Defines the tool that starts one run again. Its answer does not wait for the end of the new run. */
function repeatTool(how: Repetition, words: Pick<McpTool, 'title' | 'description'>): McpTool {
  return defineTool({
    name: `${how}_run`,
    ...words,
    scope: 'flows:run',
    hints: HINTS,
    input: z.strictObject({
      flow_run_id: z.guid().meta({ description: 'flow_run_id or executionId of a run.' }),
      version,
      idempotency_key: idempotencyKey,
    }),
    output: z.strictObject(repetition),
    async run(call, { flow_run_id: id, version: choice, idempotency_key: key }) {
      const { deps, user, author, gone } = call;
      const visible = await requireVisibleFlow(deps, await findFlowOfRun(deps.db, id), call.access, 'run');
      const run = await findRun(deps.db, visible.flowId, id);
      if (!run) throw notVisible('run');
      requireRepeatable(run, how);
      const design = await requireFlowDesign(call, visible.flowId);
      const slugs = {
        organization: design.organization_slug,
        project: design.project_slug,
        flow: design.slug,
      };
      const asked = toVersion(choice, run.version);
      const query = { ...slugs, within: call.access, version: asked };
      const flow = await loadRunnableFlow(deps, query, () => gone);
      if (!flow) throw flowNotFound(asked);
      const { environment } = run;
      const digest = digestRequest(user.environment, `${how}_run`, id, choice);
      const request = {
        ...{ slugs, flow, author, environment, gone, requestId: author.requestId, pinned: true },
        ...{ body: undefined, keyId: undefined, userId: user.userId, modelKeys: undefined },
        idempotencyKey:
          key === undefined
            ? undefined
            : { projectId: flow.projectId, endpoint: 'jobs' as const, key, digest },
      };
      const started = await acceptInTurn(
        deps,
        user,
        gone,
      )(flow, () => acceptIdempotently(deps, request, (again) => acceptRepeat(deps, again, run, how)));
      const { beginsAt, ...described } = await describeRepetition(deps, how, run, started);
      return { flow_run_id: started.executionId, ...described, begins_at: beginsAt };
    },
  });
}
