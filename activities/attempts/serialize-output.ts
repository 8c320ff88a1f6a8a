import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { OUTPUT_MAX_BYTES } from '../../flow/limits.ts';
import { weigh } from '../../platform/json-text/measure-json.ts';

/**
 * The output of a block: a value, or where it is large, its JSON text, which is stored without being parsed, and how many values
 * that has.
 */
export type Output =
  | { output: Json; json?: undefined }
  | { json: Buffer; values: number; output?: undefined };

/** When `paused`, the output is a conversation that waits for tool results. */
export type BlockOutput = Output & { paused?: boolean };

/** Serializes a block's output for the database; throws OUTPUT_TOO_LARGE. */
export function serializeOutput(answered: Output): {
  serialized: string | Buffer;
  bytes: number;
  weight: number;
} {
  const serialized = answered.json ?? JSON.stringify(answered.output);
  const bytes = Buffer.byteLength(serialized);
  if (bytes > OUTPUT_MAX_BYTES) throw outputTooLarge(`${bytes} bytes`);
  const weight = weigh(serialized, answered.json && answered.values);
  if (weight > OUTPUT_MAX_BYTES) throw outputTooLarge(`so many values that it counts as ${weight} bytes`);
  return { serialized, bytes, weight };
}

export function outputTooLarge(size: string): ServiceError {
  return new ServiceError(
    'OUTPUT_TOO_LARGE',
    `The output has ${size}; at most ${OUTPUT_MAX_BYTES} bytes are allowed.`,
  );
}
