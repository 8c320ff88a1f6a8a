import { log } from '../platform/observability/log.ts';
import { createOutageLog } from '../platform/observability/outage-log.ts';
import { describeEngineError } from './describe-engine-error.ts';
import { GRPC, grpcCodeOf } from './grpc-code.ts';

/** The log of the outages of the engine, which all of a process share. */
export const engineOutage = createOutageLog('The engine');

/** Answers that say nothing of what was asked for: there was none, the engine is busy, or it does not serve this process. */
const AWAY: (number | undefined)[] = [
  GRPC.cancelled,
  GRPC.deadlineExceeded,
  GRPC.permissionDenied,
  GRPC.resourceExhausted,
  GRPC.unavailable,
  GRPC.unauthenticated,
];

/** Whether the engine answered nothing of what it was asked for, so that it would fail for anything else too. */
export function isEngineAway(error: unknown): boolean {
  return AWAY.includes(grpcCodeOf(error));
}

/** Logs an outage in the line that all share; returns false, and logs nothing, when the error is something else. */
export function tellEngineOutage(error: unknown): boolean {
  if (!isEngineAway(error)) return false;
  // It may answer other questions meanwhile, and serve no workflow.
  engineOutage.failed(describeEngineError(error), { inPart: true });
  return true;
}

/** Logs that the engine could not be asked for something: in an outage at `debug`, beside the line that all share. */
export function tellEngineFailure(error: unknown, fields: object, message: string): void {
  const isAway = tellEngineOutage(error);
  log[isAway ? 'debug' : 'warn']({ ...fields, reason: describeEngineError(error) }, message);
}
