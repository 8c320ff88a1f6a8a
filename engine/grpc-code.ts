import { isGrpcServiceError } from '@temporalio/client';

/** Finds the gRPC status in an error of the engine's client, which may have wrapped it; undefined for other errors. */
export function grpcCodeOf(error: unknown): number | undefined {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}
