// The demo data of a local start: an organization with credits, a project, a published flow and an API key.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { mintApiKey, parseApiKey, secretMatches } from '../../api/auth/api-key.ts';
import { parseFlowFile } from '../../api/flows/flow-file.ts';
import type { Db } from '../../db/connect.ts';
import { grantCredits } from '../../db/credits/ledger.ts';
import { findFlowBySlug, insertFlow } from '../../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../../db/flows/versions.ts';
import type { Role } from '../../db/schema.ts';
import { findApiKey, insertApiKey, listApiKeys, revokeApiKey } from '../../db/tenants/api-keys.ts';
import { insertMember, listMembers } from '../../db/tenants/memberships.ts';
import { findOrganizationBySlug, insertOrganization } from '../../db/tenants/organizations.ts';
import { findProjectBySlug, insertProject } from '../../db/tenants/projects.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';

const CREDITS = 1_000;
const KEY_NAME = 'npm start';
const FLOW_FILE = path.join(import.meta.dirname, 'demo-flow.yaml');

/** A member to add to an organization without members. */
export type FirstMember = { userId: string; role: Role };

/** Creates the demo data that is missing and returns a working API key: `knownKey`, or a new one when it fails. */
export async function provideDemoData(
  db: Db,
  pepper: string,
  knownKey: string | undefined,
  members: FirstMember[] = [],
): Promise<string> {
  const organization =
    (await findOrganizationBySlug(db, 'demo')) ??
    (await insertOrganization(db, { slug: 'demo', name: 'Demo' }));
  await grantCredits(db, organization.id, CREDITS * MICROCREDITS_PER_CREDIT, 'grant/demo');
  const [member] = await listMembers(db, organization.id, { limit: 1 });
  if (!member)
    for (const first of members) await insertMember(db, { organizationId: organization.id, ...first });
  const project =
    (await findProjectBySlug(db, organization.id, 'demo')) ??
    (await insertProject(db, { organizationId: organization.id, slug: 'demo', name: 'Demo' }));
  await provideFlow(db, project.id);
  if (knownKey && (await works(db, project.id, knownKey, pepper))) return knownKey;
  return replaceKey(db, project.id, pepper);
}

async function provideFlow(db: Db, projectId: string): Promise<void> {
  const { slug, name, description = '', steps } = parseFlowFile(readFileSync(FLOW_FILE, 'utf8'), 'yaml');
  const flow =
    (await findFlowBySlug(db, projectId, slug)) ??
    (await insertFlow(db, { projectId, slug, name, description, definition: { steps } }));
  if (flow.production_version !== null) return;
  await setProductionVersion(db, flow.id, await publishVersion(db, flow.id, 'Comes with Weir'));
}

async function works(db: Db, projectId: string, key: string, pepper: string): Promise<boolean> {
  const parts = parseApiKey(key);
  const stored = parts && (await findApiKey(db, parts.keyId));
  if (!stored || stored.project_id !== projectId || stored.revoked_at) return false;
  if (stored.expires_at && stored.expires_at <= new Date()) return false;
  return secretMatches(parts.secret, stored.secret_hmac, pepper);
}

/** Creates a key and revokes those of earlier starts: a project can have only ten. */
async function replaceKey(db: Db, projectId: string, pepper: string): Promise<string> {
  for (const key of await listApiKeys(db, projectId)) {
    if (key.name === KEY_NAME && !key.revoked_at) await revokeApiKey(db, projectId, key.key_id);
  }
  const { plaintext, keyId, secretHmac } = mintApiKey('test', pepper);
  await insertApiKey(db, { projectId, keyId, environment: 'test', name: KEY_NAME, secretHmac });
  return plaintext;
}
