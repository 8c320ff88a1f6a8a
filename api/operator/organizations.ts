// The endpoints for operators about organizations: all of them, new ones for others, how many runs they may have, and
// whether they may run at all.
import { z } from 'zod';
import { countRunsUnderWay } from '../../db/runs/runs-under-way.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { updateRunsUnderWayMax } from '../../db/tenants/limits.ts';
import { findRole, insertMember, lockMember } from '../../db/tenants/memberships.ts';
import {
  endSuspension,
  getOrganization,
  listOrganizations,
  type OrganizationRow,
  organizationSlugTaken,
  suspendOrganization,
} from '../../db/tenants/organizations.ts';
import { ServiceError } from '../../flow/errors.ts';
import { authorizeOrganization, writeAuthorized } from '../auth/authorize.ts';
import { userIdSchema } from '../auth/user-identifiers.ts';
import type { ApiDeps } from '../deps.ts';
import { slugSchema } from '../flows/written-flow.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { type PageQuery, pageOf, pageQuery, toPage } from '../http/page.ts';
import { readQuery } from '../http/query.ts';
import { addMember, changeRole } from '../organizations/recorded-members.ts';
import { addOrganization } from '../organizations/recorded-organizations.ts';
import {
  createOrganizationRequest,
  memberRecord,
  organizationRecord,
  role,
} from '../organizations/schemas.ts';
import { toMember, toOrganization } from '../organizations/to-records.ts';
import { member, newOrganization } from '../reference/management-examples.ts';
import { conflict } from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, VALIDATION_ERRORS } from '../reference/operations.ts';
import * as example from '../reference/operator-examples.ts';
import {
  identifyOperator,
  OPERATOR_ERRORS,
  OPERATOR_PATH,
  OPERATOR_RESOURCE_ERRORS,
  operatorOperation,
} from './identify-operator.ts';

const ORGANIZATIONS_PATH = `${OPERATOR_PATH}/organizations`;
const ORGANIZATION_PATH = `${ORGANIZATIONS_PATH}/:org_id`;
const QUOTA_MAX = 1_000_000;
const REASON_MAX_CHARS = 500;

export const operatedOrganization = organizationRecord
  .omit({ role: true })
  .extend({
    runsUnderWay: z.int().min(0).meta({ description: 'Its unfinished runs.' }),
    runsUnderWayMax: z.int().min(0).nullable().meta({
      description: 'How many it may have; 0: any number; null: as WEIR_RUNS_UNDER_WAY_MAX says.',
    }),
    suspendedAt: z.iso.datetime().nullable(),
    suspensionReason: z.string().nullable(),
  })
  .meta({ id: 'OperatedOrganization' });
const organizationList = pageOf('OperatedOrganizationList', 'organizations', operatedOrganization);
const listQuery = pageQuery(slugSchema);

const createRequest = createOrganizationRequest
  .extend({
    owner: userIdSchema.optional().meta({
      description:
        'The `sub` of the user who becomes the owner. Absent: the organization has no members yet.',
    }),
  })
  .meta({ id: 'CreateOrganizationForOthers' });
const quotaRequest = z
  .strictObject({
    runs_under_way_max: z.int().min(0).max(QUOTA_MAX).nullable().meta({
      description: '0: any number; null: as WEIR_RUNS_UNDER_WAY_MAX says.',
    }),
  })
  .meta({ id: 'SetQuota' });
const suspensionRequest = z
  .strictObject({
    reason: z
      .string()
      .min(1)
      .max(REASON_MAX_CHARS)
      .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must have no control characters')
      .optional()
      .meta({
        description: 'Callers are told.',
        override: { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
      }),
  })
  .meta({ id: 'SuspendOrganization' });
const roleRequest = z.strictObject({ role }).meta({ id: 'SetRole' });

export function operatorOrganizationRoutes(deps: ApiDeps): Route[] {
  const first = identifyOperator(deps);
  const ofOne = [...first, authorizeOrganization(deps, { role: 'owner' })];
  const one = answer('The organization.', operatedOrganization, {
    organization: example.operatedOrganization,
  });
  return [
    {
      method: 'get',
      path: ORGANIZATIONS_PATH,
      operation: {
        ...operatorOperation,
        operationId: 'listAllOrganizations',
        summary: 'List all organizations, by slug',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of organizations.', organizationList, {
            page: example.operatedOrganizationPage,
          }),
          ...OPERATOR_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(listQuery), listAll(deps)],
    },
    {
      method: 'post',
      path: ORGANIZATIONS_PATH,
      operation: {
        ...operatorOperation,
        operationId: 'createOrganizationForOthers',
        summary: 'Create an organization for somebody else, without credits',
        requestBody: body(createRequest, { organization: example.organizationForSomebody }),
        responses: {
          201: one,
          ...OPERATOR_ERRORS,
          ...conflict('The slug is taken.', organizationSlugTaken(newOrganization.slug).message),
          ...BODY_ERRORS,
        },
      },
      handlers: [...first, readBody(deps, createRequest), takeIdempotencyKey(deps), create(deps)],
    },
    {
      method: 'put',
      path: `${ORGANIZATION_PATH}/quota`,
      operation: {
        ...operatorOperation,
        operationId: 'setQuota',
        summary: 'Set how many unfinished runs an organization may have',
        requestBody: body(quotaRequest, { quota: example.quota }),
        responses: { 200: one, ...OPERATOR_RESOURCE_ERRORS, ...BODY_ERRORS },
      },
      handlers: [...ofOne, readBody(deps, quotaRequest), setQuota(deps)],
    },
    {
      method: 'put',
      path: `${ORGANIZATION_PATH}/suspension`,
      operation: {
        ...operatorOperation,
        operationId: 'suspendOrganization',
        summary: 'Suspend an organization: it can start and continue no runs',
        description:
          'Runs in flight continue. A suspended organization keeps the time, and its reason unless there is a new one.',
        requestBody: body(suspensionRequest, { reason: example.suspension }),
        responses: { 200: one, ...OPERATOR_RESOURCE_ERRORS, ...BODY_ERRORS },
      },
      handlers: [...ofOne, readBody(deps, suspensionRequest), suspend(deps)],
    },
    {
      method: 'delete',
      path: `${ORGANIZATION_PATH}/suspension`,
      operation: {
        ...operatorOperation,
        operationId: 'resumeOrganization',
        summary: 'End the suspension of an organization, if it is suspended',
        responses: { 200: one, ...OPERATOR_RESOURCE_ERRORS },
      },
      handlers: [...ofOne, resume(deps)],
    },
    {
      method: 'put',
      path: `${ORGANIZATION_PATH}/members/:member_user_id`,
      operation: {
        ...operatorOperation,
        operationId: 'setMemberRole',
        summary: 'Give a user a role in an organization, also that of an owner',
        description: 'Adds a user who is no member. May leave the organization without an owner.',
        requestBody: body(roleRequest, { role: example.ownerRole }),
        responses: {
          200: answer('The member.', memberRecord, { member }),
          ...OPERATOR_RESOURCE_ERRORS,
          ...BODY_ERRORS,
        },
      },
      handlers: [...ofOne, readBody(deps, roleRequest), setRole(deps)],
    },
  ];
}

