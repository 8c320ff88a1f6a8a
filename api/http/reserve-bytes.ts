// Reserves memory for large bodies, answers and stored values at the gates of the process. The bodies and the answers of a
// request have gates of their own, so that no request waits for itself.
import type { ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import {
  createFairQueue,
  type FairQueue,
  type Permit,
  PermitRejected,
} from '../../platform/limits/fair-queue.ts';
import { acquireBytes, type HttpGates, SMALL_BYTES } from '../../platform/limits/gates.ts';
import type { ApiContext, ApiState } from './context.ts';
import { StreamInterruption } from './event-stream.ts';
import { ownerOf } from './principal.ts';
import { readerSignal } from './reader-signal.ts';
import { callerGone, tooManyLarge } from './request-errors.ts';

export type AnswerGate = { gates: Pick<HttpGates, 'answers'> };
type AnswerContext = Pick<ApiContext, 'res' | 'state'>;

/**
 * Acquires a permit for so many bytes of an organization or a user; small values need none. Throws RATE_LIMITED when the permit
 * does not come in time, and REQUEST_TIMEOUT when `gone` aborts first.
 */
export async function reserveBytes(
  gate: FairQueue,
  key: string,
  bytes: number,
  gone?: AbortSignal,
): Promise<Permit> {
  try {
    return await acquireBytes(gate, key, bytes, { signal: gone });
  } catch (error) {
    if (gone?.aborted) throw callerGone();
    throw error instanceof PermitRejected ? tooManyLarge(error) : error;
  }
}

/**
 * Acquires a permit for stored values that a request needs, or for its answer, until the answer is sent or refused. Throws as
 * `reserveBytes` does.
 */
export async function reserveAnswer(
  { gates }: AnswerGate,
  { res, state }: AnswerContext,
  key: string,
  bytes: number,
): Promise<void> {
  if (bytes < SMALL_BYTES) return;
  const { release } = await reserveBytes(gates.answers, key, bytes, readerSignal(res));
  state.releaseAnswer = release;
  releaseAtClose(res, release);
}

/** Releases a permit when the response is closed, which may have happened while the permit was waited for. */
export function releaseAtClose(res: ServerResponse, release: () => void): void {
  if (res.closed) release();
  else res.once('close', release);
}

/** Answers of one key that are made and wait for their permit, in memory that is not counted meanwhile. */
const MADE_WAITING_MAX = 20;
const made = createFairQueue({ capacity: Infinity, perKeyMax: MADE_WAITING_MAX });

/** Acquires a permit for an answer that is made already, unless the request has one. Throws as `reserveBytes` does. */
export async function reserveMadeAnswer(
  deps: AnswerGate,
  ctx: AnswerContext,
  key: string,
  bytes: number,
): Promise<void> {
  if (bytes < SMALL_BYTES || ctx.state.releaseAnswer) return;
  using waiting = made.tryAcquire(key);
  if (!waiting) throw tooManyLarge();
  await reserveAnswer(deps, ctx, key, bytes);
}

/**
 * Acquires permits for answers to GET, such as long lists. An answer that may have many megabytes has its permit before it is
 * loaded, and so has the answer to a write before the write is made: here, it would be too late to refuse it.
 */
export function reserveMadeAnswers(deps: AnswerGate): Middleware {
  return async function reserveMadeAnswers(ctx, next) {
    await next();
    if (ctx.method !== 'GET' || !ctx.state.principal || ctx.state.releaseAnswer) return;
    const isObject = Object.getPrototypeOf(ctx.body ?? '') === Object.prototype;
    if (isObject) ctx.body = JSON.stringify(ctx.body);
    const bytes = typeof ctx.body === 'string' || Buffer.isBuffer(ctx.body) ? Buffer.byteLength(ctx.body) : 0;
    try {
      await reserveMadeAnswer(deps, ctx, payerOf(ctx.state as ApiState), bytes);
    } catch (error) {
      ctx.remove('ETag');
      throw error;
    }
  };
}

/** Returns the organization that a request is about, or its caller where it is about none. */
function payerOf({ project, flowIds, membership, principal }: ApiState): string {
  return (
    project?.organization_id ?? flowIds?.organizationId ?? membership?.organizationId ?? ownerOf(principal)
  );
}

/**
 * Acquires a permit for one event of a stream, however long that takes: a stream that has begun cannot be refused. Throws
 * StreamInterruption when `signal` aborts first.
 */
export function reserveEvent(
  { gates }: AnswerGate,
  organizationId: string,
  bytes: number,
  signal: AbortSignal,
): Promise<Permit> {
  const wait = { signal, waitMaxMs: Infinity };
  return acquireBytes(gates.answers, organizationId, bytes, wait).catch((error: unknown) => {
    throw signal.aborted ? new StreamInterruption('stopping') : error;
  });
}

/** A little more than the largest draft of a flow. The drafts of most projects fit into one part. */
const PART_MAX_BYTES = 2 * 1024 * 1024;

/** Divides values of known sizes, in their order, into parts that are loaded and dropped one after another. */
export function toParts<T extends { bytes: number }>(values: T[]): { bytes: number; part: T[] }[] {
  const parts: { bytes: number; part: T[] }[] = [];
  for (const value of values) {
    const last = parts.at(-1);
    if (last && last.bytes + value.bytes <= PART_MAX_BYTES) {
      last.bytes += value.bytes;
      last.part.push(value);
    } else parts.push({ bytes: value.bytes, part: [value] });
  }
  return parts;
}
