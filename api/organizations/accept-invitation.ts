import { inTransaction } from '../../db/connect.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { verifiedAddress } from '../auth/email-address.ts';
import { identifyUser } from '../auth/identify-caller.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiMiddleware, Route } from '../http/context.ts';
import { authorOf } from '../http/principal.ts';
import { joined } from '../reference/invitation-examples.ts';
import { CALLER_ERRORS, conflict, USERS_ONLY } from '../reference/management-operations.ts';
import { answer, errorAnswer, examplesOf } from '../reference/operations.ts';
import { joinedRecord } from './invitation-schemas.ts';
import {
  acceptInvitation,
  addressNotVerified,
  alreadyMemberOf,
  noInvitationFor,
} from './recorded-invitations.ts';

/** Returns the path for an invitation's id, or the route pattern. */
export function acceptInvitationPath(id: string): string {
  return `/api/v1/invitations/${id}/accept`;
}

export function acceptInvitationRoutes(deps: ApiDeps): Route[] {
  return [
    {
      method: 'post',
      path: acceptInvitationPath(':invitation_id'),
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
      handlers: [...identifyUser(deps), accept(deps)],
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
      acceptInvitation(tx, authorOf(user, requestId), { id, email, userId: user.userId }),
    );
    memberProfiles.save(joined.organization.id, user);
    ctx.body = joined;
  };
}
