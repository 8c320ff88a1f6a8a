// The endpoints of a user's connected assistants: the OAuth clients that have used MCP for the user.
import { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { assistantNotFound, listAssistants } from '../../db/tenants/connected-assistants.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { identifyPerson } from '../auth/authenticate.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { type PageQuery, pageQuery, toPage } from '../http/page.ts';
import { authorOf } from '../http/principal.ts';
import { readQuery } from '../http/query.ts';
import { assistantPage } from '../reference/management-examples.ts';
import { ASSISTANT_ERRORS, CALLER_ERRORS, done, USERS_ONLY } from '../reference/management-operations.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import { disconnectAssistant } from './recorded-members.ts';
import { assistantList } from './schemas.ts';
import { toAssistant } from './to-records.ts';

const ASSISTANTS_PATH = '/api/v1/assistants';
// The cursor is not the client id, which may be empty: an empty cursor means the first page.
const listQuery = pageQuery(z.string().regex(UUID_PATTERN, 'must be a nextCursor of this list'));
const common = { tags: ['Assistants'], security: USERS_ONLY };

export function assistantRoutes(deps: ApiDeps): Route[] {
  const first = identifyPerson(deps);
  return [
    {
      method: 'get',
      path: ASSISTANTS_PATH,
      operation: {
        ...common,
        operationId: 'listAssistants',
        summary: 'List your assistants connected over MCP, in order of client id',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of assistants.', assistantList, { page: assistantPage }),
          ...CALLER_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'delete',
      path: `${ASSISTANTS_PATH}/:assistant_id`,
      operation: {
        ...common,
        operationId: 'disconnectAssistant',
        summary: 'Disconnect an assistant',
        description:
          'MCP refuses the tokens of the assistant at once. If tokens have the claim `consented_at`, MCP also refuses later tokens until you consent again. Each of your organizations records the disconnection in its audit log.',
        responses: { 204: done('The assistant is disconnected.'), ...ASSISTANT_ERRORS },
      },
      handlers: [...first, disconnectOne(deps)],
    },
  ];
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const rows = await listAssistants(db, ctx.state.user.userId, { after: cursor, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, (row) => row.id);
    ctx.body = { assistants: page.map(toAssistant), ...end };
  };
}

function disconnectOne({ db }: ApiDeps): ApiMiddleware {
  return async function disconnectOne(ctx) {
    const { user, requestId } = ctx.state;
    const { assistant_id: id = '' } = ctx.params;
    if (!UUID_PATTERN.test(id)) throw assistantNotFound();
    await inTransaction(db, (tx) => disconnectAssistant(tx, authorOf(user, requestId), user.userId, id));
    ctx.status = 204;
  };
}
