import type { Generated } from 'kysely';
import type { Now } from './now.ts';

export interface LedgerEntryTable {
  id: Generated<number>;
  organization_id: string;
  /** `grant/{key}` or `charge/{callId}/{blockKey}`: a repeated activity finds its own entry. */
  entry_key: string;
  kind: 'grant' | 'charge';
  /** Positive for a grant, negative for a charge. */
  amount_microcredits: number;
  execution_id: string | null;
  created_at: Now;
}

/** Credits that are reserved for a block execution during its model call. */
export interface ReservationTable {
  execution_id: string;
  block_key: string;
  organization_id: string;
  microcredits: number;
  reserved_at: Now;
}

/** A user who has had the starting credits of an organization and gets none for another. */
export interface StartingGrantTable {
  user_id: string;
  organization_id: string;
  granted_at: Now;
}
