import { forOrganization } from '../../db/connection/connection-turns.ts';
import { findRole } from '../../db/tenants/memberships.ts';
import { organizationNotFound } from '../../db/tenants/organizations.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { ApiMiddleware } from '../http/context.ts';
import type { AuthDeps } from './deps.ts';

/**
 * Admits the users of WEIR_OPERATORS to any organization. Throws FORBIDDEN for its members, and the same 404 for
 * everybody else, whether it exists or not.
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
