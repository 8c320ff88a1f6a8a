// Organizations, and users who act for none, take turns at the connections of a pool.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createTurns, type EndTurn } from '../../platform/limits/turns.ts';
import { addToLogContext } from '../../platform/observability/log.ts';

/** As long as the pool itself waits for a connection. */
export const WAIT_MAX_MS = 10_000;
/** The share of a pool that is kept for those who hold none of its connections. */
const RESERVED = 1 / 4;
/** The share of a pool that all owners have together while several are present: few statements at a time are each fast. */
const SHARED = 1 / 5;
const SHARED_MIN = 2;

const owners = new AsyncLocalStorage<string>();

/**
 * A statement's turn did not come, and its owner's other statements hold at least half of what all owners share. The database is
 * there, and nothing was sent.
 */
export class ConnectionShareUsed extends Error {
  override readonly name = 'ConnectionShareUsed';
  constructor() {
    super(`Other statements of the same owner held its connections for ${WAIT_MAX_MS / 1_000} s.`);
  }
}

/**
 * Does `work`, whose statements take turns at connections for `owner`: an organization, or a user until it is known for which
 * organization they ask.
 */
export function onBehalfOf<T>(owner: string, work: () => T): T {
  return owners.run(owner, work);
}

/** Does `work` on behalf of an organization, which is also named in the log. */
export function forOrganization<T>(organizationId: string, work: () => T): T {
  addToLogContext({ organization_id: organizationId });
  return onBehalfOf(organizationId, work);
}

/**
 * Creates the function that waits until the current owner may take one of `connections`. Work without an owner does not wait.
 * However many statements one owner has waiting, another owner's first one is next. A wait that is too long rejects with
 * ConnectionShareUsed where the owner holds many connections meanwhile, else with the reason of the signal.
 */
export function createConnectionTurns(connections: number, waitMaxMs = WAIT_MAX_MS): () => Promise<EndTurn> {
  const reserve = Math.floor(connections * RESERVED);
  const shared = Math.max(SHARED_MIN, Math.floor(connections * SHARED));
  const turns = createTurns({ places: connections - reserve, reserve, shared });
  return async function takeTurn() {
    const owner = owners.getStore();
    if (owner === undefined) return () => undefined;
    const late = turns.isBusy(owner) ? AbortSignal.timeout(waitMaxMs) : undefined;
    return turns.wait(owner, late).catch((error: unknown) => {
      throw 2 * turns.countUnderWay(owner) >= shared ? new ConnectionShareUsed() : error;
    });
  };
}
