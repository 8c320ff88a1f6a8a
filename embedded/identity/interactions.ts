// Signing in and allowing a client, at /interaction/{uid} of the embedded identity provider.
import type { Context, Middleware } from 'koa';
import type { InteractionResults, Provider } from 'oidc-provider';
import { getRawBody } from 'raw-body';
import { type Account, findAccount } from './accounts.ts';
import { limitPasswordGuesses } from './limit-password-guesses.ts';
import { consentForm, escapeHtml, type FailedLogin, loginForm, scopeField, sendPage } from './pages.ts';

const PATH = /^\/interaction\/([\w-]+)(?:\/(login|confirm|abort))?$/;
const FORM_MAX_BYTES = 8 * 1024;

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

/** Answers the interaction's pages and forms, and leaves everything else to the provider. */
export function createInteractions(provider: Provider, accounts: Account[]): Middleware {
  const guesses = limitPasswordGuesses();

  async function answer(ctx: Context, uid: string, action: string | undefined): Promise<void> {
    // Only the browser that began the sign-in has its cookie, and no other site can make it send the cookie with a form.
    const details = await provider.interactionDetails(ctx.req, ctx.res);
    if (details.uid !== uid) throw new Error('it belongs to another sign-in');
    if (ctx.method === 'GET' && !action) return show(ctx, details);
    if (ctx.method !== 'POST' || !action) return ctx.throw(405);
    if (action === 'abort')
      return finish(ctx, { error: 'access_denied', error_description: 'The user refused.' });
    if (action === 'login' && details.prompt.name === 'login') return login(ctx, details);
    if (action === 'confirm' && details.prompt.name === 'consent')
      return finish(ctx, { consent: { grantId: await grant(details, await readForm(ctx)) } });
    throw new Error('this step was completed before');
  }

  async function show(ctx: Context, details: Details, failed?: FailedLogin): Promise<void> {
    const { prompt, params, uid, session } = details;
    const found = await provider.Client.find(String(params.client_id));
    const client = found?.clientName ?? String(params.client_id);
    const action = `/interaction/${uid}`;
    if (prompt.name === 'login') return sendPage(ctx, 'Sign in', loginForm(action, client, failed));
    const scopes = (prompt.details.missingResourceScopes ?? {}) as Record<string, string[]>;
    const names = new Set([...[params.resource ?? []].flat().map(String), ...Object.keys(scopes)]);
    const resources = [...names].map((name) => ({ name, scopes: scopes[name] ?? [] }));
    const returnsTo = params.redirect_uri ? originOf(String(params.redirect_uri)) : 'your terminal';
    const email = accounts.find(({ id }) => id === session?.accountId)?.email ?? '';
    sendPage(ctx, 'Allow access?', consentForm(action, { client, email, returnsTo, resources }));
  }

  async function login(ctx: Context, details: Details): Promise<void> {
    const form = await readForm(ctx);
    const email = (form.get('email') ?? '').trim().toLowerCase();
    // Counted before the password is checked, so that guesses sent at the same time count too.
    if (!guesses.allow(email))
      return show(ctx, details, { email, problem: 'Too many attempts: try again in five minutes.' });
    const account = await findAccount(accounts, email, form.get('password') ?? '');
    if (!account) return show(ctx, details, { email, problem: 'The email or the password is wrong.' });
    guesses.forget(email);
    return finish(ctx, { login: { accountId: account.id } });
  }

  /**
   * Grants what the user left checked of what the client asked for, in addition to what it was granted before; the rest is
   * refused, and not asked for again.
   */
  async function grant(
    { prompt, params, session, grantId }: Details,
    form: URLSearchParams,
  ): Promise<string> {
    const accountId = session?.accountId ?? '';
    const existing = grantId ? await provider.Grant.find(grantId) : undefined;
    const allowed = existing ?? new provider.Grant({ accountId, clientId: String(params.client_id) });
    const missing = prompt.details as {
      missingOIDCScope?: string[];
      missingOIDCClaims?: string[];
      missingResourceScopes?: Record<string, string[]>;
    };
    if (missing.missingOIDCScope) allowed.addOIDCScope(missing.missingOIDCScope.join(' '));
    if (missing.missingOIDCClaims) allowed.addOIDCClaims(missing.missingOIDCClaims);
    for (const [resource, scopes] of Object.entries(missing.missingResourceScopes ?? {}))
      for (const scope of scopes) {
        if (form.get(scopeField(resource, scope)) === 'on') allowed.addResourceScope(resource, scope);
        else allowed.rejectResourceScope(resource, scope);
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
