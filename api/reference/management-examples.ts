// Example requests and answers of the management API in the API reference.
const times = { createdAt: '2026-01-31T12:00:00.000Z', updatedAt: '2026-01-31T12:00:00.000Z' };
const organizationId = '7d0b4c36-9d0f-4c3e-8a1e-2f8c1c3f7a10';
const user = 'auth0|5f7c8ec7c33c6c004bbafe82';

export const newOrganization = { name: 'Acme', slug: 'acme', description: 'Makes everything.' };
export const renaming = { name: 'Acme Corporation' };
export const organization = {
  id: organizationId,
  ...newOrganization,
  role: 'owner',
  credits: 1000,
  ...times,
};
export const organizationPage = { organizations: [organization], hasMore: false, nextCursor: null };

export const deletedOrganization = {
  id: organizationId,
  cancelled: { runs: 12, testRuns: 1, deliveries: 3 },
};

export const newMember = { user_id: user, role: 'member' };
export const roleChange = { role: 'admin' };
const person = { name: 'Ann Example', email: 'ann@example.com' };
export const member = { organizationId, ...newMember, ...person, emailVerified: true, ...times };
export const memberPage = { members: [member], hasMore: true, nextCursor: user };

const named = { name: 'Support', slug: 'support', description: '' };
export const newProject = { ...named, organization_id: organizationId };
export const project = {
  id: '4b1f3f3e-6a39-4f0c-9f43-0f6a1f9c2d11',
  ...named,
  organizationId,
  userId: user,
  ...times,
};
export const deletedProject = { id: project.id, cancelled: { runs: 2, testRuns: 0, deliveries: 0 } };
export const projectPage = { projects: [project], hasMore: false, nextCursor: null };

export const apiKeyRequest = { environment: 'live', name: 'backend', expires_at: '2030-01-31T12:00:00Z' };
export const deployKeyRequest = { environment: 'live', name: 'CI', scopes: ['run', 'read', 'deploy'] };
const apiKey = {
  keyId: '7OT270Xd',
  projectId: project.id,
  environment: 'live',
  name: 'backend',
  scopes: ['run', 'webhooks'],
  state: 'active',
  createdBy: user,
  createdAt: times.createdAt,
  expiresAt: '2030-01-31T12:00:00.000Z',
  revokedAt: null,
  lastUsedAt: '2026-02-01T08:30:00.000Z',
};
export const mintedApiKey = {
  ...apiKey,
  lastUsedAt: null,
  key: 'weir_live_7OT270Xd_l9SMzt1TCAYXN0uxlOXiNWRuRGGYr4Yh',
};
export const revokedApiKey = { ...apiKey, state: 'revoked', revokedAt: '2026-02-02T00:00:00.000Z' };
export const apiKeys = { apiKeys: [apiKey] };

const { id, slug, name } = organization;
export const me = {
  user: {
    kind: 'user',
    userId: user,
    ...person,
    emailVerified: true,
    organizations: [
      { id, slug, name, role: 'owner', projects: [{ id: project.id, slug: named.slug, name: named.name }] },
    ],
    invitations: [],
    operator: false,
    hasMore: false,
  },
  apiKey: {
    kind: 'api_key',
    keyId: apiKey.keyId,
    name: apiKey.name,
    environment: 'live',
    scopes: ['run', 'read', 'deploy'],
    expiresAt: apiKey.expiresAt,
    organization: { id, slug, name },
    project: { id: project.id, slug: named.slug, name: named.name },
  },
  operatorKey: { kind: 'operator', keyId: '3Fq8ZcWn', name: 'Ann’s laptop' },
};

export const modelPage = {
  models: [
    {
      model: 'openai/gpt-5-mini',
      key: 'service',
      inputPrice: 25,
      cachedInputPrice: 2.5,
      cacheWritePrice: 25,
      cacheWriteHourPrice: 25,
      outputPrice: 200,
      longContextPrices: [],
      imagePrice: 0,
      reportedCost: false,
      tiers: {},
      contextTokens: 400_000,
      images: true,
      tools: true,
      jsonSchema: true,
    },
  ],
  hasMore: true,
  nextCursor: 'openai/gpt-5-mini',
};

export const assistantPage = {
  assistants: [
    {
      id: '0e5f0f5b-3a6a-4c3f-9f0e-6a2d1c4b8e77',
      clientId: 'https://assistant.example.com/client.json',
      name: 'An assistant',
      scopes: ['flows:read', 'flows:write'],
      consentedAt: times.createdAt,
      firstUsedAt: '2026-01-31T12:00:02.345Z',
      lastUsedAt: '2026-02-01T08:30:00.000Z',
    },
  ],
  hasMore: false,
  nextCursor: null,
};

export const auditPage = {
  entries: [
    {
      id: 'b3b1a4d2-8a0e-4f0c-9c55-2d7f5e1c6a90',
      at: '2026-01-31T12:00:00.123456Z',
      actor: user,
      actorName: person.name,
      actorEmail: person.email,
      action: 'api_key.create',
      resourceId: '7OT270Xd',
      resourceName: 'backend',
      project: project.slug,
      flow: null,
      details: { project_id: project.id, environment: 'live', name: 'backend' },
      requestId: '1d9cbb4e-9d6c-4e3b-b1c8-5d3a4f2e7f10',
    },
  ],
  hasMore: true,
  nextCursor: '2026-01-31T12:00:00.123456Z',
};
