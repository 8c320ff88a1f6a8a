import type { Json } from '../../flow/definition.ts';
import { resolveText, resolveValue, type Value } from '../../flow/value.ts';
import type { Db } from '../connect.ts';
import { referenceLoader, textLoader } from './load-references.ts';

/** Reads a value of a run's call for callers, with the outputs it refers to. */
export function readResult(db: Db, callId: string, result: Value): Promise<Json> {
  return resolveValue(result, referenceLoader(db, callId));
}

/**
 * Reads a value as JSON text. It is not parsed, because parsing and serializing a large value would block the
 * process.
 */
export function readResultText(db: Db, callId: string, result: Value): Promise<string> {
  return resolveText(result, textLoader(db, callId));
}
