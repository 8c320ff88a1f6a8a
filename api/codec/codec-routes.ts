// The codec endpoint: Temporal's Remote Codec protocol, by which its Web UI and CLI show what Weir has encrypted. It
// decrypts the payloads that the caller may read (docs/operating/encryption.md). It does not encode: its output would
// pass for Weir's own.

import type { Payload } from '@temporalio/common';
import type { Middleware } from 'koa';
import { z } from 'zod';
import { listReadableWorkflows } from '../../db/tenants/list-readable-workflows.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { Config } from '../../platform/config/config.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import { compressPayloads, type EncryptingCodec, encryptPayloads } from '../../temporal/data-converter.ts';
import { authenticateUser, markOperator, setUser } from '../auth/authenticate.ts';
import { limitRate } from '../auth/limit-rate.ts';
import type { ApiDeps } from '../deps.ts';
import { allowOrigin } from '../http/allow-origin.ts';
import type { ApiContext, ApiMiddleware, Route } from '../http/context.ts';
import { readBody } from '../http/json-body.ts';
import { createUserPrincipal, ownerOf, type UserPrincipal } from '../http/principal.ts';
import { BODY_MAX_BYTES } from '../http/receive-body.ts';
import { reserveMadeAnswer } from '../http/reserve-bytes.ts';
import { fewEntries } from '../http/zod-input.ts';
import { CALLER_ERRORS, done, USERS_ONLY } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, errorAnswer, examplesOf } from '../reference/operations.ts';

export const PAYLOADS_MAX = 1_000;

/** In one payload. Temporal writes fewer than ten. */
export const METADATA_MAX = 32;
const UUID_CHARS = 36;

const base64 = z.string().meta({ description: 'Base64, as in the JSON form of protocol buffers.' });

const payload = z
  .looseObject({
    metadata: fewEntries(METADATA_MAX, z.record(z.string(), base64)).optional(),
    data: base64.optional(),
  })
  .meta({ id: 'TemporalPayload' });

const payloadsBody = z
  .looseObject({ payloads: z.array(payload).max(PAYLOADS_MAX) })
  .meta({ id: 'TemporalPayloads' });

type JsonPayload = z.infer<typeof payload>;

const COOKIE = 'weir_codec';
const NAMED = new RegExp(`(?<=^|; ?)${COOKIE}=([\\w-]+)`, 'g');

const CODEC_PATH = '/api/v1/codec';
const OWNER = 'cookie/codec';

type Session = { userId: string; expiresAt: number };

type Sessions = {
  /** Creates the Set-Cookie header that starts a session. */
  open(user: UserPrincipal): string;
  /** Finds the user of the first valid session in a header `Cookie`; undefined when none is valid. */
  find(cookies: string): UserPrincipal | undefined;
};

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
        authenticateUser(deps, { person: true }),
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
      setUser(ctx, markOperator(deps.config, user));
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

/**
 * Creates the sessions of the codec endpoint. A Temporal Web UI without its own sign-in has no token to send, so a
 * cookie stands for the user. The cookie works for this endpoint alone and expires with the token. It is encrypted
 * under WEIR_SECRETS_KEYS, so nobody else can make one.
 */
export function createCodecSessions({ secretsKeys, publicUrl }: Config): Sessions {
  const encryption = createEncryption(secretsKeys);
  const secure = publicUrl?.startsWith('https:') ? '; Secure' : '';
  return {
    open({ userId, expiresAt }) {
      const session = JSON.stringify({ userId, expiresAt: expiresAt.getTime() } satisfies Session);
      const value = Buffer.from(encryption.encrypt(session, OWNER)).toString('base64url');
      const seconds = Math.floor((expiresAt.getTime() - Date.now()) / 1_000);
      return `${COOKIE}=${value}; Path=${CODEC_PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
    },
    find(cookies) {
      // A browser may send several, for example from an earlier key or a parent domain.
      for (const [, value = ''] of cookies.matchAll(NAMED)) {
        const user = read(Buffer.from(value, 'base64url').toString());
        if (user) return user;
      }
      return undefined;
    },
  };

  function read(stored: string): UserPrincipal | undefined {
    try {
      const { userId, expiresAt } = JSON.parse(encryption.decrypt(stored, OWNER)) as Session;
      return expiresAt > Date.now() ? createUserPrincipal(userId, new Date(expiresAt)) : undefined;
    } catch {
      return undefined;
    }
  }
}

function notReadable(): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    'These payloads are of no run, test run or delivery that you may read: sign in as a member of its organization.',
  );
}

/**
 * Decrypts the payloads of workflows that the caller may read, and returns all others unchanged. Throws FORBIDDEN
 * when the caller may read none of them. Encryption binds a payload to its workflow. For a payload that cannot be
 * decrypted, returns a text with the reason, which the Web UI shows instead.
 */
function decodePayloads(deps: ApiDeps): ApiMiddleware {
  const { db, config } = deps;
  const codec = encryptPayloads(config.temporalEncryption);
  return async function decodePayloads(ctx) {
    const { payloads } = ctx.state.body as z.infer<typeof payloadsBody>;
    const parsed = payloads.map(fromJson);
    const owners = parsed.map((one) => findWorkflow(codec, one));
    const ids = [...new Set(owners.filter((id) => id !== undefined && UUID_PATTERN.test(id)))] as string[];
    const readable = ids.length > 0 ? await listReadableWorkflows(db, ctx.state.user, ids) : new Set();
    if (readable.size === 0 && owners.some((id) => id !== undefined)) throw notReadable();
    const answered: JsonPayload[] = [];
    let room = BODY_MAX_BYTES;
    for (const [index, sent] of payloads.entries()) {
      const mayRead = readable.has(owners[index]);
      const decoded = mayRead ? await decode(codec, parsed[index] as Payload) : undefined;
      room -= decoded?.data?.length ?? 0;
      if (room < 0)
        throw new ServiceError('BODY_TOO_LARGE', `They decode to over ${BODY_MAX_BYTES} bytes: send fewer.`);
      answered.push(decoded ? toJson(decoded) : sent);
    }
    const text = JSON.stringify({ payloads: answered });
    await reserveMadeAnswer(deps, ctx, ownerOf(ctx.state.principal), Buffer.byteLength(text));
    ctx.type = 'json';
    ctx.body = text;
  };
}

/**
 * Finds the id of the run, test run or delivery at the start of the workflow id; undefined when nothing is encrypted.
 */
function findWorkflow(codec: EncryptingCodec, payload: Payload): string | undefined {
  return codec.findWorkflowId(payload)?.slice(0, UUID_CHARS).toLowerCase();
}

async function decode(codec: EncryptingCodec, payload: Payload): Promise<Payload> {
  try {
    const [decoded] = await compressPayloads.decode(await codec.decode([payload]));
    return decoded as Payload;
  } catch (error) {
    const text = `Weir cannot decode this: ${(error as Error).message}`;
    return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(text)) };
  }
}

function fromJson({ metadata, data = '' }: JsonPayload): Payload {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value, 'base64')]);
  return { metadata: Object.fromEntries(entries), data: Buffer.from(data, 'base64') };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)]);
  return { metadata: Object.fromEntries(entries), data: text(data ?? new Uint8Array()) };
}
