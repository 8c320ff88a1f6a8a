// The project that was visited last in this browser. The console opens there.
type WithProjects = { slug: string; projects: { slug: string }[] };

const KEY = 'weir.last-project';

export function rememberProject(org: string, project: string): void {
  localStorage.setItem(KEY, `${org}/${project}`);
}

/** Returns the slugs of the last visited project, which may be gone; undefined when there is none. */
export function readLastSlugs(): { org: string; project: string } | undefined {
  const [org, project] = localStorage.getItem(KEY)?.split('/') ?? [];
  return org && project ? { org, project } : undefined;
}

/**
 * Finds the last visited project if the user can still reach it, otherwise another one of its organization, otherwise
 * the first; undefined when the user has none.
 */
export function findLastProject<Organization extends WithProjects>({
  organizations,
}: {
  organizations: Organization[];
}) {
  const all = organizations.flatMap((organization) =>
    organization.projects.map((project: Organization['projects'][number]) => ({ organization, project })),
  );
  const last = readLastSlugs();
  const ofOrganization = all.filter(({ organization }) => organization.slug === last?.org);
  return ofOrganization.find(({ project }) => project.slug === last?.project) ?? ofOrganization[0] ?? all[0];
}
