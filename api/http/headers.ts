// Response headers, and the shape of every error, as the API document shows them.
import { z } from 'zod';
import { ERROR_CODES } from '../../flow/errors.ts';

const header = (id: string, schema: z.ZodType, description: string) =>
  schema.optional().meta({ description, header: { id } });
export const rateLimitHeaders = {
  'RateLimit-Limit': header(
    'RateLimit-Limit',
    z.int(),
    'Requests per minute of the quota with the fewest requests left.',
  ),
  'RateLimit-Remaining': header('RateLimit-Remaining', z.int(), 'Requests left in that quota now.'),
  'RateLimit-Reset': header('RateLimit-Reset', z.int(), 'Seconds until that quota is full again.'),
};
export const retryAfter = header('Retry-After', z.int(), 'Seconds until a request is accepted again.');
export const idempotentReplayed = header(
  'Idempotent-Replayed',
  z.literal('true'),
  'Sent when the request was carried out before: with the same Idempotency-Key, or by the same resume.',
);
export const location = header('Location', z.string(), 'The path of the run, to poll.');

export const errorCode = z.enum(ERROR_CODES).meta({ id: 'ErrorCode' });

export const errorResponse = z
  .object({ detail: z.looseObject({ code: errorCode, message: z.string() }) })
  .meta({
    id: 'Error',
    description: 'Every error but some of MCP has this shape; `detail` may hold further fields.',
  });
