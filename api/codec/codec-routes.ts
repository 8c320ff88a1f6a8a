// The codec endpoint: Temporal's Remote Codec protocol, by which its Web UI and CLI show what Weir has encrypted. It
// decrypts the payloads that the caller may read (docs/operating/encryption.md). It does not encode: its output would
// pass for Weir's own.
import type { Middleware } from 'koa';
import { authenticateUser, setUser } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import { allowOrigin } from '../http/allow-origin.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { readBody } from '../http/json-body.ts';
import { CALLER_ERRORS, done, USERS_ONLY } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, errorAnswer, examplesOf } from '../reference/operations.ts';
import { CODEC_PATH, createCodecSessions } from './codec-session.ts';
import { decodePayloads, notReadable, payloadsBody } from './decode-payloads.ts';

export const DECODE_PATH = `${CODEC_PATH}/decode`;
const SENT_HEADERS = 'Authorization, Authorization-Extras, Content-Type, X-Namespace';
const PLAIN = { metadata: { encoding: 'anNvbi9wbGFpbg==' }, data: 'ImhlbGxvIg==' };

export function codecRoutes(deps: ApiDeps): Route[] {
  const sessions = createCodecSessions(deps.config);
  const tags = ['Temporal'];
  return [
    {
      method: 'post',
      path: DECODE_PATH,
      operation: {
        tags,
        security: USERS_ONLY,
        operationId: 'decodePayloads',
        summary: 'Decode payloads of Temporal',
        description:
          'Temporal’s Remote Codec protocol, for its Web UI and CLI; a browser may send the cookie of `…/session` instead of a token. Payloads that the caller may not read are answered as they came, and what cannot be decoded as a text that says why.',
        requestBody: body(payloadsBody, { one: { payloads: [PLAIN] } }),
        responses: {
          200: answer('As many payloads, in the same order.', payloadsBody, { one: { payloads: [PLAIN] } }),
          ...CALLER_ERRORS,
          ...BODY_ERRORS,
          403: errorAnswer('The caller may read none of the payloads.', examplesOf(notReadable())),
        },
      },
      handlers: [
        allowWebUi(deps),
        authenticateBySession(deps),
        limitRate(deps),
        readBody(deps, payloadsBody),
        decodePayloads(deps),
      ],
    },
    {
      method: 'post',
      path: `${CODEC_PATH}/session`,
      operation: {
        tags,
        security: USERS_ONLY,
        operationId: 'openCodecSession',
        summary: 'Let Temporal’s Web UI decode in this browser',
        description:
          'Sets a cookie for `decode` alone, for as long as the token is valid. The console calls it when it opens the Web UI.',
        responses: { 204: done('The cookie is set.'), ...CALLER_ERRORS },
      },
      handlers: [
        authenticateUser(deps),
        limitRate(deps),
        async function openSession(ctx: ApiContext) {
          ctx.set('Set-Cookie', sessions.open(ctx.state.user));
          ctx.status = 204;
        },
      ],
    },
  ];

  /** Sets `ctx.state.user` and `principal` from the token or the browser's session. */
  function authenticateBySession(deps: ApiDeps): ApiMiddleware {
    const byToken = authenticateUser(deps);
    return async function authenticateBySession(ctx, next) {
      const user = ctx.get('authorization') === '' ? sessions.find(ctx.get('cookie')) : undefined;
      if (!user) return byToken(ctx, next);
      setUser(ctx, user);
      await next();
    };
  }
}

/** Answers the CORS preflight of Temporal's Web UI. */
export function codecPreflight({ config }: ApiDeps): Middleware {
  return function codecPreflight(ctx) {
    allow(ctx, config);
    ctx.set({ 'Access-Control-Allow-Methods': 'POST', 'Access-Control-Allow-Headers': SENT_HEADERS });
    ctx.status = 204;
  };
}

function allowWebUi({ config }: ApiDeps): ApiMiddleware {
  return async function allowWebUi(ctx, next) {
    allow(ctx, config);
    await next();
  };
}

function allow(
  ctx: Parameters<typeof allowOrigin>[0],
  { console: { temporalUiUrl } }: ApiDeps['config'],
): void {
  const refusal =
    'Web pages of this origin may not decode: an operator can name the Web UI in WEIR_TEMPORAL_UI_URL.';
  allowOrigin(ctx, temporalUiUrl === undefined ? [] : [new URL(temporalUiUrl).origin], refusal);
  ctx.set('Access-Control-Allow-Credentials', 'true');
}
