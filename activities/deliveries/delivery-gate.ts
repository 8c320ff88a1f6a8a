// The gate of webhook attempts. Each worker process of deliveries has one.
import type { DeliveryCall } from '../../flow/delivery.ts';
import {
  createFairQueue,
  type FairQueue,
  type Permit,
  PermitRejected,
} from '../../platform/limits/fair-queue.ts';
import { rescheduledAttempts } from '../../platform/observability/metrics/gate-metrics.ts';

/** The most attempts in flight of one organization to one host, in a worker. */
export const PAIR_MAX = 10;
/** The most attempts in flight of one organization to all hosts, in a worker. */
export const ORGANIZATION_MAX = 40;
/** The most attempts in flight of all organizations to one host, in a worker. */
export const HOST_MAX = 50;

/** The part of HOST_MAX for organizations that have no attempt in flight to the host. */
const HOST_RESERVED = 10;
/** A waiting attempt occupies a slot of the worker, so few wait, and not for long. The others are rescheduled. */
const QUEUED_MAX = 40;
const WAIT_MAX_MS = 2_000;
/** After the end of a worker, its deliveries come back so soon. */
const RETURN_MIN_MS = 1_000;

/** The organization has too many attempts in flight: the delivery is to come back in `dueInMs`. */
type Rescheduled = { dueInMs: number };

export type DeliveryGate = {
  /** Waits for a permit for one attempt, for up to 2 s, or until the signal aborts. */
  acquire(
    call: Pick<DeliveryCall, 'organizationId' | 'host'>,
    signal?: AbortSignal,
  ): Promise<Permit | Rescheduled>;
  /** Counts attempts in flight and queued ones. */
  count: FairQueue['count'];
};

export function createDeliveryGate({ waitMaxMs = WAIT_MAX_MS } = {}): DeliveryGate {
  const bounds = { queuedPerKeyMax: QUEUED_MAX };
  const organizations = createFairQueue({ ...bounds, capacity: Infinity, perKeyMax: ORGANIZATION_MAX });
  /** Hosts to which an attempt is in flight or queued. */
  const hosts = new Map<string, FairQueue>();

  function queueOf(host: string): FairQueue {
    const existing = hosts.get(host);
    if (existing) return existing;
    const capacity = HOST_MAX - HOST_RESERVED;
    const queue = createFairQueue({ ...bounds, capacity, reserved: HOST_RESERVED, perKeyMax: PAIR_MAX });
    hosts.set(host, queue);
    return queue;
  }

  function forgetIdle(host: string): void {
    const count = hosts.get(host)?.count();
    if (count && count.inFlight + count.queued === 0) hosts.delete(host);
  }

  /**
   * Acquires the permit of the host first: attempts that wait for a slow host occupy nothing that the organization needs for
   * its other hosts.
   */
  async function acquireBoth(organizationId: string, host: string, signal?: AbortSignal): Promise<Permit> {
    const until = performance.now() + waitMaxMs;
    const atHost = await queueOf(host).acquire(organizationId, { waitMaxMs, signal });
    try {
      const leftMs = Math.max(0, until - performance.now());
      const ofOrganization = await organizations.acquire(organizationId, { waitMaxMs: leftMs, signal });
      const release = () => {
        ofOrganization.release();
        atHost.release();
        forgetIdle(host);
      };
      return { release, [Symbol.dispose]: release };
    } catch (error) {
      atHost.release();
      throw error;
    }
  }

  return {
    async acquire({ organizationId, host }, signal) {
      try {
        return await acquireBoth(organizationId, host, signal);
      } catch (error) {
        forgetIdle(host);
        const isRejected = error instanceof PermitRejected;
        if (!isRejected && !signal?.aborted) throw error;
        rescheduledAttempts.add(1);
        return { dueInMs: isRejected ? Math.ceil(error.retryAfterMs) : RETURN_MIN_MS };
      }
    },
    count() {
      const count = organizations.count();
      for (const { queued, oldestWaitMs } of [...hosts.values()].map((queue) => queue.count())) {
        count.queued += queued;
        count.oldestWaitMs = Math.max(count.oldestWaitMs, oldestWaitMs);
      }
      return count;
    },
  };
}
