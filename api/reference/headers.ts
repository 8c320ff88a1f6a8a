// The headers of requests, responses and webhooks for docs/reference.md. Headers in the API document have the descriptions of
// its schemas.
import type { z } from 'zod';
import { etagHeader, ifNoneMatch } from '../http/etag.ts';
import { idempotentReplayed, location, rateLimitHeaders } from '../http/headers.ts';
import { idempotencyHeaders } from '../http/idempotency-header.ts';
import { TRACESTATE_MAX_CHARS } from '../http/observe-requests.ts';
import { modelKeyHeaders } from '../runs/calls/read-model-keys.ts';
import { preferenceApplied, preferHeaders } from '../runs/prefer.ts';
import { ifMatch } from './if-match.ts';
import { webhookHeaders } from './webhooks.ts';

type Header = { name: string; sent: 'request' | 'response' | 'both' | 'webhook'; meaning: string };

const describe = (sent: Header['sent'], schemas: { [name: string]: z.ZodType }): Header[] =>
  Object.entries(schemas).map(([name, { description = '' }]) => ({ name, sent, meaning: description }));

export const HEADERS: Header[] = [
  {
    name: 'Authorization',
    sent: 'request',
    meaning: '`Bearer` and an API key or a token. Required. A request has the header once.',
  },
  {
    name: 'Content-Type',
    sent: 'request',
    meaning: '`application/json`, required where there is a body. A body has no `Content-Encoding`.',
  },
  ...describe('request', {
    ...idempotencyHeaders.shape,
    ...modelKeyHeaders.shape,
    ...preferHeaders.shape,
  }),
  {
    name: 'Last-Event-ID',
    sent: 'request',
    meaning:
      'The id of the last event that you received from a stream. The stream continues after this event. `GET …/events` also accepts `?lastEventId=`.',
  },
  ...describe('request', { ...ifNoneMatch.shape, ...ifMatch.shape }),
  {
    name: 'X-Request-Id',
    sent: 'both',
    meaning:
      'The id of the request, as in the log. A request may send an id of up to 128 letters, digits and `. _ : ; = + / @ ~ -`. The service replaces any other.',
  },
  {
    name: 'traceparent, tracestate',
    sent: 'request',
    meaning: `The service continues the caller’s trace, and passes it to models and webhook receivers. A malformed \`traceparent\` and a \`tracestate\` of more than ${TRACESTATE_MAX_CHARS} characters are ignored.`,
  },
  {
    name: 'traceresponse',
    sent: 'response',
    meaning: 'The trace of the request, while traces are on (Trace Context level 2, draft).',
  },
  ...describe('response', rateLimitHeaders),
  {
    name: 'Retry-After',
    sent: 'response',
    meaning: 'Seconds until a request is accepted again. On every 429 and 503.',
  },
  ...describe('response', {
    'Idempotent-Replayed': idempotentReplayed,
    ...preferenceApplied,
    Location: location,
    ...etagHeader,
  }),
  { name: 'Allow', sent: 'response', meaning: 'The methods that the path accepts. On every 405.' },
  { name: 'WWW-Authenticate', sent: 'response', meaning: 'The scheme to use. On every 401.' },
  {
    name: 'Cache-Control',
    sent: 'response',
    meaning: '`no-store`; on streams `no-cache, no-transform`, on the reference `no-cache`.',
  },
  { name: 'X-Content-Type-Options', sent: 'response', meaning: '`nosniff`.' },
  {
    name: 'X-Accel-Buffering',
    sent: 'response',
    meaning: '`no` on Server-Sent Events and with `keep-alive`, so that nginx does not buffer them.',
  },
  {
    name: 'Strict-Transport-Security',
    sent: 'response',
    meaning: 'Sent if `WEIR_PUBLIC_URL` is https.',
  },
  { name: 'User-Agent', sent: 'webhook', meaning: '`Weir-Webhooks/1.0`.' },
  { name: 'X-Weir-Event', sent: 'webhook', meaning: '`flow.completed` or `flow.failed`.' },
  ...describe('webhook', webhookHeaders.shape),
  {
    name: 'webhook-id, webhook-timestamp, webhook-signature',
    sent: 'webhook',
    meaning: 'Id, time and signature as in Standard Webhooks.',
  },
];
