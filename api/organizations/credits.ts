// The endpoints of an organization's credits: its balance, its ledger, and grants by operators of the service.
import type { z } from 'zod';
import { type CreditAccount, getCreditAccount, setLowBalanceMark } from '../../db/credits/credit-accounts.ts';
import { type LedgerEntryRow, listLedger } from '../../db/credits/list-ledger.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { MICROCREDITS_PER_CREDIT, toMicrocredits } from '../../flow/credit-amount.ts';
import { authorizeOrganization } from '../auth/authorize-organization.ts';
import { identifyUser } from '../auth/identify-caller.ts';
import { writeAuthorized } from '../auth/write-authorized.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readBody } from '../http/json-body.ts';
import { toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import * as example from '../reference/credit-examples.ts';
import {
  ORGANIZATIONS_PATH,
  RESOURCE_ERRORS,
  ROLE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, VALIDATION_ERRORS } from '../reference/operations.ts';
import { creditAccount, ledgerPage, ledgerQuery, updateCreditsRequest } from './credit-schemas.ts';

export const CREDITS_PATH = `${ORGANIZATIONS_PATH}/:org_id/credits`;
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
  };
}
