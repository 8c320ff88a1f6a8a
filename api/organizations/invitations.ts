// The endpoints of an organization's invitations. Weir sends no e-mail: the inviter gets a text to send.
import type { z } from 'zod';
import { inTransaction } from '../../db/connect.ts';
import { ALREADY_INVITED, type InvitationRow, listInvitations } from '../../db/tenants/invitations.ts';
import { getOrganizationName } from '../../db/tenants/organizations.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { identifyPerson, identifyUser } from '../auth/authenticate.ts';
import { authorizeOrganization, writeAuthorized } from '../auth/authorize.ts';
import { emailAddress, verifiedAddress } from '../auth/user-identifiers.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { takeIdempotencyKey } from '../http/idempotency-key.ts';
import { readBody } from '../http/json-body.ts';
import { onceFor } from '../http/keyed-request.ts';
import { type PageQuery, pageQuery, toPage } from '../http/page.ts';
import { authorOf } from '../http/principal.ts';
import { readQuery } from '../http/query.ts';
import * as example from '../reference/invitation-examples.ts';
import { joined } from '../reference/invitation-examples.ts';
import {
  CALLER_ERRORS,
  conflict,
  done,
  ORGANIZATIONS_PATH,
  ROLE_ERRORS,
  USERS_ONLY,
} from '../reference/management-operations.ts';
import {
  answer,
  BODY_ERRORS,
  body,
  errorAnswer,
  examplesOf,
  VALIDATION_ERRORS,
} from '../reference/operations.ts';
import {
  createInvitationRequest,
  invitationList,
  joinedRecord,
  newInvitation,
} from './invitation-schemas.ts';
import {
  acceptInvitation,
  addressNotVerified,
  alreadyMemberOf,
  invitationNotFound,
  invite,
  noInvitationFor,
  revokeInvitation,
} from './recorded-members.ts';

const INVITATIONS_PATH = `${ORGANIZATIONS_PATH}/:org_id/invitations`;
const listQuery = pageQuery(emailAddress);
const common = { tags: ['Members'], security: USERS_ONLY };

export function invitationRoutes(deps: ApiDeps): Route[] {
  const first = [...identifyUser(deps), authorizeOrganization(deps, { role: 'admin' })];
  return [
    {
      method: 'post',
      path: INVITATIONS_PATH,
      operation: {
        ...common,
        operationId: 'createInvitation',
        summary: 'Invite somebody by e-mail address (owners and admins)',
        description:
          'No e-mail is sent: send the `message` of the answer yourself. Whoever signs in with the address, verified by the identity provider, can accept within 7 days. An organization has at most 100 open invitations.',
        requestBody: body(createInvitationRequest, { invitation: example.newInvitation }),
        responses: {
          201: answer('The invitation.', newInvitation, { invitation: example.createdInvitation }),
          ...ROLE_ERRORS,
          ...conflict(
            'The address is invited already or a member’s, or there are 100 open invitations.',
            ALREADY_INVITED,
          ),
          ...BODY_ERRORS,
        },
      },
      handlers: [
        ...first,
        readBody(deps, createInvitationRequest),
        takeIdempotencyKey(deps),
        postInvitation(deps),
      ],
    },
    {
      method: 'get',
      path: INVITATIONS_PATH,
      operation: {
        ...common,
        operationId: 'listInvitations',
        summary: 'List the invitations that are not accepted, by address (owners and admins)',
        description: 'Those that have expired are listed for some weeks.',
        requestParams: { query: listQuery },
        responses: {
          200: answer('A page of invitations.', invitationList, { page: example.invitationPage }),
          ...ROLE_ERRORS,
          ...VALIDATION_ERRORS,
        },
      },
      handlers: [...first, readQuery(listQuery), listPage(deps)],
    },
    {
      method: 'delete',
      path: `${INVITATIONS_PATH}/:invitation_id`,
      operation: {
        ...common,
        operationId: 'revokeInvitation',
        summary: 'Revoke an invitation (owners and admins)',
        responses: { 204: done('Nobody can accept the invitation any longer.'), ...ROLE_ERRORS },
      },
      handlers: [...first, revokeOne(deps)],
    },
  ];
}

