// What the operator's commands share: the connection to the database, the actor in the audit log, and records by path.

import { randomUUID } from 'node:crypto';
import { connect, type Db } from '../../db/connect.ts';
import { type FlowRow, findFlowBySlug } from '../../db/flows/flows.ts';
import type { Author } from '../../db/tenants/audit-entries.ts';
import { findOrganizationBySlug, type OrganizationRow } from '../../db/tenants/organizations.ts';
import { findProjectBySlug, type ProjectRow } from '../../db/tenants/projects.ts';
import { ServiceError } from '../../flow/errors.ts';
import { openObjectStore } from '../../platform/object-store/open-object-store.ts';
import { splitPath } from '../terminal/parse-argument.ts';
import { type CommandResult, printed } from '../terminal/print.ts';
import { databaseUrl, objectStore } from './environment.ts';

const PAGE = 1_000;

/** Makes a command's action: connects to the database, runs `work` with the parsed arguments and prints its result. */
export function onDatabase<A extends unknown[]>(work: (db: Db, ...args: A) => Promise<CommandResult>) {
  return printed<A>(async (...args) => {
    const objects = await openObjectStore(objectStore());
    const db = connect(databaseUrl(), 2, undefined, objects);
    try {
      return await work(db, ...args);
    } finally {
      await db.destroy();
      objects?.close();
    }
  });
}

/** Reads the whole of a list of the database; `read` answers at most `limit` rows after the last one, if there is one. */
export async function readPages<T>(read: (last: T | undefined, limit: number) => Promise<T[]>): Promise<T[]> {
  const rows: T[] = [];
  for (;;) {
    const page = await read(rows.at(-1), PAGE);
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

/** Names the operator in the audit log, as the author of what one command changes. */
export function operator(): Author {
  return { actor: 'operator', requestId: randomUUID() };
}

// Finds organizations, projects and flows by the path that they have in the API's URLs: `org/project/flow`.

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
