// The endpoints of a project's API keys.
import type { z } from 'zod';
import { listApiKeys, TOO_MANY_API_KEYS } from '../../db/tenants/api-keys.ts';
import { mintApiKey } from '../auth/api-key.ts';
import { identifyUser } from '../auth/authenticate.ts';
import { loadProject, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import * as example from '../reference/management-examples.ts';
import { conflict, PROJECTS_PATH, ROLE_ERRORS, USERS_ONLY } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body } from '../reference/operations.ts';
import { addApiKey, endApiKey } from './recorded-organizations.ts';
import { apiKeyList, apiKeyRecord, createApiKeyRequest, newApiKey } from './schemas.ts';
import { toApiKey } from './to-records.ts';

const API_KEYS_PATH = `${PROJECTS_PATH}/:project_id/api-keys`;
const common = { tags: ['API keys'], security: USERS_ONLY };

export function apiKeyRoutes(deps: ApiDeps): Route[] {
  const first = [...identifyUser(deps), loadProject(deps, 'admin')];
  return [
    {
      method: 'post',
      path: API_KEYS_PATH,
      operation: {
        ...common,
        operationId: 'createApiKey',
        summary: 'Create an API key (owners and admins)',
        requestBody: body(createApiKeyRequest, {
          key: example.apiKeyRequest,
          deploying: example.deployKeyRequest,
        }),
        responses: {
          201: answer('The key, shown in full only this once.', newApiKey, { key: example.mintedApiKey }),
          ...ROLE_ERRORS,
          ...conflict('Ten keys are active.', TOO_MANY_API_KEYS),
          ...BODY_ERRORS,
        },
      },
      handlers: [...first, readBody(deps, createApiKeyRequest), takeIdempotencyKey(deps), createApiKey(deps)],
    },
    {
      method: 'get',
      path: API_KEYS_PATH,
      operation: {
        ...common,
        operationId: 'listApiKeys',
        summary: 'List the keys of a project, without their secrets (owners and admins)',
        responses: { 200: answer('The keys.', apiKeyList, { keys: example.apiKeys }), ...ROLE_ERRORS },
      },
      handlers: [...first, listKeys(deps)],
    },
    {
      method: 'delete',
      path: `${API_KEYS_PATH}/:key_id`,
      operation: {
        ...common,
        operationId: 'revokeApiKey',
        summary: 'Revoke a key (owners and admins)',
        description:
          'The key stops working at once, and within 10 seconds in a process that missed the announcement. You can repeat the request.',
        responses: {
          200: answer('The revoked key.', apiKeyRecord, { key: example.revokedApiKey }),
          ...ROLE_ERRORS,
        },
      },
      handlers: [...first, revokeKey(deps)],
    },
  ];
}

function createApiKey(deps: ApiDeps): ApiMiddleware {
  return async function createApiKey(ctx) {
    const { environment, name, scopes, expires_at } = ctx.state.body as z.infer<typeof createApiKeyRequest>;
    const { user } = ctx.state;
    const { id: projectId, organization_id: organizationId } = ctx.state.project;
    const { plaintext, keyId, secretHmac } = mintApiKey(environment, deps.config.apiKeyPepper);
    const key = {
      organizationId,
      projectId,
      keyId,
      environment,
      name,
      secretHmac,
      ...(!user.operatorKey && { createdBy: user.userId }),
      ...(scopes && { scopes }),
      ...(expires_at && { expiresAt: expires_at }),
    };
    const created = await writeAuthorized(deps.db, ctx.state, async (tx, author) => ({
      row: await addApiKey(tx, author, key),
      plaintext,
    }));
    ctx.status = 201;
    ctx.body = { ...toApiKey(created.row), key: created.plaintext };
  };
}

function listKeys({ db }: ApiDeps): ApiMiddleware {
  return async function listKeys(ctx) {
    const rows = await listApiKeys(db, ctx.state.project.id);
    ctx.body = { apiKeys: rows.map(toApiKey) };
  };
}

function revokeKey(deps: ApiDeps): ApiMiddleware {
  return async function revokeKey(ctx) {
    const { id: projectId, organization_id: organizationId } = ctx.state.project;
    // PostgreSQL rejects U+0000 in texts.
    const keyId = (ctx.params.key_id ?? '').replaceAll('\0', '?');
    const key = { organizationId, projectId, keyId };
    const row = await writeAuthorized(deps.db, ctx.state, (tx, author) => endApiKey(tx, author, key));
    ctx.body = toApiKey(row);
  };
}
