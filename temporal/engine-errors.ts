// What errors of the engine's client mean.
import { type Connection, ServiceError as EngineError, isGrpcServiceError } from '@temporalio/client';

/** No workflow has this id. */
const WORKFLOW_ID = 'weir-health';

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

/** gRPC statuses of requests that did not reach the engine. A busy or refusing engine was reached. */
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

/**
 * Asks the engine about a workflow that does not exist; rejects unless the engine says so. The history service answers this
 * question. It stops answering once it fails to write, for example on a full disk, while task queues still answer.
 */
export async function describeNothing(
  service: Connection['workflowService'],
  namespace: string,
): Promise<void> {
  try {
    await service.describeWorkflowExecution({ namespace, execution: { workflowId: WORKFLOW_ID } });
  } catch (error) {
    if (grpcCodeOf(error) !== GRPC.notFound) throw error;
  }
}

/** Describes an error in one line, with the cause that the engine's client wraps. */
export function describeEngineError(error: unknown): string {
  if (!(error instanceof EngineError) || !(error.cause instanceof Error)) return String(error);
  return `${error.message}: ${error.cause.message}`;
}

/**
 * Describes why the engine refuses the configured namespace or credentials, as the end of a sentence that begins with "The
 * engine". `error` comes from a request about the namespace or its task queues. Returns undefined for other errors.
 */
export function findNamespaceRefusal(error: unknown, namespace: string): string | undefined {
  switch (grpcCodeOf(error)) {
    case GRPC.notFound:
      return `has no namespace ${namespace}: correct TEMPORAL_NAMESPACE, or create it`;
    case GRPC.permissionDenied:
    case GRPC.unauthenticated:
      return `refuses this process: correct TEMPORAL_NAMESPACE, and TEMPORAL_API_KEY or the certificate`;
    default:
      return undefined;
  }
}
