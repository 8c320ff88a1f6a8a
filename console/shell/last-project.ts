// The project that was looked at last in this browser: where the console opens.
import type { Me, MyOrganization, MyProject } from './me.ts';

const KEY = 'weir.last-project';

export function rememberProject(org: string, project: string): void {
  localStorage.setItem(KEY, `${org}/${project}`);
}

/** The project looked at last, where the user can still reach it, else their first; undefined when they have none. */
export function findLastProject(me: Me): { organization: MyOrganization; project: MyProject } | undefined {
  const all = me.organizations.flatMap((organization) =>
    organization.projects.map((project) => ({ organization, project })),
  );
  const last = localStorage.getItem(KEY);
  return all.find(({ organization, project }) => `${organization.slug}/${project.slug}` === last) ?? all[0];
}
