import type { Middleware } from 'koa';
import type { LargeValues } from '../../platform/large-values/large-values.ts';
import { SMALL_BYTES } from '../../platform/limits/byte-budget.ts';
import type { ApiContext, ApiState } from './context.ts';
import { holdBytesAlone } from './hold-answer-bytes.ts';
import { ownerOf } from './principal.ts';
import { tooManyLarge } from './take-bytes.ts';

/** Answers of one owner that may wait for their bytes when they are made already, in memory that is not counted meanwhile. */
const WAITING_MAX = 20;
const waiting = new Map<string, number>();

/**
 * Holds the bytes of what GET answers, such as a long list, until that is read. What may have many megabytes is held by its handler
 * before it is loaded, and so is the answer to a write before that is made: here, it would be too late to refuse it.
 */
export function holdMadeAnswers({ largeValues }: { largeValues: Pick<LargeValues, 'answers'> }): Middleware {
  return async function holdMadeAnswers(ctx, next) {
    await next();
    if (ctx.method !== 'GET' || !ctx.state.principal || ctx.state.freeAnswer) return;
    const isObject = Object.getPrototypeOf(ctx.body ?? '') === Object.prototype;
    if (isObject) ctx.body = JSON.stringify(ctx.body);
    const bytes = typeof ctx.body === 'string' || Buffer.isBuffer(ctx.body) ? Buffer.byteLength(ctx.body) : 0;
    try {
      await holdMadeAnswer(largeValues, ctx, payerOf(ctx.state as ApiState), bytes);
    } catch (error) {
      ctx.remove('ETag');
      throw error;
    }
  };
}

/** Holds the bytes of an answer that is made already, unless they are held. Throws as `takeBytes` does. */
export async function holdMadeAnswer(
  largeValues: Pick<LargeValues, 'answers'>,
  ctx: Pick<ApiContext, 'res' | 'state'>,
  owner: string,
  bytes: number,
): Promise<void> {
  if (bytes < SMALL_BYTES || ctx.state.freeAnswer) return;
  const others = waiting.get(owner) ?? 0;
  if (others >= WAITING_MAX) throw tooManyLarge();
  waiting.set(owner, others + 1);
  try {
    await holdBytesAlone(largeValues, ctx, owner, bytes);
  } finally {
    const left = (waiting.get(owner) ?? 1) - 1;
    if (left > 0) waiting.set(owner, left);
    else waiting.delete(owner);
  }
}

/** Names the organization that a request is about, or its caller where it is about none. */
function payerOf({ project, flowIds, membership, principal }: ApiState): string {
  return (
    project?.organization_id ?? flowIds?.organizationId ?? membership?.organizationId ?? ownerOf(principal)
  );
}