function postInvitation(deps: ApiDeps): ApiMiddleware {
  return async function postInvitation(ctx) {
    const { organizationId } = ctx.state.membership;
    const { email, role } = ctx.state.body as z.output<typeof createInvitationRequest>;
    const invitation = { organizationId, email, role, invitedBy: ctx.state.user.userId };
    const { row, name } = await writeAuthorized(deps.db, ctx.state, async (tx, author) => ({
      row: await invite(tx, author, invitation),
      name: await getOrganizationName(tx, organizationId),
    }));
    ctx.status = 201;
    const url = deps.config.publicUrl ?? `${ctx.protocol}://${ctx.host}`;
    ctx.body = { ...toInvitation(row), message: writeMessage(row, name, url) };
  };
}

function listPage({ db }: ApiDeps): ApiMiddleware {
  return async function listPage(ctx) {
    const { limit, cursor } = ctx.state.query as PageQuery;
    const { organizationId } = ctx.state.membership;
    const rows = await listInvitations(db, organizationId, { after: cursor, limit: limit + 1 });
    const { page, end } = toPage(rows, limit, ({ email }) => email);
    ctx.body = { invitations: page.map(toInvitation), ...end };
  };
}

function revokeOne(deps: ApiDeps): ApiMiddleware {
  return async function revokeOne(ctx) {
    const { invitation_id: id = '' } = ctx.params;
    await writeAuthorized(deps.db, ctx.state, async (tx, author, { organizationId }) => {
      if (!UUID_PATTERN.test(id)) throw invitationNotFound();
      await revokeInvitation(tx, author, organizationId, id);
    });
    ctx.status = 204;
  };
}

/** Writes the text for the inviter to send. The text contains no secret and grants no access. */
function writeMessage(
  { id, email, role, expires_at }: InvitationRow,
  organization: string,
  url: string,
): string {
  const until = expires_at.toISOString().slice(0, 10);
  return `You are invited to the organization ${organization} of Weir, with the role ${role}. Open this link by ${until}, and sign in with the e-mail address ${email}, which has to be verified: ${url}/console/invitations/${id} (in a terminal: weir login ${url}, then weir invitation accept ${id})`;
}

function toInvitation(row: InvitationRow) {
  return {
    id: row.id,
    organizationId: row.organization_id,
    email: row.email,
    role: row.role,
    state: row.expires_at > new Date() ? 'open' : 'expired',
    invitedBy: row.invited_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

export function acceptInvitationRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: '/api/v1/invitations/:invitation_id/accept',
      operation: {
        operationId: 'acceptInvitation',
        summary: 'Accept an invitation to an organization',
        description:
          'It has to be for your e-mail address, which the identity provider has verified; upper and lower case are the same. `GET /me` lists your invitations.',
        tags: ['Members'],
        security: USERS_ONLY,
        responses: {
          200: answer('You are a member of the organization.', joinedRecord, { joined }),
          ...CALLER_ERRORS,
          403: errorAnswer(
            'The identity provider does not say that you have a verified e-mail address.',
            examplesOf(addressNotVerified('auth0|5f7c8ec7c33c6c004bbafe82')),
          ),
          404: errorAnswer(
            'There is no such invitation for your address, or it has expired.',
            examplesOf(noInvitationFor('ann@example.com')),
          ),
          ...conflict('You are a member already.', alreadyMemberOf(joined.organization.name).message),
        },
      },
      handlers: [...identifyPerson(deps), takeIdempotencyKey(deps), accept(deps)],
    },
  ];
}

function accept({ db, memberProfiles }: ApiDeps): ApiMiddleware {
  return async function accept(ctx) {
    const { user, requestId } = ctx.state;
    const { invitation_id: id = '' } = ctx.params;
    const email = verifiedAddress(user.profile);
    if (email === undefined) throw addressNotVerified(user.userId);
    if (!UUID_PATTERN.test(id)) throw noInvitationFor(email);
    const joined = await inTransaction(db, (tx) =>
      onceFor(ctx.state.keyed, tx, () =>
        acceptInvitation(tx, authorOf(user, requestId), { id, email, userId: user.userId }),
      ),
    );
    memberProfiles.save(joined.organization.id, user);
    ctx.body = joined;
  };
}
