// Signing in and allowing a client, at /interaction/{uid} of the embedded identity provider.

import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import type { InteractionResults, Provider } from 'oidc-provider';
import { getRawBody } from 'raw-body';
import { type Account, findAccount } from './accounts.ts';
import { CONSOLE_CLIENT_ID } from './client-ids.ts';
import { ONE_TIME_REASON, type RequestedAccess } from './consent.ts';
import { ONE_TIME_PARAMETER, type OneTimeLink } from './one-time-link.ts';
import { consentForm, escapeHtml, type FailedLogin, loginForm, scopeField, sendPage } from './pages.ts';

/** Wrong passwords for one email within WINDOW_MS. */
const GUESSES_MAX = 5;
const WINDOW_MS = 5 * 60_000;

/** Emails share counters by 16 bits of their hash. Each value has one, so a counter is never evicted for another. */
const COUNTERS = 0x10000;

type PasswordGuessLimit = {
  /** Counts a guess and returns false when it is one too many. */
  allow(email: string): boolean;
  /** Resets the count after the right password. */
  forget(email: string): void;
};

const PATH = /^\/interaction\/([\w-]+)(?:\/(login|confirm|abort|switch))?$/;
const FORM_MAX_BYTES = 8 * 1024;
const LINK_OVER =
  'This link has been used, or is older than ten minutes. The next npm start prints another one; or sign in here.';
const REFUSED = { error: 'access_denied', error_description: 'The user refused.' };

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

