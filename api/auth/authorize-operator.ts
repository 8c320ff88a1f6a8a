// Decides who is an operator of the service over HTTP (docs/identity-and-access.md, Operators).
import { forOrganization } from '../../db/connection/connection-turns.ts';
import { findRole } from '../../db/tenants/memberships.ts';
import { organizationNotFound } from '../../db/tenants/organizations.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { ApiMiddleware } from '../http/context.ts';
import type { AuthDeps } from './deps.ts';

/**
 * Lets the users of WEIR_OPERATORS through, for the path's organization, whose members they need not be. Members of it get
 * FORBIDDEN, and strangers the same 404 whether it exists or not.
 */
export function authorizeOperator({ config, db }: AuthDeps): ApiMiddleware {
  return async function authorizeOperator(ctx, next) {
    const organizationId = ctx.params.org_id?.toLowerCase() ?? '';
    if (!UUID_PATTERN.test(organizationId)) throw organizationNotFound();
    const { userId } = ctx.state.user;
    if (!config.operators.has(userId)) {
      if (!(await findRole(db, organizationId, userId))) throw organizationNotFound();
      throw operatorsOnly();
    }
    await forOrganization(organizationId, next);
  };
}

export function operatorsOnly(): ServiceError {
  return new ServiceError('FORBIDDEN', 'This needs an operator of the service.');
}
