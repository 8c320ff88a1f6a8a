// GET /webhooks/listen and POST /webhooks/listen/{requestId}: `weir listen --forward-to` receives the webhooks of a
// local service over a stream, and sends back the local receiver's response (docs/webhooks.md, On your machine).
import { createHmac } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';
import {
  LISTENER_DOMAIN,
  type Listener,
  ORGANIZATION_LISTENERS_MAX,
  PROCESS_LISTENERS_MAX,
  type WebhookListeners,
} from '../../activities/deliveries/webhook-listeners.ts';
import { ServiceError } from '../../flow/errors.ts';
import { ANSWER_BODY_MAX_BYTES } from '../../platform/net/read-answer-start.ts';
import { findLostAccess, identifyCaller } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { EVENT_STREAM_HEADERS, formatEvent, HEARTBEAT, HEARTBEAT_MS } from '../http/event-stream.ts';
import { rateLimitHeaders } from '../http/headers.ts';
import { readBody } from '../http/json-body.ts';
import type { KeyPrincipal } from '../http/principal.ts';
import { readerSignal } from '../http/reader-signal.ts';
import {
  answer,
  BODY_ERRORS,
  body,
  COMMON_ERRORS,
  errorAnswer,
  examplesOf,
} from '../reference/operations.ts';

const PATH = '/api/v1/webhooks/listen';
const LABEL_HEX_DIGITS = 32;
const ERROR_MAX_CHARS = 1_000;

const receiverAnswer = z
  .strictObject({
    status: z.int().min(100).max(999).optional().meta({ description: 'The status of the answer.' }),
    body: z.string().max(ANSWER_BODY_MAX_BYTES).optional().meta({ description: 'The start of its body.' }),
    error: z.string().max(ERROR_MAX_CHARS).optional().meta({ description: 'Why there was no answer.' }),
  })
  .refine(({ status, error }) => (status === undefined) !== (error === undefined), {
    error: 'must have either status or error',
  })
  .meta({ id: 'ReceiverAnswer' });
const recorded = z.object({ recorded: z.literal(true) }).meta({ id: 'ReceiverAnswerRecorded' });

/** Lists the endpoints of listeners; none where listeners are off. */
export function webhookListenerRoutes(deps: ApiDeps): Route[] {
  const { listeners } = deps;
  if (!listeners) return [];
  const first = [...identifyCaller(deps, 'webhooks'), requireKey];
  return [
    {
      method: 'get',
      path: PATH,
      operation: {
        operationId: 'listenForWebhooks',
        summary: 'Receive webhooks on your machine (local services only)',
        description:
          'The event `listening` names the callbackUrl that belongs to the API key; each event `delivery` is an attempt, with the headers and body to post; `ended` says why the stream ends.',
        tags: ['Webhooks'],
        responses: {
          200: {
            description: 'The deliveries, as Server-Sent Events.',
            headers: z.object(rateLimitHeaders),
            content: { 'text/event-stream': { schema: z.string() } },
          },
          ...COMMON_ERRORS,
          403: errorAnswer(
            'The caller is a user, or the API key lacks the scope.',
            examplesOf(keyRequired()),
          ),
          409: errorAnswer('There are too many listeners.', examplesOf(tooMany())),
        },
      },
      handlers: [...first, listen(deps, listeners)],
    },
    {
      method: 'post',
      path: `${PATH}/:requestId`,
      operation: {
        operationId: 'answerWebhook',
        summary: 'Say what the receiver answered to a delivery (local services only)',
        tags: ['Webhooks'],
        requestBody: body(receiverAnswer, { taken: { status: 204 } }),
        responses: {
          200: answer('The answer is the result of the attempt.', recorded, { recorded: { recorded: true } }),
          ...COMMON_ERRORS,
          403: errorAnswer(
            'The caller is a user, or the API key lacks the scope.',
            examplesOf(keyRequired()),
          ),
          404: errorAnswer('The attempt has ended.', examplesOf(attemptEnded())),
          ...BODY_ERRORS,
        },
      },
      handlers: [...first, readBody(deps, receiverAnswer), giveAnswer(deps, listeners)],
    },
  ];
}

/** Admits API keys only: the address of a listener belongs to a key. */
const requireKey: ApiMiddleware = async (ctx, next) => {
  if (ctx.state.principal.kind !== 'key') throw keyRequired();
  await next();
};

function listen(deps: ApiDeps, listeners: WebhookListeners): ApiMiddleware {
  return async function listen(ctx) {
    const principal = ctx.state.principal as KeyPrincipal;
    const host = listenerHost(deps, principal);
    const listener = listeners.connect(host, principal.organizationId);
    if (!listener) throw tooMany();
    const signal = readerSignal(ctx.res, deps.stopping);
    if (signal.aborted) listener.close();
    else signal.addEventListener('abort', () => listener.close(), { once: true });
    ctx.set(EVENT_STREAM_HEADERS);
    const isAllowed = async () => !(await findLostAccess(deps, principal, principal.organizationId));
    const events = follow(listener, `https://${host}/`, isAllowed, signal);
    ctx.body = Readable.from(events, { highWaterMark: 1 });
  };
}

async function* follow(
  listener: Listener,
  callbackUrl: string,
  isAllowed: () => Promise<boolean>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  yield formatEvent('0', 'listening', { callbackUrl });
  for (let beatAt = performance.now(); !listener.isClosed(); ) {
    const request = await listener.next(beatAt + HEARTBEAT_MS - performance.now());
    const isDue = request !== undefined || performance.now() - beatAt >= HEARTBEAT_MS;
    if (listener.isClosed() || !isDue) continue;
    if (!(await isAllowed())) {
      listener.close();
      yield formatEvent('0', 'ended', { message: 'The API key is no longer valid.' });
      return;
    }
    yield request ? formatEvent(request.id, 'delivery', request) : HEARTBEAT;
    beatAt = performance.now();
  }
  if (!signal.aborted)
    yield formatEvent('0', 'ended', { message: 'Another weir listen with the same API key took over.' });
}

function giveAnswer(deps: ApiDeps, listeners: WebhookListeners): ApiMiddleware {
  return async function giveAnswer(ctx) {
    const { status, body = '', error = '' } = ctx.state.body as z.infer<typeof receiverAnswer>;
    const listener = listeners.find(listenerHost(deps, ctx.state.principal as KeyPrincipal));
    const given = status === undefined ? { error } : { status, body: Buffer.from(body) };
    if (!listener?.answer(ctx.params.requestId ?? '', given)) throw attemptEnded();
    ctx.body = { recorded: true };
  };
}

/** Returns the host name of an API key's listener: stable, and not guessable from the key's id. */
function listenerHost({ config }: ApiDeps, { key }: KeyPrincipal): string {
  const hmac = createHmac('sha256', config.apiKeyPepper).update(`listener ${key.key_id}`);
  return `${hmac.digest('hex').slice(0, LABEL_HEX_DIGITS)}.${LISTENER_DOMAIN}`;
}

function keyRequired(): ServiceError {
  return new ServiceError('FORBIDDEN', 'Listening for webhooks takes an API key.');
}

function tooMany(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `At most ${ORGANIZATION_LISTENERS_MAX} listeners of an organization, and ${PROCESS_LISTENERS_MAX} of all, are connected at a time: end one first.`,
  );
}

function attemptEnded(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The attempt has ended.');
}
