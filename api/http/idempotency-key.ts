// Idempotency-Key: the header, and the requests that create something other than a run, whose write happens once for it. Runs
// keep their keys themselves (runs/calls/accept-idempotently.ts).
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Db } from '../../db/connect.ts';
import { findKeptResult, writeOnce } from '../../db/tenants/kept-results.ts';
import { canonicalJson } from '../../flow/json.ts';
import type { Config } from '../../platform/config/config.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import type { ApiContext, ApiMiddleware, Route } from './context.ts';
import { idempotencyHeaders } from './idempotency-header.ts';
import { PARSE_OPTIONS, problem, validationError } from './json-body.ts';
import { authorOf } from './principal.ts';

/** Leaves out the null fields of a body: they mean the same as absent ones. */
export function withoutNulls(body: unknown): unknown {
  return body && Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Digests everything by which two requests are equal. The order of keys makes no difference. */
export function digestRequest(...parts: unknown[]): Buffer {
  return createHash('sha256').update(canonicalJson(parts)).digest();
}

/**
 * Lets the write of the handler happen once for an Idempotency-Key of the caller: sets `ctx.state.keyed`, which
 * `writeAuthorized` uses. Throws 422 for a malformed key, and IDEMPOTENCY_KEY_REUSED.
 */
export function takeIdempotencyKey({
  db,
  config,
}: {
  db: Db;
  config: Pick<Config, 'secretsKeys'>;
}): ApiMiddleware {
  const encryption = createEncryption(config.secretsKeys);
  const takeIdempotencyKey: ApiMiddleware = async (ctx, next) => {
    const key = readIdempotencyKey(ctx);
    if (key === undefined) return next();
    const { principal, requestId, body } = ctx.state;
    const write = {
      actor: authorOf(principal, requestId).actor,
      path: ctx.path,
      key,
      digest: digestRequest(ctx.querystring, withoutNulls(body)),
    };
    let isReplayed = false;
    ctx.state.keyed = {
      earlier: await findKeptResult(db, encryption, write),
      async once(tx, work) {
        const done = await writeOnce(tx, encryption, write, work);
        isReplayed = done.isReplayed;
        return done.result;
      },
    };
    isReplayed = ctx.state.keyed.earlier !== undefined;
    await next();
    if (isReplayed) ctx.set('Idempotent-Replayed', 'true');
  };
  return Object.assign(takeIdempotencyKey, { takesIdempotencyKey: true });
}

/** Reads the header. Throws VALIDATION_ERROR for a malformed one. */
export function readIdempotencyKey(ctx: ApiContext): string | undefined {
  const sent = { 'Idempotency-Key': ctx.req.headers['idempotency-key'] };
  const headers = idempotencyHeaders.safeParse(sent, PARSE_OPTIONS);
  if (!headers.success) throw validationError(headers.error);
  return headers.data['Idempotency-Key'];
}

/** Whether the write of a route happens once for an Idempotency-Key (`takeIdempotencyKey`). */
export function writesOnce({ handlers }: Route): boolean {
  return handlers.some((handler) => 'takesIdempotencyKey' in handler);
}

/** Refuses the header where it would change nothing, so that nobody trusts in it. */
export const refuseIdempotencyKey: ApiMiddleware = async function refuseIdempotencyKey(ctx, next) {
  if (ctx.req.headers['idempotency-key'] === undefined) return next();
  const message = 'is not accepted here: this request creates nothing, so leave the header out';
  throw validationError(problem(['Idempotency-Key'], message));
};

/**
 * Whether a route refuses an Idempotency-Key: a POST that has no use for it. The routes for MCP and Temporal ignore it, because
 * their clients are not ours.
 */
export function takesNoIdempotencyKey(route: Route): boolean {
  const { method, operation } = route;
  const { tags = [], requestParams } = operation;
  if (method !== 'post' || tags.includes('MCP') || tags.includes('Temporal') || writesOnce(route))
    return false;
  return !(requestParams?.header && 'Idempotency-Key' in shapeOf(requestParams.header));
}

/** Returns the headers that an object schema describes, by name. */
export function shapeOf(header: object): z.ZodRawShape {
  return (header as z.ZodObject).shape;
}
