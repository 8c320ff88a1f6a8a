// Request and response schemas of organizations, members, projects, API keys and the audit log.
import { z } from 'zod';
import { DEFAULT_KEY_SCOPES, KEY_SCOPES } from '../../db/tables/access.ts';
import { userIdSchema } from '../auth/user-identifiers.ts';
import { descriptionSchema, nameSchema, slugSchema } from '../flows/written-flow.ts';
import { pageOf } from '../http/page.ts';

/** Bounds the work of checking one list, which may repeat a scope. */
const SCOPES_MAX = 20;

const name = nameSchema;
const slug = slugSchema.meta({ description: 'Lower-case letters, digits and single hyphens between them.' });
const description = descriptionSchema;
const time = z.iso.datetime();
const userId = userIdSchema.meta({ description: 'The `sub` of the user’s tokens.' });
export const role = z.enum(['owner', 'admin', 'member']);
export const givenRole = z.enum(['admin', 'member']);

/** The fields of a member that come from the identity provider. */
const person = {
  name: z.string().nullable().meta({
    description: 'From the identity provider; null until the member’s first request in the organization.',
  }),
  email: z.string().nullable().meta({ description: 'As for `name`.' }),
  emailVerified: z.boolean().meta({ description: 'Whether the identity provider has verified the address.' }),
};

/** The body of a PUT. Omitted fields keep their values. */
const named = z
  .strictObject({ name: name.optional(), description: description.optional() })
  .refine((fields) => Object.keys(fields).length > 0, {
    error: 'changes nothing: send name or description',
  })
  .meta({ override: { minProperties: 1 } });

export const createOrganizationRequest = z
  .strictObject({ name, slug, description: description.default('') })
  .meta({ id: 'CreateOrganization' });
export const updateOrganizationRequest = named.meta({ id: 'UpdateOrganization' });
export const organizationRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    role: role.meta({ description: 'Your role.' }),
    credits: z.number().min(0).meta({
      description: 'The balance, which pays for runs. `GET …/credits` has details.',
    }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Organization' });

export const addMemberRequest = z
  .strictObject({ user_id: userId, role: givenRole })
  .meta({ id: 'AddMember' });
export const updateMemberRequest = z.strictObject({ role }).meta({ id: 'UpdateMember' });
export const memberRecord = z
  .object({
    organizationId: z.uuid(),
    user_id: z.string(),
    role,
    ...person,
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Member' });

export const createProjectRequest = z
  .strictObject({
    name,
    slug,
    description: description.default(''),
    organization_id: z.string().meta({ description: 'An organization of which you are an owner or admin.' }),
  })
  .meta({ id: 'CreateProject' });
export const updateProjectRequest = named.meta({ id: 'UpdateProject' });
export const projectRecord = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    organizationId: z.uuid(),
    userId: z
      .string()
      .nullable()
      .meta({ description: 'The user who created the project; null if an operator did.' }),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Project' });

export const createApiKeyRequest = z
  .strictObject({
    environment: z.enum(['live', 'test']),
    name,
    scopes: z
      .array(z.enum(KEY_SCOPES))
      .min(1, 'must name at least one scope')
      .max(SCOPES_MAX)
      .transform((scopes) => KEY_SCOPES.filter((scope) => scopes.includes(scope)))
      .optional()
      .meta({ description: `What the key may do. Without this field: ${DEFAULT_KEY_SCOPES.join(' and ')}.` }),
    expires_at: z
      .union([z.iso.datetime({ offset: true }), z.iso.date()], {
        error:
          'must be a time with its offset, such as 2030-01-31T12:00:00Z, or a date, at whose begin in UTC the key expires',
      })
      .transform((text) => new Date(text))
      .refine((date) => date.getTime() > Date.now(), { error: 'must be in the future' })
      // With an offset the time can fall into the year 10000, which a response cannot express.
      .refine((date) => date.getUTCFullYear() <= 9999, { error: 'must not be after the year 9999 in UTC' })
      .nullish(),
  })
  .meta({ id: 'CreateApiKey' });
export const apiKeyRecord = z
  .object({
    keyId: z.string().meta({ description: 'The 8 characters after weir_live_ or weir_test_.' }),
    projectId: z.uuid(),
    environment: z.enum(['live', 'test']),
    name: z.string(),
    scopes: z.array(z.enum(KEY_SCOPES)).meta({ description: 'What the key may do.' }),
    state: z.enum(['active', 'expired', 'revoked']),
    createdBy: z
      .string()
      .nullable()
      .meta({ description: 'The id of a user; null if an operator created the key.' }),
    createdAt: time,
    expiresAt: time.nullable(),
    revokedAt: time.nullable(),
    lastUsedAt: time.nullable().meta({ description: 'Accurate to the minute.' }),
  })
  .meta({ id: 'ApiKey' });
export const newApiKey = apiKeyRecord
  .extend({ key: z.string().meta({ description: 'The whole key, shown only this once.' }) })
  .meta({ id: 'NewApiKey' });
export const apiKeyList = z.object({ apiKeys: z.array(apiKeyRecord) }).meta({
  id: 'ApiKeyList',
  description: 'At most 200 keys. Revoked keys come last; newer keys come before older ones.',
});

const auditEntry = z
  .object({
    id: z.uuid(),
    at: time,
    actor: z.string().meta({ description: 'A user id, `api_key/` and a key id, `operator`, or `service`.' }),
    actorName: z.string().nullable().meta({
      description: 'The user’s name, from the newest token used in this organization.',
    }),
    actorEmail: z
      .string()
      .nullable()
      .meta({ description: 'The user’s e-mail address, from the same token.' }),
    action: z.string().meta({ description: '`resource.verb`' }),
    resourceId: z.string(),
    resourceName: z.string().nullable().meta({
      description:
        'The name of the flow, project, API key or member; null for others, and once it is deleted.',
    }),
    project: z.string().nullable().meta({ description: 'The slug of the project that the entry is about.' }),
    flow: z.string().nullable().meta({ description: 'The slug of the flow that the entry is about.' }),
    details: z.record(z.string(), z.unknown()).meta({ description: 'What was changed; never a secret.' }),
    requestId: z.string().meta({ description: 'The X-Request-Id of the response.' }),
    traceId: z.string().optional().meta({
      description: 'The trace of the request; absent while traces are off.',
    }),
  })
  .meta({ id: 'AuditEntry' });

const assistantRecord = z
  .object({
    id: z.uuid(),
    clientId: z.string().nullable().meta({
      description:
        'The client id at the identity provider. null: all clients whose tokens have no client id.',
    }),
    name: z.string().nullable().meta({ description: 'The claim `client_name` of the token, if any.' }),
    scopes: z.array(z.string()).meta({ description: 'The scopes of the token used last.' }),
    consentedAt: time.meta({
      description: 'When you consented. Without the claim `consented_at`: when the newest token was issued.',
    }),
    firstUsedAt: time,
    lastUsedAt: time.meta({ description: 'Accurate to the minute.' }),
  })
  .meta({ id: 'Assistant' });

export const organizationList = pageOf('OrganizationList', 'organizations', organizationRecord);
export const assistantList = pageOf('AssistantList', 'assistants', assistantRecord);
export const memberList = pageOf('MemberList', 'members', memberRecord);
export const projectList = pageOf('ProjectList', 'projects', projectRecord);
export const auditList = pageOf('AuditLog', 'entries', auditEntry);
