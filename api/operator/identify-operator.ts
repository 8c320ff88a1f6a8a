// api/operator/ has the endpoints for operators of the service alone. Everything else they do through the endpoints of
// organizations, where they count as owners (docs/identity-and-access.md, Operators).
import { identifyUser } from '../auth/authenticate.ts';
import { operatorsOnly } from '../auth/authorize.ts';
import type { AuthDeps } from '../auth/deps.ts';
import type { ApiMiddleware } from '../http/context.ts';
import { CALLER_ERRORS, RESOURCE_ERRORS } from '../reference/management-operations.ts';
import { errorAnswer, examplesOf } from '../reference/operations.ts';

export const OPERATOR_PATH = '/api/v1/operator';

/** Replaces the security scheme of the document: operators' keys, and the JWTs of users of WEIR_OPERATORS. */
const OPERATORS_ONLY: { [scheme: string]: string[] }[] = [{ operatorKey: [] }, { jwt: [] }];

export const operatorOperation = { tags: ['Operators'], security: OPERATORS_ONLY };

const REFUSED = {
  403: {
    id: 'NotAnOperator',
    ...errorAnswer('The caller is not an operator of the service.', examplesOf(operatorsOnly())),
  },
};

export const OPERATOR_ERRORS = { ...CALLER_ERRORS, ...REFUSED };
/** The error answers of endpoints for operators about one organization, key or user. */
export const OPERATOR_RESOURCE_ERRORS = { ...RESOURCE_ERRORS, ...REFUSED };

/** Authenticates operators, and counts the request against their rate limits. Throws FORBIDDEN for other users. */
export function identifyOperator(deps: AuthDeps): ApiMiddleware[] {
  return [...identifyUser(deps), requireOperator];
}

const requireOperator: ApiMiddleware = async function requireOperator(ctx, next) {
  if (!ctx.state.user.isOperator) throw operatorsOnly();
  await next();
};
