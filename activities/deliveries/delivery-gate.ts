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
const RESCHEDULE_MIN_MS = 1_000;
/**
 * An organization's rescheduled deliveries come back one by one, so far apart. Measured with 1,000 deliveries to a receiver that
 * hangs: ten reschedules a second cost the engine 200 ms of processor time a second, and the service 220 ms.
 */
const RESCHEDULE_GAP_MS = 250;

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
  /** When the last rescheduled delivery of an organization comes back. */
  const lastReturns = new Map<string, number>();

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

  function reschedule(organizationId: string): Rescheduled {
    const now = performance.now();
    for (const [other, at] of lastReturns) if (at < now) lastReturns.delete(other);
    const last = lastReturns.get(organizationId) ?? 0;
    const at = Math.max(last + RESCHEDULE_GAP_MS, now + RESCHEDULE_MIN_MS);
    lastReturns.set(organizationId, at);
    return { dueInMs: Math.ceil(at - now) };
  }

  return {
    async acquire({ organizationId, host }, signal) {
      try {
        return await acquireBoth(organizationId, host, signal);
      } catch (error) {
        forgetIdle(host);
        if (!(error instanceof PermitRejected) && !signal?.aborted) throw error;
        rescheduledAttempts.add(1);
        return reschedule(organizationId);
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
