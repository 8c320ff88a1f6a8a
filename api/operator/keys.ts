// The endpoints that list and revoke operators' keys. `weir operator create` makes one, on the database.
import { z } from 'zod';
import { listOperatorKeys, operatorKeyNotFound, revokeOperatorKey } from '../../db/tenants/operator-keys.ts';
import { log } from '../../platform/observability/log.ts';
import { KEY_ID_PATTERN } from '../auth/api-key.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { type PageQuery, pageOf, pageQuery, toPage } from '../http/page.ts';
import { authorOf } from '../http/principal.ts';
import { readQuery } from '../http/query.ts';
import { toOperatorKey } from '../organizations/to-records.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import { operatorKeyPage, revokedOperatorKey } from '../reference/operator-examples.ts';
import {
  identifyOperator,
  OPERATOR_ERRORS,
  OPERATOR_PATH,
  OPERATOR_RESOURCE_ERRORS,
  operatorOperation,
} from './identify-operator.ts';

const time = z.iso.datetime();

export const operatorKeyRecord = z
  .object({
    keyId: z.string().meta({ description: 'The 8 characters after weir_operator_.' }),
    name: z.string(),
    createdAt: time,
    lastUsedAt: time.nullable().meta({ description: 'Accurate to the minute.' }),
    revokedAt: time.nullable(),
    revokedBy: z.string().nullable().meta({ description: 'A user id, or `operator/` and a key id.' }),
  })
  .meta({ id: 'OperatorKey' });
const keyList = pageOf('OperatorKeyList', 'keys', operatorKeyRecord);
const listQuery = pageQuery(z.string().regex(KEY_ID_PATTERN, 'must be a nextCursor of this list'));

export function operatorKeyRoutes(deps: ApiDeps): Route[] {
  const first = identifyOperator(deps);
  return [
    {
      method: 'get',
      path: `${OPERATOR_PATH}/keys`,
      operation: {
        ...operatorOperation,
        operationId: 'listOperatorKeys',
        summary: 'List the keys of operators, by key id, revoked ones too',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of keys.', keyList, { page: operatorKeyPage }),
          ...OPERATOR_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(listQuery), listKeys(deps)],
    },
    {
      method: 'delete',
      path: `${OPERATOR_PATH}/keys/:key_id`,
      operation: {
        ...operatorOperation,
        operationId: 'revokeOperatorKey',
        summary: 'Revoke a key of an operator, at once',
        responses: {
          200: answer('The revoked key.', operatorKeyRecord, { revoked: revokedOperatorKey }),
          ...OPERATOR_RESOURCE_ERRORS,
        },
      },
      handlers: [...first, revokeKey(deps)],
    },
  ];
}

function listKeys({ db }: ApiDeps): ApiMiddleware {
  return async function listKeys(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const rows = await listOperatorKeys(db, { after: cursor, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, (row) => row.key_id);
    ctx.body = { keys: page.map(toOperatorKey), ...end };
  };
}

function revokeKey({ db }: ApiDeps): ApiMiddleware {
  return async function revokeKey(ctx) {
    const { key_id: keyId = '' } = ctx.params;
    if (!KEY_ID_PATTERN.test(keyId)) throw operatorKeyNotFound();
    const { actor } = authorOf(ctx.state.principal, ctx.state.requestId);
    ctx.body = toOperatorKey(await revokeOperatorKey(db, keyId, actor));
    // The audit logs are those of organizations.
    log.info({ revoked_key_id: keyId }, 'An operator’s key was revoked.');
  };
}
