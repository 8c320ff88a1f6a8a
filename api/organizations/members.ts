// The endpoints of an organization's members.
import type { z } from 'zod';
import type { Tx } from '../../db/connect.ts';
import type { Role } from '../../db/schema.ts';
import { ALREADY_MEMBER, listMembers, lockMember } from '../../db/tenants/memberships.ts';
import { ServiceError } from '../../flow/errors.ts';
import { identifyUser } from '../auth/authenticate.ts';
import { authorizeOrganization, requireRole, writeAuthorized } from '../auth/authorize.ts';
import { userIdSchema } from '../auth/user-identifiers.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, CallerMembership, Route } from '../http/context.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { type PageQuery, pageQuery, toPage } from '../http/page.ts';
import { userOf } from '../http/principal.ts';
import { readQuery } from '../http/query.ts';
import * as example from '../reference/management-examples.ts';
import {
  conflict,
  done,
  ORGANIZATIONS_PATH,
  RESOURCE_ERRORS,
  ROLE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import { answer, BODY_ERRORS, body, VALIDATION_ERRORS } from '../reference/operations.ts';
import { addMember, changeRole, removeMember } from './recorded-members.ts';
import { addMemberRequest, memberList, memberRecord, updateMemberRequest } from './schemas.ts';
import { toMember } from './to-records.ts';

const MEMBERS_PATH = `${ORGANIZATIONS_PATH}/:org_id/members`;
const LAST_OWNER =
  'This is the only owner, and an organization needs one: make another member an owner first, or delete the organization.';
const listQuery = pageQuery(userIdSchema);
const common = { tags: ['Members'], security: USERS_ONLY };
const one = answer('The member.', memberRecord, { member: example.member });

export function memberRoutes(deps: ApiDeps): Route[] {
  const first = (role: Role) => [...identifyUser(deps), authorizeOrganization(deps, { role })];
  return [
    {
      method: 'post',
      path: MEMBERS_PATH,
      operation: {
        ...common,
        operationId: 'addMember',
        summary: 'Add a user (owners and admins)',
        description: 'The user may be one who has never signed in.',
        requestBody: body(addMemberRequest, { member: example.newMember }),
        responses: {
          201: one,
          ...ROLE_ERRORS,
          ...conflict('The user is already a member.', ALREADY_MEMBER),
          ...BODY_ERRORS,
        },
      },
      handlers: [
        ...first('admin'),
        readBody(deps, addMemberRequest),
        takeIdempotencyKey(deps),
        postMember(deps),
      ],
    },
    {
      method: 'get',
      path: MEMBERS_PATH,
      operation: {
        ...common,
        operationId: 'listMembers',
        summary: 'List the members, by user id',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of members.', memberList, { page: example.memberPage }),
          ...RESOURCE_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first('member'), readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'put',
      path: `${MEMBERS_PATH}/:member_user_id`,
      operation: {
        ...common,
        operationId: 'updateMember',
        summary: 'Change a member’s role (owners and admins; only owners make owners, and change them)',
        requestBody: body(updateMemberRequest, { role: example.roleChange }),
        responses: { 200: one, ...ROLE_ERRORS, ...conflict('The last owner.', LAST_OWNER), ...BODY_ERRORS },
      },
      handlers: [...first('admin'), readBody(deps, updateMemberRequest), putMember(deps)],
    },
    {
      method: 'delete',
      path: `${MEMBERS_PATH}/:member_user_id`,
      operation: {
        ...common,
        operationId: 'removeMember',
        summary: 'Remove a member (owners and admins; only owners remove an owner), or leave (every member)',
        responses: {
          204: done('The user is no longer a member.'),
          ...ROLE_ERRORS,
          ...conflict('The last owner.', LAST_OWNER),
        },
      },
      handlers: [...first('member'), removeOne(deps)],
    },
  ];
}

function postMember(deps: ApiDeps): ApiMiddleware {
  return async function postMember(ctx) {
    const { organizationId } = ctx.state.membership;
    const { user_id: userId, role } = ctx.state.body as z.infer<typeof addMemberRequest>;
    const member = { organizationId, userId, role };
    const row = await writeAuthorized(deps.db, ctx.state, (tx, author) => addMember(tx, author, member));
    ctx.status = 201;
    ctx.body = toMember(row);
  };
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const { organizationId } = ctx.state.membership;
    const rows = await listMembers(db, organizationId, { after: cursor, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, (row) => row.user_id);
    ctx.body = { members: page.map(toMember), ...end };
  };
}

function putMember(deps: ApiDeps): ApiMiddleware {
  return async function putMember(ctx) {
    const { role } = ctx.state.body as z.infer<typeof updateMemberRequest>;
    const row = await writeAuthorized(deps.db, ctx.state, async (tx, author, caller) => {
      if (role === 'owner') requireRole(caller.role, 'owner');
      const { member, isLastOwner } = await lockChangeable(tx, caller, ctx.params.member_user_id);
      if (isLastOwner && role !== 'owner') throw new ServiceError('CONFLICT', LAST_OWNER);
      return changeRole(tx, author, member, role);
    });
    ctx.body = toMember(row);
  };
}

function removeOne(deps: ApiDeps): ApiMiddleware {
  return async function removeOne(ctx) {
    const { member_user_id: userId } = ctx.params;
    await writeAuthorized(deps.db, ctx.state, async (tx, author, caller) => {
      if (userId !== userOf(ctx.state.principal)) requireRole(caller.role, 'admin');
      const { member, isLastOwner } = await lockChangeable(tx, caller, userId);
      if (isLastOwner) throw new ServiceError('CONFLICT', LAST_OWNER);
      await removeMember(tx, author, member);
    });
    ctx.status = 204;
  };
}

/**
 * Locks and returns a member whom the caller may change or remove, and whether it is the only owner. Throws NOT_FOUND or
 * FORBIDDEN.
 */
async function lockChangeable(
  tx: Tx,
  caller: CallerMembership,
  userId: string | undefined,
): ReturnType<typeof lockMember> {
  const parsed = userIdSchema.safeParse(userId);
  if (!parsed.success) throw new ServiceError('NOT_FOUND', 'The organization has no such member.');
  const locked = await lockMember(tx, caller.organizationId, parsed.data);
  if (locked.member.role === 'owner') requireRole(caller.role, 'owner');
  return locked;
}
