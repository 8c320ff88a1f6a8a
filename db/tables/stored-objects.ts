import type { Generated } from 'kysely';

export interface StoredObjectTable {
  /** The call and the block of the output; the key is empty for the call's input. */
  execution_id: string;
  block_key: string;
  /** In hexadecimal. */
  sha256: string;
  /** `bucket/key`. */
  location: string;
  bytes: number;
  /** Whether a block or call was recorded with this value. Before, and after a crash, nobody reads it. */
  linked: Generated<boolean>;
  created_at: Generated<Date>;
  /** When the deletion began; such a row is never linked again. */
  doomed_at: Date | null;
}
