// The endpoints with which operators list and disconnect the assistants of a user.
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { assistantNotFound, listAssistants } from '../../db/tenants/connected-assistants.ts';
import { listUserOrganizations } from '../../db/tenants/organizations.ts';
import { ServiceError } from '../../flow/errors.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { type PageQuery, pageQuery, toPage } from '../http/page.ts';
import { authorOf } from '../http/principal.ts';
import { readQuery } from '../http/query.ts';
import { disconnectAssistant } from '../organizations/recorded-members.ts';
import { assistantList } from '../organizations/schemas.ts';
import { toAssistant } from '../organizations/to-records.ts';
import { assistantPage } from '../reference/management-examples.ts';
import { done } from '../reference/management-operations.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import {
  identifyOperator,
  OPERATOR_PATH,
  OPERATOR_RESOURCE_ERRORS,
  operatorOperation,
} from './identify-operator.ts';

const ASSISTANTS_PATH = `${OPERATOR_PATH}/users/:user_id/assistants`;
const listQuery = pageQuery(z.string().regex(UUID_PATTERN, 'must be a nextCursor of this list'));

export function operatorAssistantRoutes(deps: ApiDeps): Route[] {
  const first = identifyOperator(deps);
  return [
    {
      method: 'get',
      path: ASSISTANTS_PATH,
      operation: {
        ...operatorOperation,
        operationId: 'listAssistantsOfUser',
        summary: 'List the assistants of a user connected over MCP',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of assistants.', assistantList, { page: assistantPage }),
          ...OPERATOR_RESOURCE_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'delete',
      path: `${ASSISTANTS_PATH}/:assistant_id`,
      operation: {
        ...operatorOperation,
        operationId: 'disconnectAssistantOfUser',
        summary: 'Disconnect an assistant of a user',
        description: 'Each organization of the user records it in its audit log.',
        responses: { 204: done('The assistant is disconnected.'), ...OPERATOR_RESOURCE_ERRORS },
      },
      handlers: [...first, disconnectOne(deps)],
    },
  ];
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const { user_id: userId = '' } = ctx.params;
    const rows = await listAssistants(db, userId, { after: cursor, limit: limit + 1 });
    // An empty list must not hide a misspelled id.
    if (rows.length === 0 && (await listUserOrganizations(db, { userId }, { limit: 1 })).length === 0)
      throw userNotFound();
    const { page, end } = toPage(rows, limit, (row) => row.id);
    ctx.body = { assistants: page.map(toAssistant), ...end };
  };
}

function disconnectOne({ db }: ApiDeps): ApiMiddleware {
  return async function disconnectOne(ctx) {
    const { user_id: userId = '', assistant_id: id = '' } = ctx.params;
    if (!UUID_PATTERN.test(id)) throw assistantNotFound();
    const author = authorOf(ctx.state.principal, ctx.state.requestId);
    await inTransaction(db, (tx) => disconnectAssistant(tx, author, userId, id));
    ctx.status = 204;
  };
}

function userNotFound(): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    'No user with this id is known: no organization has such a member, and no assistant is connected for it. The id is the `sub` of tokens, not an e-mail address.',
  );
}
