// What errors of the engine's client mean.
import { isGrpcServiceError } from '@temporalio/client';

/** The statuses of gRPC that are told apart. */
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

/** Statuses that come from the way to the engine: an engine that is busy, or refuses this process, was reached. */
export const UNANSWERED: (number | undefined)[] = [GRPC.cancelled, GRPC.deadlineExceeded, GRPC.unavailable];

/** How the engine's client begins to tell of a lost connection, with the status UNKNOWN. */
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
