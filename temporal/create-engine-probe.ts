import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { askEngine } from './ask-engine.ts';
import { GRPC, grpcCodeOf, UNANSWERED } from './grpc-code.ts';
import { ACTIVITY_TASKS } from './list-pollers.ts';

/** The engine answers in milliseconds when it works; a probe must not wait longer. */
const TIMEOUT_MS = 1_000;
/** The engine is asked once in this time, however many ask for it. */
const KEEP_MS = 1_000;

/** Creates a function that returns whether the engine answers nothing about `taskQueue`. The function never rejects. */
export function createEngineProbe(
  client: Client,
  namespace: string,
  taskQueue: string,
): () => Promise<boolean> {
  let last: { isAway: Promise<boolean>; at: number } | undefined;
  const describe = () =>
    client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: ACTIVITY_TASKS,
    });
  return () => {
    if (last && performance.now() - last.at <= KEEP_MS) return last.isAway;
    const asked = askEngine(client, describe, TIMEOUT_MS).then(
      () => false,
      (error: unknown) => UNANSWERED.includes(grpcCodeOf(error) ?? GRPC.cancelled),
    );
    // A connection that was lost is tried again for seconds, whatever the deadline.
    const isAway = Promise.race([asked, sleep(TIMEOUT_MS, true, { ref: false })]);
    last = { isAway, at: performance.now() };
    return isAway;
  };
}
