import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks, WorkerInterceptors } from '@temporalio/worker';
import { blockAttributes } from '../activities/block-attributes.ts';
import { type BlockCall, SEARCH_ATTRIBUTES } from '../flow/run.ts';
import { spanIdOf, TRACE_HEADER } from '../flow/trace-header.ts';
import { inSpan, isTracing, openSpan, type TraceContext } from '../platform/observability/tracing.ts';
import type { TraceSinks } from '../workflows/trace-interceptors.ts';

/** Returns the interceptors of a worker; none while traces are off. */
export function traceActivities(): WorkerInterceptors {
  return isTracing() ? { activity: [traceActivity] } : {};
}

const traceActivity: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute(input, next) {
      const header = input.headers[TRACE_HEADER];
      if (!header) return next(input);
      return inSpan(
        `RunActivity:${info.activityType}`,
        {
          parent: defaultPayloadConverter.fromPayload<TraceContext>(header),
          attributes: {
            'temporal.workflow.id': info.workflowExecution?.workflowId ?? '',
            'temporal.activity.attempt': info.attempt,
            'temporal.activity.local': info.isLocal,
            ...blockOf(input.args[0]),
          },
        },
        () => next(input),
      );
    },
  },
});

/** Names the block that the activity is asked for, where it is one. */
function blockOf(call: unknown): { [attribute: string]: string } {
  const { blockKey } = (call ?? {}) as Partial<BlockCall>;
  return blockKey === undefined ? {} : blockAttributes(call as BlockCall);
}

/** Creates the functions that make the spans of workflows when they have ended. */
export function createTraceSinks(): InjectedSinks<TraceSinks> {
  return {
    traces: {
      end: {
        fn({ workflowId, runId, workflowType, startTime, searchAttributes }, trace, failure) {
          const attributes: { [attribute: string]: string } = {
            'temporal.workflow.id': workflowId,
            'temporal.run.id': runId,
          };
          for (const name of Object.keys(SEARCH_ATTRIBUTES)) {
            const [value] = searchAttributes[name] ?? [];
            if (value !== undefined) attributes[name.replace('Weir', 'weir.').toLowerCase()] = String(value);
          }
          const options = { parent: trace, id: spanIdOf(runId), startTime, attributes };
          const span = openSpan(`RunWorkflow:${workflowType}`, options);
          if (failure !== undefined) span?.fail(failure);
          span?.end();
        },
      },
    },
  };
}
