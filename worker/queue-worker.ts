// What the workers of runs and of deliveries share.

/** A worker for some task queues. */
export type QueueWorker = {
  /** Whether it asks for work of each kind. */
  isPolling(): boolean;
  /** Resolves when the worker has shut down; rejects when it failed. */
  run(): Promise<void>;
  /** Stops taking work, lets what runs finish within the grace time, and ends what it has started. */
  shutdown(): void;
};
