import { isGrpcServiceError } from '@temporalio/client';

/** The gRPC status that the engine answered, which its client may have wrapped; undefined of any other error. */
export function grpcCodeOf(error: unknown): number | undefined {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}
