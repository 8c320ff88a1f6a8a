import type { Middleware } from 'koa';
import { z } from 'zod';
import { MICROCREDITS_PER_CREDIT, toMicrocredits } from '../../flow/credit-amount.ts';
import { authorizeOperator, operatorsOnly } from '../auth/authorize-operator.ts';
import { identifyUser } from '../auth/identify-caller.ts';
import { writeAuthorized } from '../auth/write-authorized.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { PARSE_OPTIONS, readBody, validationError } from '../http/json-body.ts';
import * as example from '../reference/credit-examples.ts';
import { RESOURCE_ERRORS, USERS_ONLY } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, errorAnswer, examplesOf } from '../reference/operations.ts';
import { grantHeaders, grantRecord, grantRequest } from './credit-schemas.ts';
import { CREDITS_PATH } from './credits.ts';
import { addCredits, grantKeyReused } from './recorded-organizations.ts';

const replayed = z.literal('true').optional().meta({
  description: 'Sent when a request with the same Idempotency-Key has granted the credits before.',
});

export function creditGrantRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: `${CREDITS_PATH}/grants`,
      operation: {
        operationId: 'grantCredits',
        summary: 'Grant credits to an organization (operators of the service)',
        description:
          'Operators are the users that the service’s configuration names (`WEIR_OPERATORS`), whether they are members of the organization or not.',
        tags: ['Credits'],
        security: USERS_ONLY,
        requestParams: { header: grantHeaders },
        requestBody: body(grantRequest, { grant: example.newGrant }),
        responses: {
          201: answer(
            'The credits are granted.',
            grantRecord,
            { grant: example.grant },
            { 'Idempotent-Replayed': replayed },
          ),
          ...RESOURCE_ERRORS,
          403: errorAnswer(
            'The caller is a member of the organization, but not an operator of the service.',
            examplesOf(operatorsOnly()),
          ),
          409: errorAnswer('The key stands for a grant of another amount.', examplesOf(grantKeyReused(10))),
          ...BODY_ERRORS,
        },
      },
      handlers: [
        ...identifyUser(deps),
        authorizeOperator(deps),
        requireGrantKey,
        readBody(deps, grantRequest),
        grant(deps),
      ],
    },
  ];
}

const requireGrantKey: Middleware = async (ctx, next) => {
  const key = ctx.req.headers['idempotency-key'];
  const headers = grantHeaders.safeParse({ 'Idempotency-Key': key }, PARSE_OPTIONS);
  if (!headers.success) throw validationError(headers.error);
  await next();
};

function grant({ db }: ApiDeps): ApiMiddleware {
  return async function grant(ctx) {
    const organizationId = (ctx.params.org_id ?? '').toLowerCase();
    const key = ctx.get('Idempotency-Key');
    const { credits } = ctx.state.body as z.infer<typeof grantRequest>;
    const { granted, balanceMicrocredits } = await writeAuthorized(db, ctx.state, (tx, author) =>
      addCredits(tx, author, { organizationId, microcredits: toMicrocredits(credits), key }),
    );
    ctx.status = 201;
    if (!granted) ctx.set('Idempotent-Replayed', 'true');
    ctx.body = { organizationId, credits, key, balance: balanceMicrocredits / MICROCREDITS_PER_CREDIT };
  };
}
