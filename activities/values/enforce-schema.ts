import type { Json, JsonSchema } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { describeMismatch, type OrganizationValidator } from '../../platform/json-schema/validator.ts';
import type { Attempt } from '../attempts/run-attempt.ts';

const MISMATCHES = {
  input: { code: 'INPUT_SCHEMA_MISMATCH', subject: 'The input' },
  output: { code: 'OUTPUT_SCHEMA_MISMATCH', subject: 'The output' },
} as const;

/** The work of a block that has run is not thrown away because threads are busy: its output waits longer. */
const OUTPUT_WAIT_MAX_MS = 30_000;

/**
 * Throws INPUT_SCHEMA_MISMATCH or OUTPUT_SCHEMA_MISMATCH when a value, or JSON text as bytes, does not match its block's schema,
 * if there is one, and PermitRejected when no thread is free in time.
 */
export async function enforceSchema(
  validator: Pick<OrganizationValidator, 'validate'>,
  which: keyof typeof MISMATCHES,
  schema: JsonSchema | undefined,
  value: Json | Buffer,
  { waitMaxMs }: Pick<Attempt, 'waitMaxMs'>,
): Promise<void> {
  if (schema === undefined) return;
  const ownWaitMaxMs = which === 'output' ? Math.max(waitMaxMs, OUTPUT_WAIT_MAX_MS) : waitMaxMs;
  const problems = await validator.validate(schema, value, ownWaitMaxMs);
  if (problems.length === 0) return;
  const { code, subject } = MISMATCHES[which];
  const list = problems.map(describeMismatch).join('; ');
  throw new ServiceError(code, `${subject} does not match the block's schema: ${list}.`, { problems });
}
