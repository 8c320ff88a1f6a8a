// GET /organizations/{org_id}/audit-log lists who changed what.
import { z } from 'zod';
import { listAuditEntries } from '../../db/tenants/audit-entries.ts';
import { nameResources } from '../../db/tenants/name-resources.ts';
import { identifyUser } from '../auth/authenticate.ts';
import { authorizeOrganization } from '../auth/authorize.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { moment, momentText } from '../http/moment.ts';
import { pageLimit, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { auditPage } from '../reference/management-examples.ts';
import { ORGANIZATIONS_PATH, ROLE_ERRORS, USERS_ONLY } from '../reference/management-operations.ts';
import { answer, VALIDATION_ERRORS } from '../reference/operations.ts';
import { auditList } from './schemas.ts';
import { toAuditEntry } from './to-records.ts';

const FILTER_MAX_CHARS = 512;

// PostgreSQL rejects U+0000 in texts; no entry has one.
const filterText = z
  .string()
  .max(FILTER_MAX_CHARS)
  .regex(/^[^\0]+$/, 'must not be empty or hold U+0000')
  .optional();

const auditQuery = z.strictObject({
  limit: pageLimit,
  before: momentText
    .transform(toMicroseconds)
    .optional()
    .meta({ description: 'Only entries made before this time: send `nextCursor` of the previous page.' }),
  since: moment.optional().meta({ description: 'Only entries made at this time or later.' }),
  actor: filterText.meta({
    description: 'Only entries of this actor: a user id, `api_key/{key_id}`, `operator` or `service`.',
  }),
  action: filterText.meta({ description: 'Only entries of this action, such as `api_key.revoke`.' }),
});

export function auditLogRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'get',
      path: `${ORGANIZATIONS_PATH}/:org_id/audit-log`,
      operation: {
        operationId: 'listAuditLog',
        summary: 'List management writes, newest first (owners and admins)',
        tags: ['Organizations'],
        security: USERS_ONLY,
        requestParams: { query: auditQuery },
        responses: {
          200: answer('A page of entries.', auditList, { page: auditPage }),
          ...ROLE_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [
        ...identifyUser(deps),
        authorizeOrganization(deps, { role: 'admin' }),
        readQuery(auditQuery),
        listAuditLog(deps),
      ],
    },
  ];
}

function listAuditLog({ db }: ApiDeps): ApiMiddleware {
  return async function listAuditLog(ctx) {
    const { limit, before, ...filter } = ctx.state.query as z.infer<typeof auditQuery>;
    const { organizationId } = ctx.state.membership;
    const rows = await listAuditEntries(db, organizationId, {
      ...filter,
      beforeUs: before,
      limit: limit + 1,
    });
    const { page, end } = toPage(rows, limit, ({ at }) => at);
    const named = await nameResources(db, organizationId, page);
    ctx.body = { entries: page.map((row) => toAuditEntry(row, named)), ...end };
  };
}

/** Reads a time in microseconds, which a Date cannot represent, because several entries may share a millisecond. */
function toMicroseconds(text: string): bigint {
  const beyond = /\.\d{3}(\d{1,3})/.exec(text)?.[1] ?? '';
  return BigInt(Date.parse(text)) * 1000n + BigInt(beyond.padEnd(3, '0'));
}
