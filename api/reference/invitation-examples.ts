// Example requests and answers about invitations in the API reference.
import { organization } from './management-examples.ts';

export const newInvitation = { email: 'bea@example.com', role: 'member' };
const invitation = {
  id: 'c0a5d2f4-52a5-4c3e-9a61-0f1d6b1a7e21',
  organizationId: organization.id,
  ...newInvitation,
  state: 'open',
  invitedBy: 'auth0|5f7c8ec7c33c6c004bbafe82',
  createdAt: '2026-01-31T12:00:00.000Z',
  expiresAt: '2026-02-07T12:00:00.000Z',
};
export const createdInvitation = {
  ...invitation,
  message: `You are invited to the organization ${organization.name} of Weir, with the role member. Open this link by 2026-02-07, and sign in with the e-mail address ${invitation.email}, which has to be verified: https://weir.example.com/console/invitations/${invitation.id} (in a terminal: weir login https://weir.example.com, then weir invitation accept ${invitation.id})`,
};
export const invitationPage = { invitations: [invitation], hasMore: false, nextCursor: null };

const { id, slug, name } = organization;
export const joined = { organization: { id, slug, name }, role: 'member' };
