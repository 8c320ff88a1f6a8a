// GET …/jobs/{executionId}/request and …/flow: what a run was started with, and the steps that it runs.
import { z } from 'zod';
import { getRequestOfRun, getRunInput } from '../../db/runs/runs.ts';
import { WEBHOOK_EVENTS } from '../../flow/delivery.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import { parsedObject, stepsSchema } from '../flows/written-flow.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { answerWithETag, etagHeader, ifNoneMatch } from '../http/etag.ts';
import { readQuery } from '../http/query.ts';
import { queryBoolean } from '../http/query-fields.ts';
import { reserveAnswer } from '../http/reserve-bytes.ts';
import { answer, notModified, RUN_PATH, VALIDATION_ERRORS } from '../reference/operations.ts';
import { flowOfRun, requestOfRun } from '../reference/run-examples.ts';
import { loadFlowIds, loadRun } from './calls/load-flow.ts';
import { READ_ERRORS } from './run-errors.ts';
import { attachmentsField } from './run-shapes/attachments.ts';
import { SHOWN_MAX_BYTES } from './run-shapes/block-answers.ts';
import { blockOverrides } from './run-shapes/requests.ts';
import { toolFields } from './run-shapes/tool-fields.ts';

const size = z.int().min(0);
const shown = 'null when its JSON has over 16 KiB: ask with `full=true`.';

const runRequestRecord = z
  .object({
    message: z.string().nullable().meta({ description: shown }),
    parameters: parsedObject.nullable().meta({ description: shown }),
    block_overrides: blockOverrides.nullable().meta({ description: `By step_id. ${shown}` }),
    tools: toolFields.tools
      .unwrap()
      .nullable()
      .meta({ description: `Empty when there were none. ${shown}` }),
    bytes: z
      .object({ message: size, parameters: size, block_overrides: size, tools: size })
      .meta({ description: 'The size of each of these as JSON.' }),
    attachments: attachmentsField.unwrap(),
    maxCredits: z.number().nullable(),
    toolChoice: z.unknown().meta({ description: 'null when there was none.' }),
    requestId: z
      .string()
      .nullable()
      .meta({ description: 'The X-Request-Id of the answer; null if no request started the run.' }),
    callbackUrl: z.string().nullable(),
    callbackEvents: z.array(z.enum(WEBHOOK_EVENTS)).nullable(),
    modelKeyProviders: z.array(z.string()).meta({
      description: 'The providers for which the request brought keys (`X-Weir-Model-Key`).',
    }),
  })
  .meta({ id: 'RunRequest' });

const runFlowRecord = z
  .object({
    flowId: z.uuid(),
    version: z.int().min(0).meta({ description: '0 is a draft.' }),
    steps: stepsSchema,
  })
  .meta({ id: 'RunFlow' });

const requestQuery = z.strictObject({
  full: queryBoolean(false, 'Whether every value is in the answer, whatever its size.'),
});
type Described = z.input<typeof runRequestRecord>;

export function runRequestRoutes(deps: ApiDeps): Route[] {
  const first = [loadFlowIds(deps, { deletedToo: true }), loadRun(deps)];
  const common = { tags: ['Execution'] };
  const request = answer('The request.', runRequestRecord, { request: requestOfRun }, etagHeader);
  const steps = answer('The flow.', runFlowRecord, { flow: flowOfRun }, etagHeader);
  return [
    {
      method: 'get',
      path: `${RUN_PATH}/request`,
      operation: {
        ...common,
        operationId: 'getJobRequest',
        summary: 'Get the request that started a run',
        description:
          'The fields have the names of `POST …/jobs`. To send the request again, omit `requestId`, `bytes`, `modelKeyProviders`, and all empty or null fields. A request with `tools` goes to `/execute`. Keys are never shown.',
        requestParams: { query: requestQuery, header: ifNoneMatch },
        responses: {
          200: request,
          304: notModified(request),
          ...READ_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...identifyCaller(deps, 'run', 'read'), ...first, readQuery(requestQuery), getRequest(deps)],
    },
    {
      method: 'get',
      path: `${RUN_PATH}/flow`,
      operation: {
        ...common,
        operationId: 'getJobFlow',
        summary: 'Get the steps that a run runs',
        description:
          'Those of its version; of a draft, as it was when the run began. An API key needs a scope that reads flows.',
        requestParams: { header: ifNoneMatch },
        responses: { 200: steps, 304: notModified(steps), ...READ_ERRORS },
      },
      handlers: [...identifyCaller(deps, 'read', 'deploy'), ...first, getFlowOfRun(deps)],
    },
  ];
}

function getRequest(deps: ApiDeps): ApiMiddleware {
  return async function getRequest(ctx) {
    const { run, flowIds } = ctx.state;
    const { full } = ctx.state.query as z.infer<typeof requestQuery>;
    const asked = await getRequestOfRun(deps.db, run.execution_id);
    await reserveAnswer(deps, ctx, flowIds.organizationId, asked.bytes);
    const input = await getRunInput(deps.db, run.execution_id);
    const large = {
      message: input.message,
      parameters: input.parameters,
      block_overrides: input.block_overrides,
      tools: input.tools ?? [],
    };
    const bytes = Object.fromEntries(
      Object.entries(large).map(([name, value]) => [name, Buffer.byteLength(JSON.stringify(value))]),
    ) as Described['bytes'];
    const shown = Object.entries(large).map(([name, value]) => {
      const fits = full || bytes[name as keyof typeof large] <= SHOWN_MAX_BYTES;
      return [name, fits ? value : null];
    });
    answerWithETag(ctx, {
      ...Object.fromEntries(shown),
      bytes,
      attachments: input.attachments ?? [],
      maxCredits: input.max_credits ?? null,
      toolChoice: input.tool_choice ?? null,
      requestId: asked.requestId,
      callbackUrl: asked.callbackUrl,
      callbackEvents: asked.callbackEvents,
      modelKeyProviders: asked.modelKeyProviders ?? [],
    });
  };
}

function getFlowOfRun(deps: ApiDeps): ApiMiddleware {
  const { definitions } = deps;
  return async function getFlowOfRun(ctx) {
    const { flow_version_id, flow_id: flowId, version } = ctx.state.run;
    const bytes = await definitions.measure(flow_version_id);
    await reserveAnswer(deps, ctx, ctx.state.flowIds.organizationId, bytes);
    const { steps } = await definitions.get(flow_version_id);
    answerWithETag(ctx, { flowId, version, steps } satisfies z.input<typeof runFlowRecord>);
  };
}
