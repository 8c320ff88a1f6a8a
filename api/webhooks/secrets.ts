// GET …/webhooks/secret and POST …/webhooks/secret/rotate show and rotate signing secrets (docs/webhooks.md).
import { z } from 'zod';
import { repeatLostWrite } from '../../db/connection/database-errors.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import {
  ensureSigningSecret,
  findSigningSecret,
  mintSigningSecret,
  rotateSigningSecret,
} from '../../db/webhooks/webhook-secrets.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import { identifyCaller } from '../auth/authenticate.ts';
import { authorizeOrganization, writeAuthorized } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readQuery } from '../http/query.ts';
import { answer, ORGANIZATION_ERRORS, VALIDATION_ERRORS, WEBHOOKS_PATH } from '../reference/operations.ts';
import { maskedSecret, newSecret } from '../reference/webhook-examples.ts';
import { rotatedSecret, secretRecord } from './schemas.ts';

const PREVIEW_CHARS = 10;
const MASK = '*'.repeat(12);

const rotateQuery = z.strictObject({
  grace: z.enum(['true', 'false']).default('true').meta({
    description: '`false`: stops signing with the previous secret at once, for example after a leak.',
  }),
});

export function webhookSecretRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${WEBHOOKS_PATH}/secret`,
      operation: {
        operationId: 'getWebhookSecret',
        summary: 'Get the signing secret, masked',
        description: 'The secret is created when there is none yet. Only a rotation shows a secret in full.',
        tags: ['Webhooks'],
        responses: {
          200: answer('The secret’s record.', secretRecord, { secret: maskedSecret }),
          ...ORGANIZATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'webhooks'),
        authorizeOrganization(deps, { role: 'member', strangers: 'FORBIDDEN' }),
        getSecret(deps),
      ],
    },
    {
      method: 'post',
      path: `${WEBHOOKS_PATH}/secret/rotate`,
      operation: {
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate the signing secret',
        description:
          'For 24 hours deliveries also carry a signature by the previous secret. A second rotation within that time ends this grace period. The request body is ignored.',
        tags: ['Webhooks'],
        requestParams: { query: rotateQuery },
        responses: {
          200: answer('The new secret, shown in full only this once.', rotatedSecret, { secret: newSecret }),
          ...ORGANIZATION_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyCaller(deps, 'webhooks'),
        authorizeOrganization(deps, { role: 'admin', strangers: 'FORBIDDEN' }),
        readQuery(rotateQuery),
        takeIdempotencyKey(deps),
        rotateSecret(deps),
      ],
    },
  ];
}

function getSecret(deps: ApiDeps): ApiMiddleware {
  const encryption = createEncryption(deps.config.secretsKeys);
  return async function getSecret(ctx) {
    const { organizationId } = ctx.state.membership;
    const secret =
      (await findSigningSecret(deps.db, encryption, organizationId)) ??
      (await repeatLostWrite(() =>
        writeAuthorized(deps.db, ctx.state, (tx, author) =>
          ensureSigningSecret(tx, encryption, organizationId, author),
        ),
      ));
    ctx.body = {
      organizationId,
      secretPreview: mask(secret.current),
      version: secret.version,
      createdAt: secret.createdAt.toISOString(),
      rotatedAt: secret.rotatedAt?.toISOString() ?? null,
      graceUntil: secret.graceUntil?.toISOString() ?? null,
    };
  };
}

function rotateSecret(deps: ApiDeps): ApiMiddleware {
  const encryption = createEncryption(deps.config.secretsKeys);
  return async function rotateSecret(ctx) {
    const { organizationId } = ctx.state.membership;
    const plaintext = mintSigningSecret();
    const grace = (ctx.state.query as z.infer<typeof rotateQuery>).grace === 'true';
    const change = {
      organizationId,
      action: 'webhook_secret.rotate',
      resourceId: organizationId,
      details: { grace },
    };
    // After a lost response the write is repeated, and only the first try may have seen the value.
    let replaced: string | null = null;
    const { secret, previous } = await repeatLostWrite(() =>
      writeAuthorized(deps.db, ctx.state, async (tx, author) => {
        const rotation = await rotateSigningSecret(tx, encryption, organizationId, plaintext, { grace });
        if (rotation.changed) {
          replaced = rotation.replaced;
          await recordChange(tx, author, change);
        }
        return { secret: rotation.secret, previous: replaced };
      }),
    );
    ctx.body = {
      organizationId,
      newSecret: secret.current,
      previousSecretPreview: previous && mask(previous),
      version: secret.version,
      graceUntil: secret.graceUntil?.toISOString() ?? null,
      rotatedAt: secret.rotatedAt?.toISOString(),
    };
  };
}

function mask(secret: string): string {
  return secret.slice(0, PREVIEW_CHARS) + MASK;
}
