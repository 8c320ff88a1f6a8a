// What errors of the engine's client mean.
import { isGrpcServiceError } from '@temporalio/client';

/** The gRPC statuses that this service distinguishes. */
export const GRPC = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Statuses of a request that did not reach the engine. A busy engine, or one that refuses this process, was reached. */
export const UNANSWERED: (number | undefined)[] = [GRPC.cancelled, GRPC.deadlineExceeded, GRPC.unavailable];

/** How errors of a lost connection begin, which have the status UNKNOWN. */
const CONNECTION_LOST = /^(transport error$|Service was not ready: |h2 protocol error: )/;

/**
 * Finds the gRPC status in an error of the engine's client, which may have wrapped it; undefined for other errors. A lost
 * connection is UNAVAILABLE.
 */
export function grpcCodeOf(error: unknown): number | undefined {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  if (!isGrpcServiceError(cause)) return undefined;
  return cause.code === GRPC.unknown && CONNECTION_LOST.test(cause.message) ? GRPC.unavailable : cause.code;
}
