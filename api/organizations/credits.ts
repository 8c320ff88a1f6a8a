// The endpoints of an organization's credits: its balance, its ledger, and grants by operators of the service.

import type { Middleware } from 'koa';
import { z } from 'zod';
import {
  type CreditAccount,
  getCreditAccount,
  type LedgerEntryRow,
  listLedger,
  setLowBalanceMark,
} from '../../db/credits/ledger.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { MICROCREDITS_PER_CREDIT, toMicrocredits } from '../../flow/credit-amount.ts';
import { identifyUser } from '../auth/authenticate.ts';
import {
  authorizeOperator,
  authorizeOrganization,
  operatorsOnly,
  writeAuthorized,
} from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { PARSE_OPTIONS, readBody, validationError } from '../http/json-body.ts';
import { toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import * as example from '../reference/credit-examples.ts';
import {
  ORGANIZATIONS_PATH,
  RESOURCE_ERRORS,
  ROLE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import {
  answer,
  BODY_ERRORS,
  body,
  errorAnswer,
  examplesOf,
  VALIDATION_ERRORS,
} from '../reference/operations.ts';
import { toTokens } from '../runs/run-shapes/block-answers.ts';
import {
  creditAccount,
  grantHeaders,
  grantRecord,
  grantRequest,
  ledgerPage,
  ledgerQuery,
  updateCreditsRequest,
} from './credit-schemas.ts';
import { addCredits, grantKeyReused } from './recorded-organizations.ts';

const replayed = z.literal('true').optional().meta({
  description: 'Sent when a request with the same Idempotency-Key has granted the credits before.',
});

const requireGrantKey: Middleware = async (ctx, next) => {
  const key = ctx.req.headers['idempotency-key'];
  const headers = grantHeaders.safeParse({ 'Idempotency-Key': key }, PARSE_OPTIONS);
  if (!headers.success) throw validationError(headers.error);
  await next();
};

const CREDITS_PATH = `${ORGANIZATIONS_PATH}/:org_id/credits`;
const common = { tags: ['Credits'], security: USERS_ONLY };
const one = answer('The balance of the organization.', creditAccount, { credits: example.credits });

export function creditRoutes(deps: ApiDeps): Route[] {
  const first = identifyUser(deps);
  return [
    {
      method: 'get',
      path: CREDITS_PATH,
      operation: {
        ...common,
        operationId: 'getCredits',
        summary: 'Get the balance of an organization',
        responses: { 200: one, ...RESOURCE_ERRORS },
      },
      handlers: [...first, authorizeOrganization(deps, { role: 'member' }), getCredits(deps)],
    },
    {
      method: 'put',
      path: CREDITS_PATH,
      operation: {
        ...common,
        operationId: 'updateCredits',
        summary: 'Set the mark below which the balance is low (owners and admins)',
        description:
          'A balance that falls below it is an entry `credits.low` of the audit log, once until it has risen again.',
        requestBody: body(updateCreditsRequest, { mark: example.mark }),
        responses: { 200: one, ...ROLE_ERRORS, ...BODY_ERRORS },
      },
      handlers: [
        ...first,
        authorizeOrganization(deps, { role: 'admin' }),
        readBody(deps, updateCreditsRequest),
        putCredits(deps),
      ],
    },
    {
      method: 'get',
      path: `${CREDITS_PATH}/ledger`,
      operation: {
        ...common,
        operationId: 'listLedger',
        summary: 'List grants and charges, newest first',
        requestParams: { query: ledgerQuery },
        responses: {
          200: answer('A page of entries.', ledgerPage, { page: example.ledgerPage }),
          ...RESOURCE_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...first,
        authorizeOrganization(deps, { role: 'member' }),
        readQuery(ledgerQuery),
        listEntries(deps),
      ],
    },
  ];
}

function getCredits({ db }: ApiDeps): ApiMiddleware {
  return async function getCredits(ctx) {
    const { organizationId } = ctx.state.membership;
    ctx.body = toCredits(organizationId, await getCreditAccount(db, organizationId));
  };
}

function putCredits({ db }: ApiDeps): ApiMiddleware {
  return async function putCredits(ctx) {
    const { organizationId } = ctx.state.membership;
    const { low_balance_mark } = ctx.state.body as z.infer<typeof updateCreditsRequest>;
    const mark = low_balance_mark === null ? null : toMicrocredits(low_balance_mark);
    const account = await writeAuthorized(db, ctx.state, async (tx, author) => {
      if (await setLowBalanceMark(tx, organizationId, mark))
        await recordChange(tx, author, {
          organizationId,
          action: 'credits.update',
          resourceId: organizationId,
          details: { low_balance_mark },
        });
      return getCreditAccount(tx, organizationId);
    });
    ctx.body = toCredits(organizationId, account);
  };
}

function listEntries({ db }: ApiDeps): ApiMiddleware {
  return async function listEntries(ctx) {
    const { organizationId } = ctx.state.membership;
    const { limit, cursor, execution_id, before, ...filter } = ctx.state.query as z.infer<typeof ledgerQuery>;
    const rows = await listLedger(db, organizationId, {
      ...filter,
      executionId: execution_id,
      until: before,
      after: cursor,
      limit: limit + 1,
    });
    const { page, end } = toPage(rows, limit, ({ id }) => id);
    ctx.body = { entries: page.map(toLedgerEntry), ...end };
  };
}

function toCredits(organizationId: string, { balance, reserved, lowBalanceMark }: CreditAccount) {
  return {
    organizationId,
    balance: balance / MICROCREDITS_PER_CREDIT,
    reserved: reserved / MICROCREDITS_PER_CREDIT,
    lowBalanceMark: lowBalanceMark === null ? null : lowBalanceMark / MICROCREDITS_PER_CREDIT,
    low: lowBalanceMark !== null && balance < lowBalanceMark,
  };
}

function toLedgerEntry(row: LedgerEntryRow) {
  return {
    id: row.id,
    at: row.created_at.toISOString(),
    kind: row.kind,
    credits: row.microcredits / MICROCREDITS_PER_CREDIT,
    executionId: row.execution_id,
    block: row.block_key,
    key: row.grant_key,
    model: row.model,
    tokens: row.model === null ? null : toTokens(row),
  };
}

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
