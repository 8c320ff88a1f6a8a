import type { Json } from '../../flow/definition.ts';
import { resolveValue, type Value } from '../../flow/value.ts';
import type { Db } from '../connect.ts';
import { referenceLoader } from './load-references.ts';

/** Reads the result of a run's call as the caller gets it, with the outputs it refers to. */
export function readResult(db: Db, callId: string, result: Value): Promise<Json> {
  return resolveValue(result, referenceLoader(db, callId));
}
