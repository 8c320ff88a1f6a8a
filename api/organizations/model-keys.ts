// The endpoints of an organization's model keys. Model calls with them are not charged.
import type { z } from 'zod';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { deleteModelKey, listModelKeys, type ModelKeyRow, setModelKey } from '../../db/tenants/model-keys.ts';
import { ServiceError } from '../../flow/errors.ts';
import { PROVIDER_NAME } from '../../platform/config/providers-file.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import { identifyUser } from '../auth/authenticate.ts';
import { authorizeOrganization, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { readBody } from '../http/json-body.ts';
import { readQuery } from '../http/query.ts';
import { done, ORGANIZATIONS_PATH, ROLE_ERRORS, USERS_ONLY } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body } from '../reference/operations.ts';
import { checkModelKey } from './check-model-key.ts';
import {
  modelKeyExample,
  modelKeyList,
  modelKeyRecord,
  setModelKeyQuery,
  setModelKeyRequest,
  storedModelKey,
} from './model-key-schemas.ts';

const MODEL_KEYS_PATH = `${ORGANIZATIONS_PATH}/:org_id/model-keys`;
const common = { tags: ['Model keys'], security: USERS_ONLY };
const one = answer('The key’s record.', modelKeyRecord, { key: modelKeyExample });

export function modelKeyRoutes(deps: ApiDeps): Route[] {
  const first = [...identifyUser(deps), authorizeOrganization(deps, { role: 'admin' })];
  return [
    {
      method: 'get',
      path: MODEL_KEYS_PATH,
      operation: {
        ...common,
        operationId: 'listModelKeys',
        summary: 'List the model keys, masked (owners and admins)',
        responses: {
          200: answer('The keys.', modelKeyList, { keys: { modelKeys: [modelKeyExample] } }),
          ...ROLE_ERRORS,
        },
      },
      handlers: [...first, listKeys(deps)],
    },
    {
      method: 'get',
      path: `${MODEL_KEYS_PATH}/:provider`,
      operation: {
        ...common,
        operationId: 'getModelKey',
        summary: 'Get a model key, masked (owners and admins)',
        responses: { 200: one, ...ROLE_ERRORS },
      },
      handlers: [...first, getKey(deps)],
    },
    {
      method: 'put',
      path: `${MODEL_KEYS_PATH}/:provider`,
      operation: {
        ...common,
        operationId: 'setModelKey',
        summary: 'Set the key for a provider (owners and admins)',
        description:
          'Runs use the key from their next model call on, and are not charged for those calls. When the provider rejects the key, the run fails with `byok_rejected`.',
        requestParams: { query: setModelKeyQuery },
        requestBody: body(setModelKeyRequest, { key: { key: 'sk-example' } }),
        responses: {
          200: answer('The key’s record.', storedModelKey, { key: modelKeyExample }),
          ...ROLE_ERRORS,
          ...BODY_ERRORS,
        },
      },
      handlers: [...first, readQuery(setModelKeyQuery), readBody(deps, setModelKeyRequest), setKey(deps)],
    },
    {
      method: 'delete',
      path: `${MODEL_KEYS_PATH}/:provider`,
      operation: {
        ...common,
        operationId: 'deleteModelKey',
        summary: 'Delete the key of a provider (owners and admins)',
        responses: { 204: done('Runs use the service’s own key again.'), ...ROLE_ERRORS },
      },
      handlers: [...first, removeKey(deps)],
    },
  ];
}

function listKeys({ db }: ApiDeps): ApiMiddleware {
  return async function listKeys(ctx) {
    const rows = await listModelKeys(db, ctx.state.membership.organizationId);
    ctx.body = { modelKeys: rows.map(toModelKey) };
  };
}

function getKey({ db }: ApiDeps): ApiMiddleware {
  return async function getKey(ctx) {
    const rows = await listModelKeys(db, ctx.state.membership.organizationId);
    const row = rows.find(({ provider }) => provider === ctx.params.provider);
    if (!row) throw noKey();
    ctx.body = toModelKey(row);
  };
}

function setKey(deps: ApiDeps): ApiMiddleware {
  const encryption = createEncryption(deps.config.secretsKeys);
  const known = Object.keys(deps.config.ownKeyProviders);
  return async function setKey(ctx) {
    const { organizationId } = ctx.state.membership;
    const { provider = '' } = ctx.params;
    const { key: secret } = ctx.state.body as z.infer<typeof setModelKeyRequest>;
    if (!known.includes(provider))
      throw new ServiceError(
        'NOT_FOUND',
        `This service has no such provider. Its providers are ${known.join(', ')}.`,
      );
    const row = await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      await recordChange(tx, author, { organizationId, action: 'model_key.set', resourceId: provider });
      return setModelKey(tx, encryption, { organizationId, provider, secret, userId: ctx.state.user.userId });
    });
    const { check } = ctx.state.query as z.infer<typeof setModelKeyQuery>;
    ctx.body = {
      ...toModelKey(row),
      ...(check && { check: await checkModelKey(deps, provider, secret) }),
    };
  };
}

function removeKey(deps: ApiDeps): ApiMiddleware {
  return async function removeKey(ctx) {
    const { organizationId } = ctx.state.membership;
    const { provider = '' } = ctx.params;
    await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      // An operator may remove the key's provider from the service.
      if (!PROVIDER_NAME.test(provider) || !(await deleteModelKey(tx, organizationId, provider)))
        throw noKey();
      await recordChange(tx, author, { organizationId, action: 'model_key.delete', resourceId: provider });
    });
    ctx.status = 204;
  };
}

function noKey(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The organization has no key for this provider.');
}

function toModelKey(row: ModelKeyRow) {
  return {
    provider: row.provider,
    keyPreview: `…${row.preview}`,
    createdBy: row.created_by,
    updatedAt: row.updated_at.toISOString(),
  };
}
