// Who may manage an organization's webhooks (spec: Webhook administration).
import { ServiceError } from '../flow/errors.ts';
import type { ApiContext, ApiMiddleware } from './context.ts';
import { UUID } from './load-run.ts';

/** What an endpoint asks of its caller: any member, or an admin or owner. */
export type RequiredRole = 'member' | 'admin';

/**
 * Lets members of the path's organization through, with at least the role. Whoever is no member gets the same 403 for
 * an organization that exists and for one that does not; what can be no id is 404.
 */
export function authorizeOrganization({ role }: { role: RequiredRole }): ApiMiddleware {
  return async function authorizeOrganization(ctx, next) {
    if (!UUID.test(ctx.params.org_id ?? ''))
      throw new ServiceError('NOT_FOUND', 'There is no such organization.');
    if (!holdsRole(ctx, role))
      throw new ServiceError(
        'FORBIDDEN',
        `This needs ${role === 'member' ? 'a member' : 'an admin or owner'} of the organization.`,
      );
    await next();
  };
}

/** An API key acts for its organization, in every role. */
function holdsRole(ctx: ApiContext, _role: RequiredRole): boolean {
  return ctx.state.key.organization_id === ctx.params.org_id?.toLowerCase();
}
