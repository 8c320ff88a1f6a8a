import { createValidator, type OrganizationValidator } from '../../platform/json-schema/validator.ts';

/** Lends `work` a validator of JSON Schemas, and closes it afterwards. */
export async function withValidator<T>(work: (validator: OrganizationValidator) => Promise<T>): Promise<T> {
  const validator = createValidator();
  try {
    return await work(validator.of('operator'));
  } finally {
    await validator.close();
  }
}
