import { ServiceError } from '../../flow/errors.ts';

/** Makes the error for a schema that cannot be used; `path` is a JSON Pointer into the schema. */
export function invalidSchema(path: string, problem: string): ServiceError {
  const where = path === '' ? '' : ` at ${path}`;
  return new ServiceError('SCHEMA_INVALID', `The JSON Schema cannot be used${where}: ${problem}`, { path });
}
