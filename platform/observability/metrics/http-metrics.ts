import { addToLogContext } from '../log.ts';
import { counter, gauge, histogram } from './instruments.ts';

const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const requestDuration = histogram({
  name: 'http.server.request.duration',
  unit: 's',
  description: 'Time from the first byte of a request to the last of its answer, on however slow a line.',
  labels: ['http.request.method', 'http.route', 'http.response.status_code', 'error.type'],
  buckets: DURATIONS,
});

export const jobAcceptance = histogram({
  name: 'weir.job.acceptance.duration',
  unit: 's',
  description:
    'Time that storing a job and starting it in the engine took, once its request had arrived and been checked.',
  buckets: DURATIONS,
});

export const activeRequests = gauge({
  name: 'http.server.active_requests',
  unit: '{request}',
  description: 'Requests that are being answered, streams of events included.',
});

export const openRequests = gauge({
  name: 'weir.http.open_requests',
  unit: '{request}',
  description:
    'Requests that are held open: calls that wait for their run, and streams and requests that follow a run.',
  labels: ['kind'],
});

/** The limits whose refusals are counted: rates, then what an organization may have at once. */
const LIMITS = [
  ...['key', 'organization', 'user', 'sign_in'],
  ...['runs_under_way', 'requests', 'waiting', 'open_requests', 'bytes', 'look_ups'],
];

const rateLimitRefusals = counter({
  name: 'weir.rate_limit.refusals',
  unit: '{request}',
  description: 'Requests that were answered 429, by the limit that refused.',
  labels: ['limit'],
  zeros: LIMITS.map((limit) => ({ limit })),
});

/** Counts a request that `limit` refuses, and has the log name the limit in the request's line. */
export function countRefusal(limit: string): void {
  rateLimitRefusals.add(1, { limit });
  addToLogContext({ limit });
}

export const unreadableRequests = counter({
  name: 'weir.http.unreadable_requests',
  unit: '{request}',
  description:
    'Requests that were refused before they could be read: no valid HTTP, too late, or with too large headers.',
  labels: ['http.response.status_code'],
  zeros: [400, 408, 431].map((status) => ({ 'http.response.status_code': status })),
});
