import { measureOutcome, readResult } from '../../db/stored-values/load-references.ts';
import type { Json } from '../../flow/definition.ts';
import type { Value } from '../../flow/value.ts';
import type { ApiDeps } from '../deps.ts';
import { reserveBytes } from '../http/reserve-bytes.ts';
import { cutJson } from '../http/write-json.ts';

/**
 * Reads the result of a run's call, cut to `maxChars` characters of JSON, after reserving memory for the whole
 * result. Throws RATE_LIMITED when the memory does not come in time, and REQUEST_TIMEOUT when `gone` aborts first.
 */
export async function readCutResult(
  deps: Pick<ApiDeps, 'db' | 'gates'>,
  { organizationId, callId, result }: { organizationId: string; callId: string; result: Value },
  maxChars: number,
  gone?: AbortSignal,
): Promise<Json> {
  const bytes = await measureOutcome(deps.db, callId, { result, pauses: false });
  using _permit = await reserveBytes(deps.gates.answers, organizationId, bytes, gone);
  return cutJson(await readResult(deps.db, callId, result), maxChars);
}
