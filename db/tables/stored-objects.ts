// The table of values in the object store, as Kysely sees it.
import type { Generated } from 'kysely';

export interface StoredObjectTable {
  /** The call and the block whose output the object is; the key is empty for the call's input. */
  execution_id: string;
  block_key: string;
  /** In hexadecimal. */
  sha256: string;
  /** `bucket/key`. */
  location: string;
  bytes: number;
  /** Whether a block was recorded with this output, or a call with this input. Until then, and after a crash, nobody reads it. */
  linked: Generated<boolean>;
  created_at: Generated<Date>;
  /** Since when the object is to be deleted; such a row is never linked again. */
  doomed_at: Date | null;
}
