// Statements on one organization's balance wait for each other in the database: here, before they take a connection.
import type { Db, Tx } from '../connect.ts';

/** While the answer of one is on its way, the database works on the next. */
export const BALANCE_STATEMENTS_MAX = 4;

type Turns = { taken: number; waiting: (() => void)[] };

const turnsOf = new WeakMap<Db | Tx, Map<string, Turns>>();

/**
 * Does `work`, which locks the organization's row, in its turn: so many at a time in this process, in the order they
 * came. However many calls an organization makes, the other connections are for the others.
 */
export async function inBalanceTurn<T>(
  db: Db | Tx,
  organizationId: string,
  work: () => Promise<T>,
): Promise<T> {
  const organizations = turnsOf.get(db) ?? new Map<string, Turns>();
  turnsOf.set(db, organizations);
  const turns = organizations.get(organizationId) ?? { taken: 0, waiting: [] };
  organizations.set(organizationId, turns);
  if (turns.taken < BALANCE_STATEMENTS_MAX) turns.taken += 1;
  else await new Promise<void>((resolve) => turns.waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = turns.waiting.shift();
    if (next) next();
    else {
      turns.taken -= 1;
      if (turns.taken === 0) organizations.delete(organizationId);
    }
  }
}
