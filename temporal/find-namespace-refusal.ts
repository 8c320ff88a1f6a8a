import { GRPC, grpcCodeOf } from './grpc-code.ts';

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
