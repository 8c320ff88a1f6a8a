import { ServiceError } from '../../flow/errors.ts';
import { sandboxDuration, sandboxTimeouts } from '../../platform/observability/metrics/worker-metrics.ts';
import { SandboxCrashed, SandboxUnavailable } from './sandbox-errors.ts';

/** Measures one run of user code, and how it ended. */
export async function measureCode<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  let result = 'completed';
  try {
    return await work();
  } catch (error) {
    result = resultOf(error);
    if (result === 'CODE_TIMEOUT') sandboxTimeouts.add(1);
    throw error;
  } finally {
    sandboxDuration.record((performance.now() - began) / 1_000, { result });
  }
}

function resultOf(error: unknown): string {
  if (error instanceof ServiceError) return error.code;
  if (error instanceof SandboxCrashed) return 'crashed';
  return error instanceof SandboxUnavailable ? 'unavailable' : 'aborted';
}
