// Makes organizations with one project, and flows in it.
import type { Db } from '../../db/connect.ts';
import { insertFlow } from '../../db/flows/flows.ts';
import { insertOrganization } from '../../db/tenants/organizations.ts';
import { insertProject } from '../../db/tenants/projects.ts';

/** A valid id that nothing has. */
export const MISSING = '00000000-0000-4000-8000-000000000000';

let count = 0;

/** Creates an organization with the project `main`. */
export async function createProject(db: Db) {
  count += 1;
  const organization = await insertOrganization(db, { slug: `org-${count}`, name: 'Org' });
  const project = await insertProject(db, { organizationId: organization.id, slug: 'main', name: 'Main' });
  return { organization, project };
}

/** Creates the flow `hello`, with an empty draft, in a new project. */
export async function createFlow(db: Db) {
  const { project } = await createProject(db);
  return insertFlow(db, { projectId: project.id, slug: 'hello', name: 'Hello' });
}
