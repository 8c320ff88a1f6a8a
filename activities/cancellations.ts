import { CancelledFailure } from '@temporalio/activity';

/** The reason with which the signal of a block aborts whose call was cancelled or has failed. */
export class CallStopped extends Error {
  constructor() {
    super('The call was cancelled, or has failed.');
  }
}

/** Whether a block was stopped because its call was cancelled or has failed, rather than because its worker stops. */
export function isStopped({ aborted, reason }: AbortSignal): boolean {
  return (
    aborted &&
    (reason instanceof CallStopped || (reason instanceof CancelledFailure && reason.message === 'CANCELLED'))
  );
}

/** The blocks in flight in this process, by call, so that a cancellation reaches them at once. */
export type Cancellations = {
  /** Does work under a signal that aborts with the given one, or with CallStopped. */
  run<T>(callId: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Aborts the blocks of a call with CallStopped; resolves when they are recorded. Later ones read that it has ended. */
  stop(callId: string): Promise<void>;
  /**
   * Aborts all blocks as the SDK aborts regular activities of a worker that stops. The SDK waits for local activities however
   * long they take.
   */
  drain(): void;
};

/** `contexts`: what this process has cached of calls. The next block of a stopped call reads that anew. */
export function createCancellations(contexts: { delete(callId: string): unknown }): Cancellations {
  const inFlight = new Map<string, Map<AbortController, Promise<void>>>();
  return {
    async run(callId, signal, work) {
      const own = new AbortController();
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const others = inFlight.get(callId) ?? new Map();
      inFlight.set(callId, others.set(own, ended));
      try {
        return await work(AbortSignal.any([signal, own.signal]));
      } finally {
        end();
        others.delete(own);
        if (others.size === 0) inFlight.delete(callId);
      }
    },
    async stop(callId) {
      contexts.delete(callId);
      const blocks = [...(inFlight.get(callId) ?? [])];
      for (const [own] of blocks) own.abort(new CallStopped());
      await Promise.all(blocks.map(([, ended]) => ended));
    },
    drain() {
      for (const blocks of inFlight.values())
        for (const each of blocks.keys()) each.abort(new CancelledFailure('WORKER_SHUTDOWN'));
    },
  };
}
