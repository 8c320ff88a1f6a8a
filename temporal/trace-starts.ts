import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { TRACE_HEADER } from '../flow/trace-header.ts';
import { currentTrace, inSpan } from '../platform/observability/tracing.ts';

/** Hands the current trace to the workflows that a client starts. */
export const traceStarts: WorkflowClientInterceptor = {
  startWithDetails: (input, next) =>
    inSpan(
      `StartWorkflow:${input.workflowType}`,
      { kind: 'CLIENT', attributes: { 'temporal.workflow.id': input.options.workflowId } },
      async (span) => {
        const trace = currentTrace();
        if (!trace) return next(input);
        const headers = { ...input.headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(trace) };
        const started = await next({ ...input, headers });
        span.set({ 'temporal.run.id': started.runId });
        return started;
      },
    ),
};
