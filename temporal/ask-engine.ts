import type { Client } from '@temporalio/client';
import { log } from '../platform/observability/log.ts';
import { createOutageLog } from '../platform/observability/outage-log.ts';
import { describeEngineError, describeNothing, GRPC, grpcCodeOf } from './engine-errors.ts';

/** The log of outages of the engine, shared by the whole process. */
const engineOutage = createOutageLog('The engine');

/** Statuses that say nothing about the question: the engine did not answer, is busy, or does not serve this process. */
const AWAY: (number | undefined)[] = [
  GRPC.cancelled,
  GRPC.deadlineExceeded,
  GRPC.permissionDenied,
  GRPC.resourceExhausted,
  GRPC.unavailable,
  GRPC.unauthenticated,
];

/** The engine answers in milliseconds when it works. The reconciler repeats requests that time out. */
const ENGINE_TIMEOUT_MS = 4_000;

/**
 * Asks the engine; rejects when no answer comes within `timeoutMs`. An answer ends a logged outage once workflows are
 * served again, too.
 */
export async function askEngine<T>(
  client: Client,
  ask: () => Promise<T>,
  timeoutMs = ENGINE_TIMEOUT_MS,
): Promise<T> {
  const answer = await client.withDeadline(Date.now() + timeoutMs, ask);
  engineOutage.works(async () => {
    await describeNothing(client.workflowService, client.options.namespace);
    return true;
  });
  return answer;
}

/** Whether the engine is away or serves nothing, so that other requests would fail too. */
export function isEngineAway(error: unknown): boolean {
  return AWAY.includes(grpcCodeOf(error));
}

/**
 * Logs an outage of the engine, once for all who meet it. Returns false, and logs nothing, when the error is something
 * else.
 */
export function logEngineOutage(error: unknown): boolean {
  if (!isEngineAway(error)) return false;
  // It may answer other questions meanwhile, and serve no workflow.
  engineOutage.failed(describeEngineError(error), { inPart: true });
  return true;
}

/** Logs that a request to the engine failed. During an outage, which is logged once, the line is at level `debug`. */
export function logEngineFailure(error: unknown, fields: object, message: string): void {
  const isAway = logEngineOutage(error);
  log[isAway ? 'debug' : 'warn']({ ...fields, reason: describeEngineError(error) }, message);
}
