import type { Json, JsonSchema } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { describeMismatch, type OrganizationValidator } from '../../platform/json-schema/validator.ts';
import { NoRoom } from '../attempts/no-room.ts';
import type { Attempt } from '../attempts/run-attempt.ts';

const MISMATCHES = {
  input: { code: 'INPUT_SCHEMA_MISMATCH', subject: 'The input' },
  output: { code: 'OUTPUT_SCHEMA_MISMATCH', subject: 'The output' },
} as const;

/**
 * Throws INPUT_SCHEMA_MISMATCH or OUTPUT_SCHEMA_MISMATCH when a value, or JSON text as bytes, does not match its block's schema,
 * if there is one, and NoRoom where it `mayWait` no longer than an instant for the organization's turn.
 */
export async function enforceSchema(
  validator: Pick<OrganizationValidator, 'validate' | 'validateBriefly'>,
  which: keyof typeof MISMATCHES,
  schema: JsonSchema | undefined,
  value: Json | Buffer,
  { mayWait }: Pick<Attempt, 'mayWait'>,
): Promise<void> {
  if (schema === undefined) return;
  const problems = await (mayWait ? validator.validate : validator.validateBriefly)(schema, value);
  if (!problems) throw new NoRoom();
  if (problems.length === 0) return;
  const { code, subject } = MISMATCHES[which];
  const list = problems.map(describeMismatch).join('; ');
  throw new ServiceError(code, `${subject} does not match the block's schema: ${list}.`, { problems });
}
