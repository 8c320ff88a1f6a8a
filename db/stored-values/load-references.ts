import { sql } from 'kysely';
import type { LRUCache } from 'lru-cache';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { OUTPUTS_READ_MAX_BYTES } from '../../flow/limits.ts';
import {
  bytesToLoad,
  INPUT_REF,
  type Load,
  listUnmeasured,
  MESSAGE_REF,
  resolveText,
  resolveValue,
  type Stored,
  type StoredText,
  type Value,
} from '../../flow/value.ts';
import { findMember } from '../../platform/json-text/scan-json.ts';
import type { Db } from '../connect.ts';
import { outputNotFound } from './run-not-found.ts';
import { measureInput, readInputText } from './stored-inputs.ts';
import { outputBytes, outputObject, readStoredOutput } from './stored-outputs.ts';

/**
 * Loads the values of references of a call as JSON text: outputs of completed blocks, the run's message, the input of
 * a call that continues a run. Throws RUN_NOT_FOUND when a value is not stored (any more), and OUTPUT_TOO_LARGE
 * instead of reading more than OUTPUTS_READ_MAX_BYTES.
 */
export async function loadTexts(db: Db, callId: string, refs: string[]): Promise<Map<string, StoredText>> {
  const stored = new Map<string, StoredText>();
  const keys = refs.filter(isBlockKey);
  if (keys.length < refs.length) {
    // PostgreSQL cannot extract members from JSON with U+0000 or a lone surrogate.
    const input = Buffer.from(await readInputText(db, callId));
    for (const ref of refs)
      if (ref === MESSAGE_REF) stored.set(ref, toText(findMember(input, 'message')));
      else if (ref === INPUT_REF) stored.set(ref, toText(findContinuedInput(input)));
  }
  const rows = keys.length > 0 ? await selectOutputs(db, callId, keys) : [];
  for (const { all_bytes } of rows) if (all_bytes > OUTPUTS_READ_MAX_BYTES) throw outputsTooLarge(all_bytes);
  const read = rows.map(async ({ block_key, output, bytes, object }) => {
    const text = object ? await readStoredOutput(db, callId, block_key, object) : output;
    stored.set(block_key, { text, bytes });
  });
  await Promise.all(read);
  const missing = keys.find((key) => !stored.has(key));
  if (missing !== undefined) throw outputNotFound(callId, missing);
  return stored;
}

/** Loads and parses the values of references as `loadTexts` does. */
export async function loadReferences(db: Db, callId: string, refs: string[]): Promise<Map<string, Stored>> {
  const texts = await loadTexts(db, callId, refs);
  return new Map([...texts].map(([ref, { text, bytes }]) => [ref, { json: JSON.parse(text), bytes }]));
}

/** The error for outputs of `bytes` in all, which are not read. */
export function outputsTooLarge(bytes: number): ServiceError {
  const message = `Together these outputs have ${bytes} bytes; the limit is ${OUTPUTS_READ_MAX_BYTES}.`;
  return new ServiceError('OUTPUT_TOO_LARGE', message);
}

/** Makes the function that loads the references of one call. */
export function referenceLoader(db: Db, callId: string): Load {
  return (refs) => loadReferences(db, callId, refs);
}

/** Adds up the sizes of the recorded outputs of one or several calls; with `steps`, of these steps only. */
export async function measureOutputs(
  db: Db,
  callIds: string | string[],
  stepIds?: string[],
): Promise<number> {
  const { bytes } = await db
    .selectFrom('block_run')
    .select(sql<number>`coalesce(sum(${outputBytes}), 0)::bigint`.as('bytes'))
    .where('execution_id', '=', sql<string>`any(${[callIds].flat()}::uuid[])`)
    .$if(stepIds !== undefined, (query) => query.where('step_id', 'in', stepIds as string[]))
    .executeTakeFirstOrThrow();
  return bytes;
}

/**
 * Returns the bytes that building a value of a call reads. The message and the input count as the whole stored input
 * of the call.
 */
export async function measureValue(db: Db, callId: string, value: Value): Promise<number> {
  const refs = [...new Set(listUnmeasured(value))];
  const keys = refs.filter(isBlockKey);
  const [input, outputs] = await Promise.all([
    keys.length < refs.length ? measureInput(db, callId) : 0,
    keys.length > 0 ? measureOutputsOf(db, callId, keys) : 0,
  ]);
  return bytesToLoad(value) + input + outputs;
}

