import type { Json, JsonSchema } from '../flow/definition.ts';
import { ServiceError } from '../flow/errors.ts';
import type { Validator } from '../json-schema/validator.ts';

const MISMATCHES = {
  input: { code: 'INPUT_SCHEMA_MISMATCH', subject: 'The input' },
  output: { code: 'OUTPUT_SCHEMA_MISMATCH', subject: 'The output' },
} as const;

/**
 * Throws INPUT_SCHEMA_MISMATCH or OUTPUT_SCHEMA_MISMATCH when a value, or JSON text as bytes, does not match its block's schema,
 * if there is one.
 */
export async function enforceSchema(
  validator: Validator,
  organizationId: string,
  which: keyof typeof MISMATCHES,
  schema: JsonSchema | undefined,
  value: Json | Buffer,
): Promise<void> {
  if (schema === undefined) return;
  const own = validator.of(organizationId);
  const problems = Buffer.isBuffer(value)
    ? await own.validateText(schema, value.toString())
    : await own.validate(schema, value);
  if (problems.length === 0) return;
  const { code, subject } = MISMATCHES[which];
  const list = problems.map(({ path, message }) => `${path || 'the value'} ${message}`).join('; ');
  throw new ServiceError(code, `${subject} does not match the block's schema: ${list}.`, { problems });
}
