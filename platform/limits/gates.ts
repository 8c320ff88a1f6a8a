// The gates of one process: fair queues between organizations. A gate is acquired where work enters the process (an HTTP
// middleware) or a worker's slot (an activity), and where a block is about to use the sandbox, a model or memory.
import { availableParallelism } from 'node:os';
import { createFairQueue, type FairQueue, type Permit, type Wait } from './fair-queue.ts';

const MIB = 1024 * 1024;

/** Smaller values need no permit: thousands of them fit, and a process holds them for milliseconds. */
export const SMALL_BYTES = 64 * 1024;

/** The part of the database connections that the requests of one organization may use at a time. */
const CONNECTIONS_PART = 3 / 4;
/** Shorter than clients wait for an answer. */
export const REQUEST_WAIT_MAX_MS = 10_000;

/** The most bytes of requests, and of answers, of one organization in one process. */
export const REQUEST_BYTES_EACH = 16 * MIB;
export const REQUEST_BYTES = { capacity: 64 * MIB, reserved: 24 * MIB, perKeyMax: REQUEST_BYTES_EACH };
/** Shorter than a request may take to arrive. */
export const REQUEST_BYTES_WAIT_MS = 15_000;

/**
 * Run starts of a process whose own worker carries the runs out: enough to keep the processors busy, and few enough that the run of
 * another organization has its share of them.
 */
const STARTS_WITH_WORKER = 2 * availableParallelism();
const STARTS_WITHOUT_WORKER = 32;
/** Run starts that are queued, of one organization and of all. */
export const STARTS_QUEUED_EACH_MAX = 1_000;
export const STARTS_QUEUED_MAX = 4_000;
/** Shorter than clients wait for an answer. */
export const START_WAIT_MAX_MS = 30_000;
/** A start takes milliseconds. A slower one, such as one that looks up a host, keeps no other start out. */
const START_PERMIT_MAX_MS = 1_000;

/**
 * Bytes of inputs, and of models' answers, that activities of one organization hold at a time. Few: parsing them takes the main
 * thread. Measured with `npm run bench -- --neighbours`.
 */
const VALUE_BYTES = { capacity: 32 * MIB, reserved: 16 * MIB, perKeyMax: 8 * MIB };
/** Characters of prompts of one organization: a prompt is held for as long as its call takes. */
export const ACTIVITY_BYTES_EACH = 32 * MIB;
const PROMPT_CHARS = { capacity: 64 * MIB, reserved: 32 * MIB, perKeyMax: ACTIVITY_BYTES_EACH };
/** Blocks of code that are queued, of one organization: each holds one of the worker's workflow tasks. */
const CODE_QUEUED_EACH_MAX = 64;
/** Model calls of organizations with few in flight: this part of the concurrency is reserved for them, and at least so many. */
const MODELS_RESERVED = { part: 1 / 4, min: 4, few: 3 };
/** Model calls that are queued for one provider, of one organization and of all: each holds a slot of its worker. */
const MODELS_QUEUED_EACH_MAX = 500;
const MODELS_QUEUED_MAX = 1_000;

/** Weights are bytes where a gate is about bytes, otherwise 1. Keys are organizations. */
export type HttpGates = {
  /** Requests, until they are answered or wait for a run. Keys are organizations, or users who act for none. */
  requests: FairQueue;
  /** Bytes of request bodies, until their call is stored. */
  bodies: FairQueue;
  /** Bytes of answers, from before they are loaded until they are sent. */
  answers: FairQueue;
  /** Runs that are being started, and in a process with a worker carried out, until they end or wait. */
  runStarts: FairQueue;
};

const NONE: Permit = { release: () => undefined, [Symbol.dispose]: () => undefined };

/** Acquires a permit for so many bytes; small values need none. Rejects as `FairQueue.acquire` does. */
export async function acquireBytes(
  gate: FairQueue,
  key: string,
  bytes: number,
  { waitMaxMs, signal }: Wait = {},
): Promise<Permit> {
  if (bytes < SMALL_BYTES) return NONE;
  return gate.acquire(key, { weight: bytes, waitMaxMs, signal });
}

