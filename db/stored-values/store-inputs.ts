import { sql } from 'kysely';
import type { StoredObject } from '../../platform/object-store/object-store.ts';
import type { Db, Tx } from '../connect.ts';
import type { StoredRunInput } from '../tables/run-input.ts';
import { storeObject } from './store-object.ts';
import { INPUT_KEY } from './stored-inputs.ts';

/** The stored objects of inputs. Inputs that are not in the map are stored in the database. */
export type StoredInputs = ReadonlyMap<StoredRunInput, StoredObject>;
/** All inputs are stored in the database. */
export const NONE_STORED: StoredInputs = new Map();

/** Upkeep is deleting the object of an input that was to be linked. */
export class InputBeingDeleted extends Error {
  override readonly name = 'InputBeingDeleted';
}

/**
 * Writes large inputs of calls or sessions into the object store, before the calls are inserted, which links them. A
 * writer that took too long gets InputBeingDeleted then, and inserts its calls without the store. `onSerialized` is
 * called before the first wait.
 */
export async function storeInputs(
  db: Db,
  organizationId: string,
  inputs: { callId: string; input: StoredRunInput }[],
  onSerialized?: () => void,
): Promise<StoredInputs> {
  if (!db.objects) return NONE_STORED;
  const stored = new Map<StoredRunInput, StoredObject>();
  const serialized = inputs.map(({ callId, input }) => ({ callId, input, json: JSON.stringify(input) }));
  onSerialized?.();
  const write = async ({ callId, input, json }: (typeof serialized)[number]) => {
    const owner = { organizationId, callId, blockKey: INPUT_KEY, name: 'request' };
    const object = await storeObject(db, owner, json);
    if (object) stored.set(input, object);
  };
  await Promise.all(serialized.map(write));
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
