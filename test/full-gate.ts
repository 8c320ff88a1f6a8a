import { createFairQueue, type FairQueue } from '../platform/limits/fair-queue.ts';

/** Creates a gate whose only permit is in flight. */
export function createFullGate(options: Partial<Parameters<typeof createFairQueue>[0]> = {}): FairQueue {
  const gate = createFairQueue({ ...options, capacity: 1 });
  gate.tryAcquire('in flight');
  return gate;
}
