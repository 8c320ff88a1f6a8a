import { GRPC, grpcCodeOf } from './grpc-code.ts';

/**
 * Finds what is wrong with the configured namespace or credentials, as the end of "The engine …", in the answer to a request
 * about the namespace or its task queues; undefined when the error is something else.
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
