// Hands a trace on to what a workflow starts. Without the header of a trace nothing is changed; with it, only headers are, which
// a replay does not compare.
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import {
  ContinueAsNew,
  type Headers,
  proxySinks,
  type WorkflowInterceptors,
  workflowInfo,
} from '@temporalio/workflow';
import { spanIdOf, TRACE_HEADER } from '../flow/trace-header.ts';

type Trace = { traceparent: string; tracestate?: string };

/** The functions of the worker's process that make the spans of workflows; calls are left out in a replay. */
export type TraceSinks = { traces: { end(trace: Trace, failure: string | undefined): void } };

/** Creates the interceptors of one workflow. They add no turns of the event loop: commands keep their order. */
export function interceptors(): WorkflowInterceptors {
  let own: Payload | undefined;
  const withTrace = <T extends { headers: Headers }>(input: T): T =>
    own ? { ...input, headers: { ...input.headers, [TRACE_HEADER]: own } } : input;
  return {
    inbound: [
      {
        execute(input, next) {
          const carried = input.headers[TRACE_HEADER];
          if (!carried) return next(input);
          const trace = defaultPayloadConverter.fromPayload<Trace>(carried);
          own = defaultPayloadConverter.toPayload({ ...trace, traceparent: childOf(trace.traceparent) });
          const { traces } = proxySinks<TraceSinks>();
          return next(input).then(
            (result) => {
              traces.end(trace, undefined);
              return result;
            },
            (error: unknown) => {
              traces.end(trace, error instanceof ContinueAsNew ? undefined : nameOf(error));
              throw error;
            },
          );
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        startChildWorkflowExecution: (input, next) => next(withTrace(input)),
        continueAsNew: (input, next) => next(withTrace(input)),
      },
    ],
  };
}

/** Names the span of this workflow as the parent; its id is derived, as a replay must find the same. */
function childOf(traceparent: string): string {
  const [version, traceId, , flags] = traceparent.split('-');
  return `${version}-${traceId}-${spanIdOf(workflowInfo().runId)}-${flags}`;
}

function nameOf(error: unknown): string {
  const { type, name } = error as { type?: string; name?: string };
  return type ?? name ?? 'Error';
}
