import { isJSONRPCRequest, PROTOCOL_VERSION_META_KEY, specTypeSchemas } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { PARSE_OPTIONS, validationError } from '../http/json-body.ts';

/** The methods for which the SDK answers wrong parameters with an internal error. */
const PARAMS = new Map<string, unknown>([
  ['initialize', specTypeSchemas.InitializeRequestParams],
  ['tools/list', specTypeSchemas.PaginatedRequestParams],
]);

/** Finds problems with the parameters of a request; undefined when the SDK can answer it. */
export function findWrongParams(message: unknown): { id: string | number; problem: string } | undefined {
  if (!isJSONRPCRequest(message)) return undefined;
  const { id, method, params = {} } = message;
  // The current revision has no initialize.
  if (method === 'initialize' && params._meta && PROTOCOL_VERSION_META_KEY in params._meta) return undefined;
  const schema = PARAMS.get(method) as z.ZodType | undefined;
  const error = schema?.safeParse(params, PARSE_OPTIONS).error;
  return error && { id, problem: validationError(error).message };
}
