// platform/large-values/ has what one process may hold of large values, in turns between organizations: budgets of bytes,
// turns at work that blocks the process, and a thread that reads JSON texts and code (large-json.ts).
import { type ByteBudget, createByteBudget } from '../limits/byte-budget.ts';
import { createFairQueue, type FairQueue } from '../limits/fair-queue.ts';
import { createLargeWork, type LargeWorkNow } from '../limits/large-work.ts';
import { createPresence, type Presence } from '../limits/presence.ts';
import { observeGates } from '../observability/metrics/gate-metrics.ts';
import { type CodeReader, createCodeReader } from './code-reader.ts';
import { createLargeJson, type LargeJson } from './large-json.ts';

const MB = 1024 * 1024;
/** The bytes of request bodies, and of answers, that one organization may have in hand. */
export const REQUESTS_SHARE_BYTES = 32 * MB;
/** Counted as JSON; parsed JSON takes several times that. An organization's callers may send and read slowly: hence the reserve. */
export const REQUESTS = { total: 128 * MB, share: REQUESTS_SHARE_BYTES, reserve: 32 * MB };
/** Bytes of definitions that are checked at a time. One of 2 MiB may take twenty times as much memory. */
const DEFINITIONS = { capacity: 8 * MB, reserved: 4 * MB, perKeyMax: 2 * MB };

export type LargeValues = {
  /** Request bodies, from when they begin to arrive until their run is stored; messages of MCP until the answer has ended. */
  bodies: ByteBudget;
  /** Stored outputs, drafts and versions, from when they are read, and other long answers, until the answer is sent. */
  answers: ByteBudget;
  /** Turns at parsing and writing, which block the process. */
  work: LargeWorkNow;
  /** Definitions while their JSON Schemas are checked, before they run or are published. A weight is in bytes. */
  definitions: FairQueue;
  json: LargeJson;
  readCode: CodeReader;
  /** The organizations whose runs and blocks this process has begun lately. */
  presence: Presence;
  /** Ends the thread. */
  close(): Promise<void>;
};

/** Creates what a process may hold, and observes it in metrics. Its thread starts with the first large text. */
export function createLargeValues(): LargeValues {
  const presence = createPresence();
  const json = createLargeJson();
  const createBudget = ({ total, share, reserve }: typeof REQUESTS) =>
    createByteBudget(total, share, reserve);
  const bodies = createBudget(REQUESTS);
  const answers = createBudget(REQUESTS);
  const stopMeasuring = observeGates({ bodies: countOf(bodies), answers: countOf(answers) });
  return {
    bodies,
    answers,
    work: createLargeWork(presence),
    definitions: createFairQueue(DEFINITIONS),
    json,
    readCode: createCodeReader(json),
    presence,
    close() {
      stopMeasuring();
      return json.close();
    },
  };
}

function countOf(budget: ByteBudget) {
  return {
    count: () => ({
      inFlight: 0,
      weight: budget.countHeld(),
      queued: budget.countWaiting(),
      keys: 0,
      oldestWaitMs: 0,
    }),
  };
}
