import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { OUTPUT_MAX_BYTES } from '../../flow/limits.ts';

/** The output of a block: a value, or where it is large, its JSON text, which is stored without being parsed. */
export type Output = { output: Json; json?: undefined } | { json: Buffer; output?: undefined };

/** When `paused`, the output is a conversation that waits for tool results. */
export type BlockOutput = Output & { paused?: boolean };

/** Serializes a block's output for the database; throws OUTPUT_TOO_LARGE. */
export function serializeOutput({ output, json }: Output): { serialized: string | Buffer; bytes: number } {
  const serialized = json ?? JSON.stringify(output);
  const bytes = Buffer.byteLength(serialized);
  if (bytes > OUTPUT_MAX_BYTES) throw outputTooLarge(`${bytes} bytes`);
  return { serialized, bytes };
}

export function outputTooLarge(size: string): ServiceError {
  return new ServiceError(
    'OUTPUT_TOO_LARGE',
    `The output has ${size}; at most ${OUTPUT_MAX_BYTES} bytes are allowed.`,
  );
}
