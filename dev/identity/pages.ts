// The embedded identity provider's pages: plain HTML in the console's colours, with no files of their own.

import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { MANAGEMENT_SCOPE, type McpScope } from '../../api/auth/scopes.ts';
import { CONSOLE_CLIENT_ID } from './client-ids.ts';
import type { RequestedAccess } from './consent.ts';

const PRESS = "document.querySelector('[name=logout]').click()";

/** The values are those of console/styles/tokens.css. */
const STYLE = `:root{color-scheme:light dark;--text:light-dark(#171b1f,#e8ebed);--soft:light-dark(#515b64,#a5afb8);
--line:light-dark(#e1e5e8,#2a3136);--strong:light-dark(#868f98,#6b757e);--accent:light-dark(#0b6e75,#5cc4bf);
--on-accent:light-dark(#ffffff,#06201f);--raised:light-dark(#ffffff,#1a1e21);--bad:light-dark(#b3261e,#ff8f86);
--bad-soft:light-dark(#fdeceb,#3a1715);--code:light-dark(#f0f2f3,#20262a)}
*{box-sizing:border-box}
body{margin:0;min-height:100dvh;display:grid;place-items:center;padding:1rem;color:var(--text);
background:light-dark(#f6f7f8,#0c0f10);font:.8125rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main{width:min(26rem,100%);padding:2rem;background:var(--raised);border:1px solid var(--line);border-radius:10px}
svg{display:block}h1{font-size:1.25rem;line-height:1.3;margin:.75rem 0}p{margin:.75rem 0}
p.soft{color:var(--soft);font-size:.75rem}a{color:var(--accent)}
label{display:block;margin-top:.75rem;font-weight:500}
input:not([type=checkbox]){width:100%;height:34px;margin-top:.25rem;padding:0 .5rem;font:inherit;color:inherit;
background:transparent;border:1px solid var(--strong);border-radius:6px}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:1.25rem}
button{height:34px;padding:0 .75rem;font:inherit;font-weight:500;color:inherit;background:var(--raised);
border:1px solid var(--line);border-radius:6px;cursor:pointer}
button.primary{color:var(--on-accent);background:var(--accent);border-color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
[role=alert]{padding:.5rem .75rem;color:var(--bad);background:var(--bad-soft);border-radius:6px}
code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.75rem;padding:.1em .3em;
background:var(--code);border-radius:4px}code,strong{overflow-wrap:anywhere}
ul{margin:.75rem 0;padding:0;list-style:none}.scope{display:flex;gap:.5rem;font-weight:400}
.scope input{flex:none;width:1rem;height:1rem;margin:.15rem 0;accent-color:var(--accent)}
@media (pointer:coarse){button,input:not([type=checkbox]){height:40px}}`;

const MARK =
  '<svg width="36" height="36" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0b6e75"/><path d="M5 11h11.5c3 0 3.2 3 3.2 5s.3 5 3.3 5H27" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/><path d="M5 17h7m-7 6h9" stroke="#9fd8d6" stroke-width="3" stroke-linecap="round"/><path d="M20 5v6" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>';

const NAME_MAX_LENGTH = 80;
const INLINE_HANDLER = / onfocus="[^"]*"/;

/** A failed sign-in: the email that was entered, and the problem to show. */
export type FailedLogin = { email: string; problem: string };

/** Builds the sign-in form; `action` is the path that it posts below. */
export function loginForm(action: string, client: string, failed?: FailedLogin): string {
  return `<p>to continue to ${nameOf(client)}</p>
${failed ? `<p role="alert">${escapeHtml(failed.problem)}</p>` : ''}
<form method="post" action="${escapeHtml(action)}/login">
<label for="email">Email</label>
<input id="email" name="email" type="email" autocomplete="username" value="${escapeHtml(failed?.email ?? '')}" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<div class="actions"><button class="primary">Sign in</button><button form="abort">Cancel</button></div>
</form>
<form id="abort" method="post" action="${escapeHtml(action)}/abort"></form>
<p class="soft">The first <code>npm start</code> printed the accounts and their passwords. To get new ones, delete
<code>identity-accounts.json</code> in its state folder (<code>.weir</code>) and start again.</p>`;
}

/** Describes what each scope allows, for the person who consents. */
const ALLOWS: { [scope: string]: string } = {
  [MANAGEMENT_SCOPE]:
    'manage your organizations as far as your role allows (projects, members, API keys, webhooks); edit, publish, promote and run flows',
  'flows:read': 'read your flows, their versions and test cases',
  'flows:write': 'create and change drafts of flows and their test cases',
  'flows:run': 'run flows and test cases, which costs credits',
  'flows:publish': 'publish versions of flows, choose those in production and delete flows',
} satisfies { [scope in McpScope | typeof MANAGEMENT_SCOPE]: string };

/** Describes access to MCP without a scope: MCP answers which scope a tool needs. */
const NOTHING_YET = 'nothing yet; it asks you again for what it needs';

/** Names the checkbox with which a user allows a scope at a resource. */
export function scopeField(resource: string, scope: string): string {
  return `${scope}@${resource}`;
}

