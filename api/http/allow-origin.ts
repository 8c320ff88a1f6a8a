import { ServiceError } from '../../flow/errors.ts';
import type { ApiContext } from './context.ts';

/**
 * Allows web pages of the `allowed` origins to read the response, and rejects other origins. Programs do not send the
 * header Origin.
 */
export function allowOrigin(
  ctx: Pick<ApiContext, 'get' | 'set' | 'vary'>,
  allowed: string[],
  refusal: string,
): void {
  ctx.vary('Origin');
  const origin = ctx.get('origin');
  if (origin === '') return;
  if (!allowed.includes(origin)) throw new ServiceError('FORBIDDEN', refusal);
  ctx.set('Access-Control-Allow-Origin', origin);
}
