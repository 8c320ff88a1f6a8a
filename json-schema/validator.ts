// Users' JSON Schemas (2020-12, draft-07) enforced with Ajv in threads that can be stopped (security: "JSON Schema").
import type { Json, JsonSchema } from '../flow/definition.ts';
import { findInSchema, inspectSchema, invalidSchema } from './inspect-schema.ts';
import { createThreadPool, ThreadStopped } from './thread-pool.ts';

/** `path` is a JSON Pointer into the value, '' for the root. */
export type SchemaProblem = { path: string; message: string };

export type Validator = {
  /** Throws SCHEMA_INVALID with what is wrong and where (`extra.path`, a JSON Pointer into the schema). */
  check(schema: JsonSchema): Promise<void>;
  /** [] when the value is valid, else up to 10 problems. Throws SCHEMA_INVALID, also when it takes over 200 ms. */
  validate(schema: JsonSchema, value: Json): Promise<SchemaProblem[]>;
  close(): Promise<void>;
};

/** A validator of at most `threads` threads (2), started when first needed. */
export function createValidator({ threads = 2 }: { threads?: number } = {}): Validator {
  const pool = createThreadPool(threads);

  async function run(schema: JsonSchema, value?: Json): Promise<SchemaProblem[]> {
    const text = inspectSchema(schema);
    const reply = await pool
      .run(value === undefined ? { schema: text } : { schema: text, value })
      .catch((error) => {
        throw error instanceof ThreadStopped ? invalidSchema('', error.message) : error;
      });
    if ('problems' in reply) return reply.problems;
    const { message, path, culprit } = reply.invalid;
    throw invalidSchema(path ?? (culprit === undefined ? '' : findInSchema(schema, culprit)), message);
  }

  return {
    async check(schema) {
      await run(schema);
    },
    validate: run,
    close: () => pool.close(),
  };
}