/** Answers the interaction's pages and forms, and leaves everything else to the provider. */
export function createInteractions(
  provider: Provider,
  accounts: Account[],
  oneTimeLink: OneTimeLink,
): Middleware {
  const guesses = limitPasswordGuesses();

  async function answer(ctx: Context, uid: string, action: string | undefined): Promise<void> {
    // Only the browser that began the sign-in has its cookie, and no other site can make it send the cookie with a form.
    const details = await provider.interactionDetails(ctx.req, ctx.res);
    if (details.uid !== uid) throw new Error('it belongs to another sign-in');
    if (ctx.method === 'GET' && !action) return show(ctx, details);
    if (ctx.method === 'GET' && action === 'switch') return showLogin(ctx, details);
    if (ctx.method !== 'POST' || !action) return ctx.throw(405);
    if (action === 'abort') return finish(ctx, REFUSED);
    // A user may sign in here as another account where consent is asked for: the provider then signs out the earlier one.
    if (action === 'login') return login(ctx, details);
    if (action === 'confirm' && details.prompt.name === 'consent') {
      const grantId = await grant(details, await readForm(ctx));
      return finish(ctx, grantId === undefined ? REFUSED : { consent: { grantId } });
    }
    throw new Error('this step was completed before');
  }

  async function show(ctx: Context, details: Details): Promise<void> {
    const { prompt, params, uid, session } = details;
    if (prompt.name === 'login') return oneTimeLogin(ctx, details);
    // The console may have all that it asks for, also when the user is to be asked (`prompt`): any page can send such a request.
    if (params.client_id === CONSOLE_CLIENT_ID) return finish(ctx, { consent: {} });
    const { resources } = prompt.details as RequestedAccess;
    const returnsTo = params.redirect_uri ? originOf(String(params.redirect_uri)) : 'your terminal';
    const email = accounts.find(({ id }) => id === session?.accountId)?.email ?? '';
    const client = await nameOfClient(params);
    sendPage(
      ctx,
      'Allow access?',
      consentForm(`/interaction/${uid}`, { client, email, returnsTo, resources }),
    );
  }

  /** Signs the owner in with the one-time link, if the request has its secret; else shows the form. */
  async function oneTimeLogin(ctx: Context, details: Details): Promise<void> {
    const owner = accounts.find(({ role }) => role === 'owner');
    if (!owner || !details.prompt.reasons.includes(ONE_TIME_REASON)) return showLogin(ctx, details);
    const redeemed = oneTimeLink.redeem(String(details.params[ONE_TIME_PARAMETER]));
    // Whoever opens a link again that has signed them in is still signed in, unless a password is asked for anyway.
    const onlyForLink = details.prompt.reasons.every((reason) => reason === ONE_TIME_REASON);
    if (redeemed || (onlyForLink && details.session?.accountId === owner.id))
      return finish(ctx, { login: { accountId: owner.id } });
    return showLogin(ctx, details, { email: '', problem: LINK_OVER });
  }

  async function showLogin(ctx: Context, { params, uid }: Details, failed?: FailedLogin): Promise<void> {
    sendPage(ctx, 'Sign in', loginForm(`/interaction/${uid}`, await nameOfClient(params), failed));
  }

  async function nameOfClient({ client_id }: Details['params']): Promise<string> {
    const found = await provider.Client.find(String(client_id));
    return found?.clientName ?? String(client_id);
  }

  async function login(ctx: Context, details: Details): Promise<void> {
    const form = await readForm(ctx);
    const email = (form.get('email') ?? '').trim().toLowerCase();
    // Counted before the password is checked, so that guesses sent at the same time count too.
    if (!guesses.allow(email))
      return showLogin(ctx, details, { email, problem: 'Too many attempts: try again in five minutes.' });
    const account = await findAccount(accounts, email, form.get('password') ?? '');
    if (!account) return showLogin(ctx, details, { email, problem: 'The email or the password is wrong.' });
    guesses.forget(email);
    return finish(ctx, { login: { accountId: account.id } });
  }

  /**
   * Grants what the user left checked of what the client asks for; the rest is refused. Undefined: the user left nothing of
   * it checked. Each consent is a grant of its own: it takes nothing over from an earlier one, which stays as it is.
   */
  async function grant(
    { prompt, params, session }: Details,
    form: URLSearchParams,
  ): Promise<string | undefined> {
    const allowed = new provider.Grant({
      accountId: session?.accountId ?? '',
      clientId: String(params.client_id),
    });
    const { openid, claims, resources } = prompt.details as RequestedAccess;
    allowed.addOIDCScope(openid);
    allowed.addOIDCClaims(claims);
    const choices = resources.flatMap(({ name, scopes }) =>
      scopes.map(({ scope }) => ({ name, scope, isAllowed: form.get(scopeField(name, scope)) === 'on' })),
    );
    if (choices.length > 0 && !choices.some(({ isAllowed }) => isAllowed)) return undefined;
    for (const { name, scope, isAllowed } of choices) {
      if (isAllowed) allowed.addResourceScope(name, scope);
      else allowed.rejectResourceScope(name, scope);
    }
    return allowed.save();
  }

  async function finish(ctx: Context, result: InteractionResults): Promise<void> {
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result));
    ctx.status = 303;
  }

  return async function interactions(ctx, next) {
    const match = PATH.exec(ctx.path);
    if (!match) return next();
    try {
      await answer(ctx, match[1] as string, match[2]);
    } catch (error) {
      ctx.status = 400;
      const why = error instanceof Error ? error.message : String(error);
      sendPage(ctx, 'Start again', `<p role="alert">This sign-in cannot continue: ${escapeHtml(why)}.</p>`);
    }
  };
}

/** The origin that receives the code, for people to read; the whole URI for a program with its own URL scheme. */
function originOf(redirectUri: string): string {
  const { origin, href } = new URL(redirectUri);
  return origin === 'null' ? href : origin;
}

async function readForm(ctx: Context): Promise<URLSearchParams> {
  return new URLSearchParams(await getRawBody(ctx.req, { limit: FORM_MAX_BYTES, encoding: 'utf-8' }));
}

/** Limits how often a password can be guessed: 5 times in 5 minutes for each email. */
export function limitPasswordGuesses(): PasswordGuessLimit {
  const guesses = new LRUCache<number, number>({ max: COUNTERS, ttl: WINDOW_MS });
  return {
    allow(email) {
      const made = guesses.get(counterOf(email)) ?? 0;
      if (made >= GUESSES_MAX) return false;
      guesses.set(counterOf(email), made + 1);
      return true;
    },
    forget: (email) => void guesses.delete(counterOf(email)),
  };
}

function counterOf(email: string): number {
  return createHash('sha256').update(email).digest().readUInt16BE();
}
