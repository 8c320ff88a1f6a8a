// Connections of a pool, which those whom statements are made for take in turn.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createTurns, type EndTurn } from '../../fairness/turns.ts';

/** As long as the pool itself lets one wait for a connection. */
const WAIT_MAX_MS = 10_000;
/** The share of a pool that is kept for those who hold no connection of it. */
const RESERVED = 1 / 4;

const owners = new AsyncLocalStorage<string>();

/** Does `work`, whose statements take turns at connections as `owner`'s: an organization's, or a user's. */
export function onBehalfOf<T>(owner: string, work: () => T): T {
  return owners.run(owner, work);
}

/**
 * Waits until whoever it works for may have one of `connections`; what is done for nobody in particular does not wait.
 * However many statements one has waiting, another's first is next.
 */
export function createConnectionTurns(connections: number): () => Promise<EndTurn> {
  const reserve = Math.floor(connections * RESERVED);
  const turns = createTurns({ places: connections - reserve, reserve });
  return async function takeTurn() {
    const owner = owners.getStore();
    if (owner === undefined) return () => undefined;
    const late = turns.isBusy(owner) ? AbortSignal.timeout(WAIT_MAX_MS) : undefined;
    return turns.wait(owner, late);
  };
}
