import { isGrpcServiceError } from '@temporalio/client';

/** The statuses of gRPC that are told apart. */
export const GRPC = {
  cancelled: 1,
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

/** Finds the gRPC status in an error of the engine's client, which may have wrapped it; undefined for other errors. */
export function grpcCodeOf(error: unknown): number | undefined {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}
