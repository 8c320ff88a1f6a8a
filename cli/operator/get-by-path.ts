// Finds organizations, projects and flows by the path that they have in the API's URLs: `org/project/flow`.
import type { Db } from '../../db/connect.ts';
import { type FlowRow, findFlowBySlug } from '../../db/flows/flows.ts';
import { findOrganizationBySlug, type OrganizationRow } from '../../db/tenants/organizations.ts';
import { findProjectBySlug, type ProjectRow } from '../../db/tenants/projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import { splitPath } from '../terminal/parse-path.ts';

/** Finds an organization. Throws NOT_FOUND, as the other functions here do. */
export async function getOrganization(db: Db, slug: string): Promise<OrganizationRow> {
  return (await findOrganizationBySlug(db, slug)) ?? unknown('organization', slug);
}

export async function getProject(db: Db, path: string): Promise<ProjectRow> {
  const [organization = '', project = ''] = splitPath(path, 'org/project');
  const { id } = await getOrganization(db, organization);
  return (await findProjectBySlug(db, id, project)) ?? unknown('project', path);
}

export async function getFlow(db: Db, path: string): Promise<FlowRow & { organizationId: string }> {
  const [organization, project, flow = ''] = splitPath(path, 'org/project/flow');
  const { id, organization_id: organizationId } = await getProject(db, `${organization}/${project}`);
  const row = (await findFlowBySlug(db, id, flow)) ?? unknown('flow', path);
  return { ...row, organizationId };
}

function unknown(kind: string, path: string): never {
  throw new ServiceError('NOT_FOUND', `There is no ${kind} ${path}.`);
}
