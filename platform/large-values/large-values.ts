// platform/large-values/ reads large JSON texts and code in a thread (large-json.ts), and bounds definitions that are checked.
import { createFairQueue, type FairQueue, type Permit } from '../limits/fair-queue.ts';
import { type CodeReader, createCodeReader } from './code-reader.ts';
import { createLargeJson, type LargeJson } from './large-json.ts';

const MB = 1024 * 1024;
/** A small definition can take long to check, too. */
const DEFINITION_WEIGHT_MIN = MB;
/** Bytes of definitions that are checked at a time. One of 2 MiB may take twenty times as much memory. */
const DEFINITIONS = { capacity: 8 * MB, reserved: 4 * MB, perKeyMax: 2 * MB };

export type LargeValues = {
  /** Definitions while their JSON Schemas are checked, before they run or are published. A weight is in bytes. */
  definitions: FairQueue;
  json: LargeJson;
  readCode: CodeReader;
  /** Ends the thread. */
  close(): Promise<void>;
};

/** Creates what a process may hold. Its thread starts with the first large text. */
export function createLargeValues(): LargeValues {
  const json = createLargeJson();
  return {
    definitions: createFairQueue(DEFINITIONS),
    json,
    readCode: createCodeReader(json),
    close: json.close,
  };
}

/** Acquires a permit to check a definition of so many bytes. Rejects as `FairQueue.acquire` does. */
export function acquireDefinition(
  { definitions }: Pick<LargeValues, 'definitions'>,
  organizationId: string,
  bytes: number,
  signal: AbortSignal,
): Promise<Permit> {
  return definitions.acquire(organizationId, { weight: Math.max(bytes, DEFINITION_WEIGHT_MIN), signal });
}
