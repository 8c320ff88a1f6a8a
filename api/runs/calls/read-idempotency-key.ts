import type { IdempotencyKey } from '../../../db/runs/idempotency-keys.ts';
import type { ApiMiddleware } from '../../http/context.ts';
import { PARSE_OPTIONS, validationError } from '../../http/json-body.ts';
import { idempotencyHeaders } from '../run-shapes/requests.ts';
import { digestRequest } from './digest-request.ts';

/**
 * Reads the header Idempotency-Key into `ctx.state.idempotencyKey`; 422 when it is malformed. Two requests are equal
 * when path (with the version), body and environment are equal. The order of keys and null fields make no difference.
 */
export function readIdempotencyKey(endpoint: IdempotencyKey['endpoint']): ApiMiddleware {
  return async function readIdempotencyKey(ctx, next) {
    const headers = idempotencyHeaders.safeParse(
      { 'Idempotency-Key': ctx.req.headers['idempotency-key'] },
      PARSE_OPTIONS,
    );
    if (!headers.success) throw validationError(headers.error);
    const key = headers.data['Idempotency-Key'];
    if (key !== undefined) {
      const { principal, flow, body } = ctx.state;
      const held = Object.entries(body ?? {}).filter(([, value]) => value !== null);
      const digest = digestRequest(principal.environment, ctx.path, body && Object.fromEntries(held));
      ctx.state.idempotencyKey = { projectId: flow.projectId, endpoint, key, digest };
    }
    await next();
  };
}
