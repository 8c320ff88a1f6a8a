// Request and response schemas of invitations.
import { z } from 'zod';
import { emailAddress } from '../auth/user-identifiers.ts';
import { pageOf } from '../http/page.ts';
import { givenRole, role } from './schemas.ts';

const time = z.iso.datetime();

export const createInvitationRequest = z
  .strictObject({ email: emailAddress, role: givenRole })
  .meta({ id: 'CreateInvitation' });

export const invitationRecord = z
  .object({
    id: z.uuid(),
    organizationId: z.uuid(),
    email: z.string().meta({ description: 'In lower case.' }),
    role: givenRole,
    state: z.enum(['open', 'expired']),
    invitedBy: z.string().meta({ description: 'A user id.' }),
    createdAt: time,
    expiresAt: time,
  })
  .meta({ id: 'Invitation' });
export const newInvitation = invitationRecord
  .extend({
    message: z.string().meta({ description: 'For you to send to the person: no e-mail is sent for you.' }),
  })
  .meta({ id: 'NewInvitation' });
export const invitationList = pageOf('InvitationList', 'invitations', invitationRecord);

export const joinedRecord = z
  .object({
    organization: z.object({ id: z.uuid(), slug: z.string(), name: z.string() }),
    role: role.meta({ description: 'Your role.' }),
  })
  .meta({ id: 'JoinedOrganization' });
