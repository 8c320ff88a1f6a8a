// Inputs of calls: in the column `input` or, when that is null, in the object of a linked row of stored_object.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { ObjectLost, type StoredObject } from '../../platform/object-store/object-store.ts';
import { log } from '../../platform/observability/log.ts';
import type { Db, Tx } from '../connect.ts';
import type { StoredRunInput } from '../tables/run-input.ts';
import { callNotFound } from './run-not-found.ts';
import { readObject, storeObject } from './store-object.ts';

/** The stored objects of inputs. Inputs that are not in the map are stored in the database. */
export type StoredInputs = ReadonlyMap<StoredRunInput, StoredObject>;

/** All inputs are stored in the database. */
export const NONE_STORED: StoredInputs = new Map();

/** Upkeep is deleting the object of an input that was to be linked. */
export class InputBeingDeleted extends Error {
  override readonly name = 'InputBeingDeleted';
}

/** The block_key of a call's input in stored_object; no block has it. */
const INPUT_KEY = '';

const OF_CALL = sql`stored_object.execution_id = run.execution_id
  and stored_object.block_key = ${sql.lit(INPUT_KEY)} and stored_object.linked`;

/** The size of a call's input as JSON, wherever it is. For queries that select from run. */
export const inputBytes = sql<number>`coalesce(
  octet_length(run.input::text), (select stored_object.bytes from stored_object where ${OF_CALL}), 0)`;

/** The object with a call's input; null when the row has it. For queries as above. */
export const inputObject = sql<StoredObject | null>`case when run.input is null then (
  select json_build_object('location', location, 'bytes', bytes, 'sha256', sha256) from stored_object where ${OF_CALL}) end`;

/** Returns the size of a call's input as JSON, in bytes; 0 without such a call. */
export async function measureInput(db: Db, callId: string): Promise<number> {
  const row = await db
    .selectFrom('run')
    .select(inputBytes.as('bytes'))
    .where('execution_id', '=', callId)
    .executeTakeFirst();
  return row?.bytes ?? 0;
}

/**
 * Returns the input of a call from its row or from the object store. Throws ObjectStoreUnavailable, RUN_NOT_FOUND
 * when the run was deleted meanwhile, or INTERNAL_ERROR when the object is lost.
 */
export async function readInput(
  db: Db,
  callId: string,
  { input, object }: { input: StoredRunInput | null; object: StoredObject | null },
): Promise<StoredRunInput> {
  return input ?? JSON.parse(await readStoredInput(db, callId, object));
}

/** Reads the input of a call as JSON text. Throws as above. */
export async function readInputText(db: Db, callId: string): Promise<string> {
  const { text, object } = await db
    .selectFrom('run')
    .select([sql<string | null>`input::text`.as('text'), inputObject.as('object')])
    .where('execution_id', '=', callId)
    .executeTakeFirstOrThrow(() => callNotFound(callId));
  return text ?? (await readStoredInput(db, callId, object));
}

async function readStoredInput(db: Db, callId: string, object: StoredObject | null): Promise<string> {
  try {
    if (!object) throw new ObjectLost('No object is linked.');
    return await readObject(db, object);
  } catch (error) {
    if (!(error instanceof ObjectLost)) throw error;
    // A repeated first step replaces the input of a session, and the run may just be deleted.
    if (await isReplaced(db, callId, object)) return readInputText(db, callId);
    log.error({ execution_id: callId, location: object?.location, err: error }, 'A stored input is lost.');
    throw new ServiceError('INTERNAL_ERROR', `The stored input of the run is lost (reference ${callId}).`);
  }
}

/** Whether the call has another input by now. Throws RUN_NOT_FOUND. */
async function isReplaced(db: Db, callId: string, read: StoredObject | null): Promise<boolean> {
  const { isHere, object } = await db
    .selectFrom('run')
    .select([sql<boolean>`input is not null`.as('isHere'), inputObject.as('object')])
    .where('execution_id', '=', callId)
    .executeTakeFirstOrThrow(() => callNotFound(callId));
  return isHere || object?.location !== read?.location;
}

/**
 * Writes large inputs of calls or sessions into the object store, before the calls are inserted, which links them. A
 * writer that took too long gets InputBeingDeleted then, and inserts its calls without the store.
 */
export async function storeInputs(
  db: Db,
  organizationId: string,
  inputs: { callId: string; input: StoredRunInput }[],
): Promise<StoredInputs> {
  if (!db.objects) return NONE_STORED;
  const stored = new Map<StoredRunInput, StoredObject>();
  const write = async ({ callId, input }: (typeof inputs)[number]) => {
    const owner = { organizationId, callId, blockKey: INPUT_KEY, name: 'request' };
    const object = await storeObject(db, owner, JSON.stringify(input));
    if (object) stored.set(input, object);
  };
  await Promise.all(inputs.map(write));
  return stored;
}

/**
 * Makes an object the input of a session whose row this transaction has written, and deletes the earlier object;
 * undefined: the input is in the row. Throws InputBeingDeleted.
 */
export async function replaceInput(
  tx: Db | Tx,
  callId: string,
  object: StoredObject | undefined,
): Promise<void> {
  await ofCall(tx, callId)
    .set({ linked: false, doomed_at: sql`now()` })
    .where('linked', '=', true)
    .$if(object !== undefined, (query) => query.where('sha256', '<>', object?.sha256 as string))
    .execute();
  if (object) await linkInput(tx, callId, object);
}

/** Makes an object the input of a call whose row this transaction has inserted. Throws InputBeingDeleted. */
export async function linkInput(tx: Db | Tx, callId: string, { sha256 }: StoredObject): Promise<void> {
  const { numUpdatedRows } = await ofCall(tx, callId)
    .set({ linked: true })
    .where('sha256', '=', sha256)
    .where('doomed_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new InputBeingDeleted(`The stored input of ${callId} is being deleted.`);
}

function ofCall(tx: Db | Tx, callId: string) {
  return tx
    .updateTable('stored_object')
    .where('execution_id', '=', callId)
    .where('block_key', '=', INPUT_KEY);
}
