import { createActivityGates } from '../../platform/limits/gates.ts';

/** Creates gates for `processes` sandbox processes and as many model calls, and no reserve. */
export function createTestGates(processes = 1) {
  return createActivityGates({
    sandboxProcesses: processes,
    sandboxReserve: 0,
    modelConcurrency: processes,
    providers: {},
  });
}