function listAll({ db }: ApiDeps): ApiMiddleware {
  return async function listAll(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const rows = await listOrganizations(db, { after: cursor, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, ({ slug }) => slug);
    const counts = await countRunsUnderWay(
      db,
      page.map(({ id }) => id),
    );
    const organizations = page.map((row) => toOperated(row, counts.get(row.id)));
    ctx.body = { organizations, ...end };
  };
}

function create({ db }: ApiDeps): ApiMiddleware {
  return async function create(ctx) {
    const { owner, ...details } = ctx.state.body as z.infer<typeof createRequest>;
    const row = await writeAuthorized(db, ctx.state, async (tx, author) => {
      const created = await addOrganization(tx, author, details);
      if (owner === undefined) return created;
      const { id: organizationId } = created;
      await insertMember(tx, { organizationId, userId: owner, role: 'owner' });
      const change = { organizationId, action: 'member.add', resourceId: owner, details: { role: 'owner' } };
      await recordChange(tx, author, change);
      return created;
    });
    ctx.status = 201;
    ctx.body = toOperated(row);
  };
}

function setQuota(deps: ApiDeps): ApiMiddleware {
  return async function setQuota(ctx) {
    const { organizationId } = ctx.state.membership;
    const { runs_under_way_max: runsUnderWay } = ctx.state.body as z.infer<typeof quotaRequest>;
    await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      if (!(await updateRunsUnderWayMax(tx, organizationId, runsUnderWay))) return;
      const details = { runsUnderWay };
      const change = {
        organizationId,
        action: 'organization.set_quota',
        resourceId: organizationId,
        details,
      };
      await recordChange(tx, author, change);
    });
    ctx.body = await describe(deps, organizationId);
  };
}

function suspend(deps: ApiDeps): ApiMiddleware {
  return async function suspend(ctx) {
    const { organizationId } = ctx.state.membership;
    const { reason } = ctx.state.body as z.infer<typeof suspensionRequest>;
    await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      if (!(await suspendOrganization(tx, organizationId, reason))) return;
      const details = { reason: reason ?? null };
      const change = { organizationId, action: 'organization.suspend', resourceId: organizationId, details };
      await recordChange(tx, author, change);
    });
    ctx.body = await describe(deps, organizationId);
  };
}

function resume(deps: ApiDeps): ApiMiddleware {
  return async function resume(ctx) {
    const { organizationId } = ctx.state.membership;
    await writeAuthorized(deps.db, ctx.state, async (tx, author) => {
      if (!(await endSuspension(tx, organizationId))) return;
      const change = { organizationId, action: 'organization.resume', resourceId: organizationId };
      await recordChange(tx, author, change);
    });
    ctx.body = await describe(deps, organizationId);
  };
}

function setRole({ db }: ApiDeps): ApiMiddleware {
  return async function setRole(ctx) {
    const { organizationId } = ctx.state.membership;
    const parsed = userIdSchema.safeParse(ctx.params.member_user_id);
    if (!parsed.success) throw new ServiceError('NOT_FOUND', 'No user can have this id.');
    const { data: userId } = parsed;
    const { role } = ctx.state.body as z.infer<typeof roleRequest>;
    const row = await writeAuthorized(db, ctx.state, async (tx, author) =>
      (await findRole(tx, organizationId, userId)) === undefined
        ? addMember(tx, author, { organizationId, userId, role })
        : changeRole(tx, author, (await lockMember(tx, organizationId, userId)).member, role),
    );
    ctx.body = toMember(row);
  };
}

async function describe({ db }: ApiDeps, id: string): Promise<z.infer<typeof operatedOrganization>> {
  return toOperated(await getOrganization(db, id), (await countRunsUnderWay(db, [id])).get(id));
}

function toOperated(row: OrganizationRow, runsUnderWay = 0): z.infer<typeof operatedOrganization> {
  return {
    ...toOrganization(row),
    runsUnderWay,
    runsUnderWayMax: row.runs_under_way_max,
    suspendedAt: row.suspended_at?.toISOString() ?? null,
    suspensionReason: row.suspension_reason,
  };
}
