// The embedded identity provider's pages: plain HTML in the console's colours, with no files of their own.
import { MANAGEMENT_SCOPE, type McpScope } from '../../api/auth/scopes.ts';
import type { RequestedAccess } from './consent-policy.ts';
import { escapeHtml } from './page-frame.ts';

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

/** Describes access to MCP without a scope: MCP tells the client which scope a tool needs. */
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
export function signOut(form: string): string {
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