/** The contents of the consent form; `email` is that of the account that is signed in. */
type Consent = {
  client: string;
  email: string;
  returnsTo: string;
  resources: RequestedAccess['resources'];
};

export function consentForm(action: string, { client, email, returnsTo, resources }: Consent): string {
  const wanted = resources.map(({ name, scopes }) => {
    const choices = scopes.map(({ scope, refused }) => {
      const field = escapeHtml(scopeField(name, scope));
      const words = `${escapeHtml(ALLOWS[scope] ?? scope)} (<code>${escapeHtml(scope)}</code>)${refused ? ', which you left out before' : ''}`;
      return `<label class="scope"><input type="checkbox" name="${field}" value="on" checked><span>${words}</span></label>`;
    });
    return `<li><code>${escapeHtml(name)}</code>${choices.join('') || `: ${NOTHING_YET}`}</li>`;
  });
  const account = `<strong>${escapeHtml(email)}</strong>`;
  const purpose =
    resources.length > 0
      ? `wants to act on your behalf, as ${account}, at:`
      : `wants to know that you are ${account}. It can do nothing on your behalf.`;
  const uncheck = resources.some(({ scopes }) => scopes.length > 0) ? ' Uncheck what it may not do.' : '';
  return `<p>${nameOf(client)} ${purpose}</p>
<form id="allow" method="post" action="${escapeHtml(action)}/confirm"><ul>${wanted.join('')}</ul></form>
<p>It learns your user id, name and e-mail address.${uncheck} You then return to <code>${escapeHtml(returnsTo)}</code>. Allow this only if you have just started it yourself.</p>
<div class="actions"><button class="primary" form="allow" autofocus>Allow</button><button form="abort">Refuse</button></div>
<form id="abort" method="post" action="${escapeHtml(action)}/abort"></form>
<p class="soft"><a href="${escapeHtml(action)}/switch">Use another account</a> or <a href="/session/end">sign out</a>.</p>`;
}

/** Wraps the provider's own `form`, whose id is `op.deviceInputForm`, without the inline handler that the page refuses. */
export function deviceInput(form: string, problem: string | undefined): string {
  return `${problem ? `<p role="alert">${escapeHtml(problem)}</p>` : '<p>Enter the code that your terminal shows.</p>'}
${form.replace(INLINE_HANDLER, '')}
<div class="actions"><button class="primary" form="op.deviceInputForm">Continue</button></div>`;
}

/** Wraps the provider's own `form`, whose id is `op.deviceConfirmForm`. */
export function deviceConfirm(form: string, client: string, code: string): string {
  return `<p>${nameOf(client)} shows this code:</p>
<p><code>${escapeHtml(code)}</code></p>
<p>Continue only if your own terminal shows the same code.</p>
${form}
<div class="actions"><button class="primary" form="op.deviceConfirmForm" autofocus>Continue</button>
<button form="op.deviceConfirmForm" name="abort" value="yes">Cancel</button></div>`;
}

/** Wraps the provider's own `form`, whose id is `op.logoutForm`. */
function signOut(form: string): string {
  return `<p>You sign out in this browser. What you have allowed assistants to do stays allowed.</p>
${form}
<div class="actions"><button class="primary" form="op.logoutForm" name="logout" value="yes" autofocus>Sign out</button>
<button form="op.logoutForm">Stay signed in</button></div>`;
}

/** Shows a name that a client chose itself: cut to length, and unable to reverse the text around it. */
function nameOf(client: string): string {
  const cut = client.length > NAME_MAX_LENGTH ? `${client.slice(0, NAME_MAX_LENGTH)}…` : client;
  return `<strong><bdi>${escapeHtml(cut)}</bdi></strong>`;
}

/** Answers with a page; `body` is HTML. `script`, if any, runs after it. */
export function sendPage(ctx: Context, title: string, body: string, script?: string): void {
  const policy = [
    "default-src 'none'",
    `style-src ${sourceOf(STYLE)}`,
    ...(script === undefined ? [] : [`script-src ${sourceOf(script)}`]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  ctx.set({
    'Content-Security-Policy': policy.join('; '),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  ctx.type = 'html';
  ctx.body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Weir</title><style>${STYLE}</style>
</head>
<body><main>${MARK}<h1>${escapeHtml(title)}</h1>
${body}
</main>${script === undefined ? '' : `<script>${script}</script>`}</body>
</html>
`;
}

export function escapeHtml(text: string): string {
  const entities: { [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character] as string);
}

/** Names inline content by its hash, for a Content-Security-Policy. */
function sourceOf(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}

/**
 * Asks whether to sign out, with the provider's own `form`. Whoever has signed out in the console is not asked again: its ID
 * token shows that the request is not another site's.
 */
export function sendSignOut(ctx: KoaContextWithOIDC, form: string): void {
  const { client, entities, session } = ctx.oidc;
  const hinted = entities.IdTokenHint?.payload.sub;
  const isOwn = hinted !== undefined && hinted === session?.accountId;
  if (isOwn && client?.clientId === CONSOLE_CLIENT_ID) sendPage(ctx, 'Signing out', signOut(form), PRESS);
  else sendPage(ctx, 'Sign out?', signOut(form));
}