async function measureOutputsOf(db: Db, callId: string, keys: string[]): Promise<number> {
  const { bytes } = await db
    .selectFrom('block_run')
    .select(sql<number>`coalesce(sum(${outputBytes}), 0)::bigint`.as('bytes'))
    .where('execution_id', '=', callId)
    .where('block_key', '=', sql<string>`any(${keys}::text[])`)
    .executeTakeFirstOrThrow();
  return bytes;
}

function isBlockKey(ref: string): boolean {
  return ref !== MESSAGE_REF && ref !== INPUT_REF;
}

function findContinuedInput(input: Buffer): Uint8Array | undefined {
  const continuation = findMember(input, 'continuation');
  return continuation && findMember(continuation, 'input');
}

/** Selects the outputs in one statement, whose rows contain them only when all together may be read. */
function selectOutputs(db: Db, callId: string, keys: string[]) {
  return db
    .with('measured', (query) =>
      query
        .selectFrom('block_run')
        .select(['block_key', 'output'])
        .select([sql<number>`coalesce(${outputBytes}, 0)`.as('bytes'), outputObject.as('object')])
        .where('execution_id', '=', callId)
        .where('block_key', '=', sql<string>`any(${keys}::text[])`)
        .where('status', 'in', ['completed', 'paused']),
    )
    .with('summed', (query) =>
      query
        .selectFrom('measured')
        .select(['block_key', 'output', 'bytes', 'object'])
        .select(sql<number>`(sum(bytes) over ())::bigint`.as('all_bytes')),
    )
    .selectFrom('summed')
    .select(['block_key', 'bytes', 'all_bytes', 'object'])
    .select(sql<string>`case when all_bytes <= ${OUTPUTS_READ_MAX_BYTES} then output::text end`.as('output'))
    .execute();
}

/** A missing value is null. */
function toText(json: Uint8Array | undefined): StoredText {
  const text = json ? Buffer.from(json.buffer, json.byteOffset, json.length).toString().trim() : 'null';
  return { text, bytes: Buffer.byteLength(text) };
}

/** Loads the values of one call's references from `cache`; `load` reads missing ones, which are then cached. */
export async function loadThroughCache(
  cache: LRUCache<string, Stored>,
  callId: string,
  refs: string[],
  load: (refs: string[]) => Promise<Map<string, Stored>>,
): Promise<Map<string, Stored>> {
  const stored = new Map<string, Stored>();
  for (const ref of refs) {
    const cached = cache.get(`${callId}/${ref}`);
    if (cached) stored.set(ref, cached);
  }
  const absent = refs.filter((ref) => !stored.has(ref));
  for (const [ref, read] of absent.length > 0 ? await load(absent) : []) {
    stored.set(ref, read);
    cache.set(`${callId}/${ref}`, read);
  }
  return stored;
}

/** Reads a value of a run's call for callers, with the outputs it refers to. */
export function readResult(db: Db, callId: string, result: Value): Promise<Json> {
  return resolveValue(result, referenceLoader(db, callId));
}

/**
 * Reads a value as JSON text. It is not parsed, because parsing and serializing a large value would block the
 * process.
 */
export function readResultText(db: Db, callId: string, result: Value): Promise<string> {
  return resolveText(result, (refs) => loadTexts(db, callId, refs));
}

/**
 * Returns the bytes that describing a call's outcome reads: its result when it completed, its pause when it `pauses`.
 */
export async function measureOutcome(
  db: Db,
  callId: string,
  { result, pauses }: { result: Value | null; pauses: boolean },
): Promise<number> {
  if (pauses) return measurePause(db, callId);
  return result ? measureValue(db, callId, result) : 0;
}

/**
 * Returns the bytes that describing a call's pause reads: its outputs, and its input with the outputs that its caller
 * sent.
 */
export async function measurePause(db: Db, callId: string): Promise<number> {
  const [outputs, input] = await Promise.all([measureOutputs(db, callId), measureInput(db, callId)]);
  return outputs + input;
}
