// platform/json-schema/ enforces users' JSON Schemas (2020-12, draft-07) with Ajv in threads that can be killed (docs/blocks.md,
// JSON Schemas). A schema and a value go in, problems come out. Organizations share the threads fairly.

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Json, JsonSchema } from '../../flow/definition.ts';
import type { SchemaProblem } from './compile-schema.ts';
import { invalidSchema } from './invalid-schema.ts';
import { SLOW_SCHEMA_MS, SLOW_SCHEMAS_MAX, SMALL_VALUE_LENGTH } from './limits.ts';
import { findInSchema, requireUsableSchema } from './require-usable-schema.ts';
import { createThreadPool, type ThreadPool, ThreadStopped } from './thread-pool.ts';

type SlowSchemas = {
  /**
   * Returns why a schema (its text), or a value of this length as JSON with it, is refused without being tried; undefined when
   * it may be tried.
   */
  find(organization: string, schema: string, length?: number): string | undefined;
  /** Remembers that a schema took too long: for values of about this length, or for any if there was none or a small one. */
  remember(organization: string, schema: string, reason: string, length?: number): void;
};

/** The validator for one organization. */
export type OrganizationValidator = {
  /** Throws SCHEMA_INVALID with the problem and its place (`extra.path`, a JSON Pointer into the schema). */
  requireValidSchema(schema: JsonSchema): Promise<void>;
  /**
   * [] when the value, or JSON text as bytes, is valid, else up to 10 problems. Throws SCHEMA_INVALID, also when it takes over
   * 200 ms, PermitRejected when no thread is free within `waitMaxMs`, if given, and ThreadStarved when the machine is too busy to
   * check anything; any other error is the service's own.
   */
  validate(schema: JsonSchema, value: Json | Buffer, waitMaxMs?: number): Promise<SchemaProblem[]>;
};

export type Validator = {
  of(organization: string): OrganizationValidator;
  close(): Promise<void>;
};

/** Creates a validator of at most 4 threads, started when first needed; one organization has at most 2. */
export function createValidator(pool: ThreadPool = createThreadPool()): Validator {
  const slowSchemas = createSlowSchemas();

  async function run(
    organization: string,
    schema: JsonSchema,
    json?: string,
    waitMaxMs?: number,
  ): Promise<SchemaProblem[]> {
    const { text, placeOf } = requireUsableSchema(schema);
    const reason = slowSchemas.find(organization, text, json?.length);
    if (reason) throw invalidSchema('', reason);
    const request = json === undefined ? { schema: text } : { schema: text, value: json };
    const reply = await pool.run(organization, request, waitMaxMs).catch((error) => {
      if (!(error instanceof ThreadStopped)) throw error;
      if (error.by === 'schema') slowSchemas.remember(organization, text, error.message);
      else slowSchemas.remember(organization, text, error.message, json?.length);
      throw invalidSchema('', error.message);
    });
    if ('problems' in reply) return reply.problems;
    const { message, path, culprit } = reply.invalid;
    const found = culprit === undefined ? '' : findInSchema(JSON.parse(text), culprit);
    throw invalidSchema(placeOf(path ?? found), message);
  }

  return {
    of: (organization) => ({
      async requireValidSchema(schema) {
        await run(organization, schema);
      },
      validate: async (schema, value, waitMaxMs) => run(organization, schema, toText(value), waitMaxMs),
    }),
    close: () => pool.close(),
  };
}

function toText(value: Json | Buffer): string {
  if (Buffer.isBuffer(value)) return value.toString();
  try {
    return JSON.stringify(value);
  } catch (error) {
    // It is nested too deeply.
    throw invalidSchema('', `the value cannot be passed on: ${error}`);
  }
}

/** Describes a mismatch between a value and its JSON Schema, with its place. */
export function describeMismatch({ path, message }: SchemaProblem): string {
  return `${path || 'the value'} ${message}`;
}

// A check that was stopped once would be stopped again: it is refused for a while without being tried.

/** Creates a bounded memory of the schemas that were stopped, by organization, and from which size of value on. */
function createSlowSchemas(): SlowSchemas {
  const stopped = new LRUCache<string, { reason: string; fromLength: number }>({
    max: SLOW_SCHEMAS_MAX,
    ttl: SLOW_SCHEMA_MS,
  });
  const keyOf = (organization: string, schema: string) =>
    `${organization}/${createHash('sha256').update(schema).digest('base64')}`;
  return {
    find(organization, schema, length = 0) {
      if (stopped.size === 0) return undefined;
      const slow = stopped.get(keyOf(organization, schema));
      if (!slow || (slow.fromLength > 0 && length < slow.fromLength)) return undefined;
      return slow.reason;
    },
    remember(organization, schema, reason, length = 0) {
      // Half, so that a caller who sends a little less each time is stopped after a few times.
      const fromLength = length <= SMALL_VALUE_LENGTH ? 0 : length / 2;
      stopped.set(keyOf(organization, schema), { reason, fromLength });
    },
  };
}
