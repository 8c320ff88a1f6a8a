// The response of GET /me.
import { z } from 'zod';
import { KEY_SCOPES } from '../../db/tables/access.ts';
import { role } from './schemas.ts';

const named = { id: z.uuid(), slug: z.string(), name: z.string() };

const userRecord = z
  .object({
    kind: z.literal('user'),
    userId: z.string().meta({ description: 'The `sub` of your tokens.' }),
    name: z.string().nullable().meta({ description: 'From the identity provider.' }),
    email: z.string().nullable().meta({ description: 'From the identity provider.' }),
    emailVerified: z.boolean().meta({
      description:
        'Whether the identity provider has verified the address. Invitations require a verified address.',
    }),
    organizations: z
      .array(
        z.object({
          ...named,
          role: role.meta({ description: 'Your role.' }),
          projects: z.array(z.object(named)).meta({ description: 'By slug.' }),
        }),
      )
      .meta({ description: 'The organizations you belong to, by slug.' }),
    invitations: z
      .array(
        z.object({
          id: z.uuid(),
          organization: z.object(named),
          role,
          invitedBy: z.string().meta({ description: 'A user id.' }),
          inviterName: z
            .string()
            .nullable()
            .meta({ description: 'The name or e-mail address of that user.' }),
          expiresAt: z.iso.datetime(),
        }),
      )
      .meta({
        description:
          'The newest 20 open invitations to your verified e-mail address: `POST /invitations/{invitation_id}/accept` joins.',
      }),
    operator: z.boolean().meta({
      description:
        'Whether you are an operator of the service, who may do what an owner of any organization may.',
    }),
    hasMore: z.boolean().meta({
      description:
        'Whether there are over 200 organizations, or over 200 projects in all: `GET /organizations` and `GET /projects` list them all.',
    }),
  })
  .meta({ id: 'MeUser' });

const keyRecord = z
  .object({
    kind: z.literal('api_key'),
    keyId: z.string().meta({ description: 'The 8 characters after weir_live_ or weir_test_.' }),
    name: z.string(),
    environment: z.enum(['live', 'test']),
    scopes: z.array(z.enum(KEY_SCOPES)).meta({ description: 'What the key may do.' }),
    expiresAt: z.iso.datetime().nullable(),
    organization: z.object(named),
    project: z.object(named),
  })
  .meta({ id: 'MeApiKey' });

const operatorRecord = z
  .object({
    kind: z.literal('operator').meta({ description: 'A key of an operator of the service.' }),
    keyId: z.string().meta({ description: 'The 8 characters after weir_operator_.' }),
    name: z.string(),
  })
  .meta({ id: 'MeOperator' });

export const meRecord = z
  .discriminatedUnion('kind', [userRecord, keyRecord, operatorRecord])
  .meta({ id: 'Me' });
