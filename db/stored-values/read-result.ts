import type { Json } from '../../flow/definition.ts';
import { resolveText, resolveValue, type Value } from '../../flow/value.ts';
import type { Db } from '../connect.ts';
import { referenceLoader, textLoader } from './load-references.ts';

/** Reads a value of a run's call as callers get it, with the outputs it refers to. */
export function readResult(db: Db, callId: string, result: Value): Promise<Json> {
  return resolveValue(result, referenceLoader(db, callId));
}

/** Reads a value as JSON text, which is not parsed: for a large one, that and writing it again would hold up the process. */
export function readResultText(db: Db, callId: string, result: Value): Promise<string> {
  return resolveText(result, textLoader(db, callId));
}
