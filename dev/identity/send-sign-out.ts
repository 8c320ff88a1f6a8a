import type { KoaContextWithOIDC } from 'oidc-provider';
import { CONSOLE_CLIENT_ID } from './client-ids.ts';
import { sendPage } from './page-frame.ts';
import { signOut } from './pages.ts';

const PRESS = "document.querySelector('[name=logout]').click()";

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
