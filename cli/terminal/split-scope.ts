import { UsageError } from './usage-error.ts';

/** The slugs of an organization, of a project in it, and of a flow in that; none: all of the service. */
export type Scope = { organization?: string; project?: string; flow?: string };

/** Splits the path of an organization, project or flow. Throws UsageError. */
export function splitScope(path: string | undefined): Scope {
  if (path === undefined) return {};
  const [organization = '', project, flow, ...rest] = path.split('/');
  if (rest.length > 0)
    throw new UsageError(`${JSON.stringify(path)} must be a path: org, org/project or org/project/flow.`);
  return { organization, ...(project !== undefined && { project }), ...(flow !== undefined && { flow }) };
}
