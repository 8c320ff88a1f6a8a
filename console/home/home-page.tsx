import { Navigate } from '@tanstack/react-router';
import { findLastProject } from '../shell/last-project.ts';
import { useMe } from '../shell/me.ts';
import { Page } from '../ui/page.tsx';

/** The console's first page: the project looked at last, or, for a user who has none, how to get one. */
export function HomePage() {
  const last = findLastProject(useMe());
  if (last)
    return (
      <Navigate
        to="/orgs/$org/projects/$project"
        params={{ org: last.organization.slug, project: last.project.slug }}
        replace
      />
    );
  return <Page title="Welcome">No project yet.</Page>;
}
