// Model keys that came with requests, in the memory of one process. Bounds their size for each organization.

import type { ModelKeys } from '../db/tenants/model-keys.ts';
import { ServiceError } from '../flow/errors.ts';
import { countRefusal } from '../platform/observability/metrics/http-metrics.ts';

/** Maximum bytes of one organization: some 20,000 calls with keys of usual length. */
export const HELD_SHARE_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of all organizations together. Beyond it, further keys of an organization over its equal share are rejected. */
const HELD_MAX_BYTES = 4 * HELD_SHARE_BYTES;
/** Estimated bytes of a call besides its keys. */
export const CALL_BYTES = 256;

type Held = { organizationId: string; keys: ModelKeys; bytes: number; since: number };

/** Keys by callId, in the order in which the calls arrived. */
type HeldModelKeys = {
  /** Throws RATE_LIMITED or SERVICE_BUSY when there is no room for these keys. */
  requireRoom(organizationId: string, callId: string, keys: ModelKeys): void;
  /** Stores keys of a call, besides earlier keys of that call. */
  keep(organizationId: string, callId: string, keys: ModelKeys): void;
  get(callId: string): Held | undefined;
  drop(callId: string): void;
  [Symbol.iterator](): Iterator<[callId: string, Held]>;
};

/** Creates the store of a process. Only `requireRoom` enforces the limits: keys from other processes are stored without it. */
export function createHeldModelKeys(): HeldModelKeys {
  const held = new Map<string, Held>();
  const bytesOf = new Map<string, number>();
  let inAll = 0;

  function merge(callId: string, keys: ModelKeys): { merged: ModelKeys; bytes: number; added: number } {
    const earlier = held.get(callId);
    const merged = { ...earlier?.keys, ...keys };
    const bytes = Object.entries(merged).reduce((sum, pair) => sum + pair.join('').length, CALL_BYTES);
    return { merged, bytes, added: bytes - (earlier?.bytes ?? 0) };
  }

  function count(organizationId: string, bytes: number): void {
    inAll += bytes;
    const now = (bytesOf.get(organizationId) ?? 0) + bytes;
    if (now > 0) bytesOf.set(organizationId, now);
    else bytesOf.delete(organizationId);
  }

  return {
    requireRoom(organizationId, callId, keys) {
      const { added } = merge(callId, keys);
      if (added <= 0) return;
      const own = (bytesOf.get(organizationId) ?? 0) + added;
      if (own > HELD_SHARE_BYTES) throw tooManyOfOrganization();
      if (inAll + added > HELD_MAX_BYTES && own > HELD_MAX_BYTES / bytesOf.size) throw tooMany();
    },
    keep(organizationId, callId, keys) {
      const { merged, bytes, added } = merge(callId, keys);
      const owner = held.get(callId)?.organizationId ?? organizationId;
      held.set(callId, { organizationId: owner, keys: merged, bytes, since: Date.now() });
      count(owner, added);
    },
    get: (callId) => held.get(callId),
    drop(callId) {
      const dropped = held.get(callId);
      if (!dropped) return;
      held.delete(callId);
      count(dropped.organizationId, -dropped.bytes);
    },
    [Symbol.iterator]: () => held.entries(),
  };
}

/** Counts the rejection in the metrics, and creates its error. */
function tooManyOfOrganization(): ServiceError {
  countRefusal('model_keys');
  return new ServiceError(
    'RATE_LIMITED',
    `Unfinished calls of the organization have the maximum of ${HELD_SHARE_BYTES / 1024 / 1024} MiB of model keys of their own. Try again when some have ended, or store the key for the organization.`,
  );
}

function tooMany(): ServiceError {
  return new ServiceError(
    'SERVICE_BUSY',
    'Too many unfinished calls have model keys of their own. Send the request again.',
  );
}