/** Whether requests are queued at a gate of request bytes because organizations together use its capacity. */
export function isSaturated(gate: FairQueue): boolean {
  const { weight, queued } = gate.count();
  // Otherwise those that are queued wait for requests of their own organization.
  return queued > 0 && weight > REQUEST_BYTES.capacity - REQUEST_BYTES_EACH;
}

/**
 * Creates the gates of HTTP requests. `hasWorker`: the worker of this process carries the runs out. `connections`: the database
 * connections of this process.
 */
export function createHttpGates({
  hasWorker,
  connections,
}: {
  hasWorker: boolean;
  connections: number;
}): HttpGates {
  const ofOne = Math.max(1, Math.floor(connections * CONNECTIONS_PART));
  const starts = hasWorker ? STARTS_WITH_WORKER : STARTS_WITHOUT_WORKER;
  return {
    requests: createFairQueue({ capacity: Infinity, perKeyMax: ofOne, waitMaxMs: REQUEST_WAIT_MAX_MS }),
    bodies: createFairQueue({ ...REQUEST_BYTES, waitMaxMs: REQUEST_BYTES_WAIT_MS }),
    answers: createFairQueue({ ...REQUEST_BYTES, waitMaxMs: REQUEST_BYTES_WAIT_MS }),
    runStarts: createFairQueue({
      capacity: starts,
      reserved: starts,
      queuedMax: STARTS_QUEUED_MAX,
      queuedPerKeyMax: STARTS_QUEUED_EACH_MAX,
      waitMaxMs: START_WAIT_MAX_MS,
      permitMaxMs: START_PERMIT_MAX_MS,
    }),
  };
}

export type ActivityGates = {
  /** Bytes of the inputs of activities. An activity acquires these in order: input, prompt, answer. */
  inputs: FairQueue;
  /** Characters of prompts, until their calls have ended. */
  prompts: FairQueue;
  modelAnswers: FairQueue;
  /** Processes of the sandbox. */
  sandbox: FairQueue;
  /** Returns the gate of one provider's model calls. Unknown providers have one gate together. */
  models(provider: string): FairQueue;
  /** The most model calls that are in flight or queued. */
  modelCallsMax: number;
  /** Lists all gates by name, for metrics. */
  list(): { [name: string]: FairQueue };
  /** Rejects what is queued, so that another worker can take it. */
  close(reason: Error): void;
};

/** Creates the gate of bytes that the activities of one worker hold. */
export function createBytesGate(): FairQueue {
  return createFairQueue(VALUE_BYTES);
}

/** Creates the gates of a worker's activities. */
export function createActivityGates(config: {
  sandboxProcesses: number;
  sandboxReserve: number;
  modelConcurrency: number;
  providers: object;
}): ActivityGates {
  const { modelConcurrency } = config;
  const reserved = Math.max(MODELS_RESERVED.min, Math.ceil(modelConcurrency * MODELS_RESERVED.part));
  const createModelGate = () =>
    createFairQueue({
      capacity: modelConcurrency,
      reserved,
      few: Math.min(MODELS_RESERVED.few, modelConcurrency),
      queuedMax: MODELS_QUEUED_MAX,
      queuedPerKeyMax: MODELS_QUEUED_EACH_MAX,
    });
  const models = new Map(Object.keys(config.providers).map((provider) => [provider, createModelGate()]));
  const others = createModelGate();
  const computation = {
    inputs: createBytesGate(),
    prompts: createFairQueue(PROMPT_CHARS),
    modelAnswers: createBytesGate(),
    sandbox: createFairQueue({
      capacity: config.sandboxProcesses,
      reserved: config.sandboxReserve,
      queuedPerKeyMax: CODE_QUEUED_EACH_MAX,
    }),
  };
  const { modelAnswers, ...named } = computation;
  const list = () => ({
    ...named,
    model_answers: modelAnswers,
    ...Object.fromEntries([...models].map(([provider, gate]) => [`models_${provider}`, gate])),
    models_other: others,
  });
  return {
    ...computation,
    models: (provider) => models.get(provider) ?? others,
    modelCallsMax: (models.size + 1) * (modelConcurrency + reserved + MODELS_QUEUED_MAX),
    list,
    close(reason) {
      for (const gate of Object.values(list())) gate.close(reason);
    },
  };
}
